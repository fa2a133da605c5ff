"""Every environment variable: read, refused, documented."""

from pathlib import Path

import pytest

from anywarp import settings

REPOSITORY = Path(__file__).resolve().parents[1]


def test_the_page_is_current():
    page = (REPOSITORY / "docs" / "settings.md").read_text()
    assert page == settings.as_markdown(), "run scripts/docs"


def test_every_setting_is_listed_once_and_named_alike():
    declared = [value for value in vars(settings).values() if isinstance(value, settings.Setting)]
    assert sorted(s.name for s in declared) == sorted(s.name for s in settings.SETTINGS)
    assert len({s.name for s in declared}) == len(declared)
    for constant, value in vars(settings).items():
        if isinstance(value, settings.Setting):
            assert value.name in (f"ANYWARP_{constant}", f"XDG_{constant}") or constant in (
                "CXX",
                "NVCC_PREPEND_FLAGS",
                "NVCC_APPEND_FLAGS",
            )  # the names that builds use


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("17", 17), ("512M", 512 << 20), ("2GiB", 2 << 30), ("3 kb", 3 << 10)]
)
def test_sizes(text, size):
    assert settings.CACHE_LIMIT.get({"ANYWARP_CACHE_LIMIT": text}) == size


@pytest.mark.parametrize("text", ["-1", "1.5G", "G", "lots", "1Q"])
def test_a_wrong_size_is_refused_by_name(text):
    with pytest.raises(settings.SettingError, match="ANYWARP_CACHE_LIMIT"):
        settings.CACHE_LIMIT.get({"ANYWARP_CACHE_LIMIT": text})


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "soon"])
def test_a_wrong_number_of_seconds_is_refused(text):
    with pytest.raises(settings.SettingError):
        settings.SERVICE_IDLE.get({"ANYWARP_SERVICE_IDLE": text})


def test_an_empty_variable_is_as_good_as_none():
    assert settings.DEVICE.get({"ANYWARP_DEVICE": ""}) == settings.DEVICE.get({}) == "cpu"


def test_the_cache_follows_the_desktop_convention(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere/else")
    assert settings.CACHE_DIR.get({}) == Path("/somewhere/else/anywarp")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert settings.CACHE_DIR.get({}) == Path.home() / ".cache" / "anywarp"

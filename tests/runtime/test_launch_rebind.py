"""What a run with redirected runtimes puts into the environment of its program, and what it leaves to the user."""

import pytest

from anywarp import settings
from anywarp.diagnostics import AnywarpError
from anywarp.runtime import launch


@pytest.fixture
def libraries(tmp_path, monkeypatch):
    """A folder with the names of our libraries in it."""
    for name in (launch.DRIVER, launch.AUDITOR, launch.TARGET):
        (tmp_path / name).touch()
    monkeypatch.setenv(settings.LIBRARY_DIR.name, str(tmp_path))
    return tmp_path


def test_without_being_asked_for_nothing_watches_the_loader(libraries):
    made = launch.environment("cpu", {})
    assert "LD_AUDIT" not in made
    assert launch.TARGET not in made.get("LD_PRELOAD", "")


def test_the_auditor_comes_first_and_once(libraries):
    asked = {settings.REBIND.name: "1", "LD_AUDIT": "theirs.so", "LD_PRELOAD": "other.so"}
    once = launch.environment("cpu", asked)
    auditor, target = str(libraries / launch.AUDITOR), str(libraries / launch.TARGET)
    assert once["LD_AUDIT"] == f"{auditor}:theirs.so"
    assert once["LD_PRELOAD"].split(":") == [target, "other.so"]
    twice = launch.environment("cpu", once)
    assert (twice["LD_AUDIT"], twice["LD_PRELOAD"]) == (once["LD_AUDIT"], once["LD_PRELOAD"])


def test_a_build_without_the_auditor_says_so(libraries):
    (libraries / launch.AUDITOR).unlink()
    with pytest.raises(AnywarpError) as caught:
        launch.environment("cpu", {settings.REBIND.name: "1"})
    assert caught.value.diagnostic.code == "R024"


def test_cupy_is_asked_for_ptx_unless_the_user_decided(libraries):
    assert launch.environment("cpu", {})["CUPY_COMPILE_WITH_PTX"] == "1"
    assert launch.environment("cpu", {"CUPY_COMPILE_WITH_PTX": "0"})["CUPY_COMPILE_WITH_PTX"] == "0"

"""Which clang is taken, and what is said where there is none."""

import stat

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.toolchain import clang


@pytest.fixture(autouse=True)
def forgotten():
    clang.find.cache_clear()
    yield
    clang.find.cache_clear()


def program(path, version, targets):
    path.write_text(
        f'#!/bin/sh\ncase "$1" in\n--version) echo "clang version {version}.1.0";;\n*) echo "{targets}";;\nesac\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_one_that_is_named_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYWARP_CLANG", program(tmp_path / "mine", 20, "nvptx64 x86-64"))
    found = clang.find()
    assert found.command == (str(tmp_path / "mine"),)
    assert found.version == 20


@pytest.mark.parametrize("version, targets", [(clang.OLDEST - 1, "nvptx64"), (22, "x86-64")])
def test_one_that_is_too_old_or_lacks_the_back_end_is_refused_with_the_way_out(tmp_path, monkeypatch, version, targets):
    monkeypatch.setenv("ANYWARP_CLANG", program(tmp_path / "mine", version, targets))
    with pytest.raises(AnywarpError) as caught:
        clang.find()
    assert caught.value.diagnostic.code == "T001"
    assert "pip install" in caught.value.diagnostic.help


def test_without_the_package_the_path_is_searched(tmp_path, monkeypatch):
    monkeypatch.delenv("ANYWARP_CLANG", raising=False)
    monkeypatch.setattr(clang, "_of_package", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AnywarpError):
        clang.find()
    program(tmp_path / "clang++-21", 21, "nvptx64")
    assert clang.find().version == 21

"""The identity of the compiler changes with everything that decides what a kernel compiles to."""

import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest

from anywarp.runtime import build_id

DECIDE = [
    "ptx/isa/integer.py", "compiler/fold.py", "compiler/amdgpu/services.ll", "compiler/amdgpu/textures.ll",
    "devices/cpu/target.py", "devices/hip/data/gpus.tsv", "toolchain/nvrtc.py", "runtime/modules.py", "runtime/translation.py",
]  # fmt: skip


@pytest.fixture
def package(tmp_path):
    copy = tmp_path / "anywarp"
    for room in ("ptx", "compiler", "devices", "toolchain", "runtime", "cli"):
        shutil.copytree(build_id.PACKAGE / room, copy / room, ignore=shutil.ignore_patterns("__pycache__", "include"))
    return copy


@pytest.mark.parametrize("name", DECIDE)
def test_a_changed_file_changes_it(package, name):
    before = build_id.of_installation(package)
    with open(package / name, "a") as file:
        file.write("\n")
    assert build_id.of_installation(package) != before


def test_bytecode_and_what_decides_nothing_do_not_change_it(package):
    before = build_id.of_installation(package)
    bytecode = package / "compiler" / "__pycache__"
    bytecode.mkdir()
    (bytecode / "fold.cpython-311.pyc").write_bytes(b"x")
    (package / "cli" / "main.py").write_text("")
    assert build_id.of_installation(package) == before


def test_the_release_of_llvm_changes_it(package, monkeypatch):
    before = build_id.of_installation(package)
    monkeypatch.setattr(metadata, "version", lambda name: "0.99.0")
    other = build_id.of_installation(package)
    assert other != before

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)  # as where a wheel is built
    assert build_id.of_installation(package) not in (before, other)


def test_the_file_beside_the_library_is_brought_up_to_date_where_there_is_one(tmp_path):
    build_id.bring_up_to_date(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "build_id").write_text("0123456789abcdef\n")
    build_id.bring_up_to_date(tmp_path)
    assert (tmp_path / "build_id").read_text() == build_id.of_installation(build_id.PACKAGE) + "\n"
    assert [each.name for each in tmp_path.iterdir()] == ["build_id"]


def test_an_old_llvm_is_refused_with_what_to_install(monkeypatch):
    from anywarp.compiler import llvm_release
    from anywarp.diagnostics import AnywarpError

    monkeypatch.setattr(llvm_release.llvm, "llvm_version_info", (20, 1, 8))
    with pytest.raises(AnywarpError) as refused:
        llvm_release.require()
    assert "LLVM 20.1.8" in refused.value.diagnostic.message and "llvmlite>=" in refused.value.diagnostic.help


def test_the_declared_llvmlite_is_the_oldest_that_has_the_llvm_we_write_for():
    if sys.version_info < (3, 11):
        pytest.skip("no reader of TOML in the standard library")
    import tomllib

    from anywarp.compiler import llvm_release

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    [bound] = [each.partition(">=")[2] for each in project["dependencies"] if each.startswith("llvmlite")]
    assert f"llvmlite>={bound}" in (Path(__file__).parents[2] / "docs/diagnostics/C018.md").read_text()
    assert f"since {bound}" in Path(llvm_release.__file__).read_text()

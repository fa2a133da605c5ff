"""start.py: how a Python of ours finds the package however it was installed, and nothing of the program's."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

START = Path(__file__).resolve().parents[1] / "src/anywarp/start.py"
SHOW = "import sys, other\nprint(__name__, __file__, other.NAME, *sys.argv[1:])\n"


def laid_out(folder, name):
    """Put a package `anywarp` and a module that it needs into a folder, as `pip install --target` does."""
    package = folder / "anywarp"
    package.mkdir(parents=True)
    (package / "start.py").write_text(START.read_text())
    (package / "__init__.py").write_text("")
    (package / "show.py").write_text(SHOW)
    (package / "socket.py").write_text("raise SystemExit('a module of the package is no module of the library')\n")
    (folder / "other.py").write_text(f"import selectors, socket\nNAME = {name!r}\n")
    return package / "start.py"


def started(python, start, path, *words, cwd="/"):
    command = [str(python), "-S", "-E", str(start), "anywarp.show", *words]
    environment = {"PATH": os.defpath, "PYTHONPATH": ":".join(map(str, path)), "PYTHONHOME": "/nonexistent"}
    done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=60)
    assert not done.returncode, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False)
    return folder / "bin" / "python"


def packages_of(python):
    [found] = (python.parents[1] / "lib").glob("python*/site-packages")
    return found


def hostile(folder, installed=False):
    folder.mkdir()
    for name in ("selectors", "socket", "other", "runpy", "site", "anywarp"):
        (folder / f"{name}.py").write_text("raise SystemExit('a module of the program')\n")
    if installed:
        (folder / "thing-1.0.dist-info").mkdir()
    return folder


@pytest.mark.parametrize("installed", [False, True])
def test_a_package_in_a_folder_of_its_own(python, tmp_path, installed):
    start = laid_out(tmp_path / "target", "target")
    path = [hostile(tmp_path / "hostile", installed), "", "relative"]
    shown = started(python, start, path, "--a", "b", cwd=path[0])
    assert shown == ["__main__", str(start.with_name("show.py")), "target", "--a", "b"]


def test_a_package_among_those_of_the_interpreter(python, tmp_path):
    folder = packages_of(python)
    start = laid_out(folder, "site-packages")
    assert started(python, start, [hostile(tmp_path / "hostile")])[2] == "site-packages"
    for file in (folder / "other.py", *(folder / "anywarp").iterdir()):
        file.unlink() if file.is_file() else None


def test_a_checkout_whose_needs_are_the_interpreters(python, tmp_path):
    start = laid_out(tmp_path / "src", "")
    (tmp_path / "src/other.py").unlink()
    (packages_of(python) / "other.py").write_text("NAME = 'needed'\n")
    assert started(python, start, [hostile(tmp_path / "hostile", True)])[2] == "needed"
    (packages_of(python) / "other.py").unlink()


def test_needs_in_folders_of_pythonpath_where_packages_were_installed(python, tmp_path):
    """As modules of clusters do it, one folder for each package."""
    start = laid_out(tmp_path / "src", "")
    (tmp_path / "src/other.py").unlink()
    needed = tmp_path / "needed"
    (needed / "other-1.0.dist-info").mkdir(parents=True)
    (needed / "other.py").write_text("NAME = 'needed'\n")
    assert started(python, start, [hostile(tmp_path / "hostile"), needed])[2] == "needed"


def test_the_module_form_finds_what_the_interpreter_has(tmp_path):
    command = [sys.executable, "-I", "-m", "anywarp.start", "anywarp.runtime.service", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0 and "--socket" in done.stdout, done.stderr

"""docs/vendors.md: its files are written, its commands run in order in their folder, and what it says that they print is what they print."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "vendors.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./-]+)`\n\n```\w+\n(.*?)^```$", PAGE, re.M | re.S))
STEPS = re.findall(r"^```sh\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", PAGE, re.M | re.S)

pytestmark = [pytest.mark.native, pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.skip("this machine has no C compiler")
    folder = tmp_path_factory.mktemp("vendor")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def run(command, place):
    """Run a command of the page, as a reader in whose PATH `anywarp` and `python` are."""
    words = command.split()
    words[:1] = {"anywarp": [sys.executable, "-m", "anywarp"]}.get(words[0], words[:1])
    words = [sys.executable if word == "python" else word for word in words]
    path = os.pathsep.join([str(place), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    env = {**os.environ, "PATH": programs, "PYTHONPATH": path}
    return subprocess.run(words, cwd=place, env=env, capture_output=True, text=True, timeout=280)


def test_the_page_has_files_and_commands():
    assert {"abacus_vendor.py", "abacus_hardware.py", "lib/libcuda.c", "program.py"} <= set(FILES)
    assert len(STEPS) == 4


def test_its_commands_do_what_it_says(place):
    for commands, printed in STEPS:
        for command in commands.splitlines():
            done = run(command, place)
            assert done.returncode == 0, (command, done.stdout, done.stderr)
            assert not printed or done.stdout == printed, command
            if command == "anywarp doctor":
                assert "an abacus of 64 MiB" in done.stdout
            if command.startswith("anywarp selftest"):
                assert "an abacus" in done.stdout


def test_what_the_example_lacks_is_said(place):
    run(STEPS[1][0].strip(), place)
    done = run("anywarp selftest --device abacus --suite driver", place)
    assert done.returncode == 1 and "cuStreamCreate" in done.stdout


def test_a_hardware_that_computes_wrongly_is_found(place, tmp_path):
    broken = tmp_path / "vendor"
    shutil.copytree(place, broken)
    run(STEPS[1][0].strip(), broken)
    hardware = broken / "abacus_hardware.py"
    text = hardware.read_text()
    hardware.write_text(
        text.replace("shape[6], buffers=[memory])", "shape[6], buffers=[memory])\n    memory[:64] ^= 1")
    )
    assert hardware.read_text() != text
    done = run("anywarp selftest --device abacus --suite programs", broken)
    assert done.returncode == 1

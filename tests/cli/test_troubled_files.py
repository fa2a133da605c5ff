"""A file that crashes, hangs, eats memory or raises an error costs itself, whichever command reads it, and is named; the rest is done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from anywarp.cli import assess
from anywarp.cli.main import call
from anywarp.deploy.convert import tree as converting
from anywarp.migrate import crew, reading
from anywarp.migrate.translate import trees

CU = "// %s\n#include <cuda_runtime.h>\nint toy_%s() { return cudaDeviceReset(); }\n"
YAML = "# toy_%s\napiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - resources: {limits: {nvidia.com/gpu: 1}}\n"
WHY = {
    "abort": "the process that read it ended",
    "hang": "took more than 4 seconds",
    "eat": "too much memory",
    "raise": "ZeroDivisionError: toy",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for name in (*WHY, *(f"good{number}" for number in range(10))):
        (root / f"{name}.cu").write_text(CU % (name, name))
        (root / f"{name}.yaml").write_text(YAML % name)
    return root


@pytest.fixture(autouse=True)
def troubled(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, verb in ((reading, "assess"), (trees, "translate"), (converting, "convert")):
        monkeypatch.setattr(module, "BEGIN", f"fakes.trouble:{verb}")
    for module in (trees, converting):
        monkeypatch.setattr(module, "PATIENCE", 4.0)


def content(root: Path, suffix: str) -> dict[str, str]:
    return {each.stem: each.read_text() for each in root.iterdir() if each.suffix == suffix}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_translate_names_such_files_and_translates_the_rest(
    tree: Path, tmp_path: Path, jobs: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "_SMALL_FILES", 5)
    before, out = content(tree, ".cu"), tmp_path / "out"
    assert call(["translate", str(tree), "-o", str(out), "--jobs", jobs, "--format", "json"]) == 2
    said = {each["file"]: each for each in json.loads(capsys.readouterr().out)["diagnostics"]}
    assert {name.removesuffix(".cu") for name in said} == set(WHY)
    for name, why in WHY.items():
        assert said[f"{name}.cu"]["code"] == "M104" and why in said[f"{name}.cu"]["message"]
    after = content(out, ".cu")
    assert {name: after[name] for name in WHY} == {name: before[name] for name in WHY}
    for name in set(before) - set(WHY):
        assert after[name] == before[name].replace("cuda_runtime.h", "hip/hip_runtime.h").replace("cuda", "hip")


def test_translate_in_place_leaves_such_files_as_they_are(tree: Path) -> None:
    before = content(tree, ".cu")
    assert call(["translate", str(tree), "--in-place"]) == 2
    after = content(tree, ".cu")
    assert {name for name in before if after[name] == before[name]} == set(WHY)
    assert call(["translate", "--undo", str(tree)]) == 0
    assert content(tree, ".cu") == before


def test_convert_names_such_files_and_converts_the_rest(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, out = content(tree, ".yaml"), tmp_path / "out"
    assert call(["convert", str(tree), "-o", str(out), "--exclude", "*.cu"]) == 2
    told = capsys.readouterr().err
    assert told.count("error[Y001]") == len(WHY)
    for name, why in WHY.items():
        assert f"{name}.yaml could not be converted: " in told and why in told
    after = content(out, ".yaml")
    assert {name: after[name] for name in WHY} == {name: before[name] for name in WHY}
    for name in set(before) - set(WHY):
        assert after[name] == before[name].replace("nvidia", "amd")


def test_assess_names_such_files_and_assesses_the_rest(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assess, "Plan", partial(assess.Plan, patience=4.0))
    assert call(["assess", str(tree), "--format", "json", "--exclude", "*.yaml"]) == 2
    said = json.loads(capsys.readouterr().out)
    codes = {each["file"].rpartition("/")[2]: each["code"] for each in said["problems"]}
    assert codes == {"abort.cu": "M005", "hang.cu": "M006", "eat.cu": "M004", "raise.cu": "M004"}
    found = {each["path"].rpartition("/")[2] for each in said["findings"]}
    assert {f"good{number}.cu" for number in range(10)} <= found


@pytest.mark.parametrize("verb", ["assess", "translate", "convert"])
def test_an_interrupt_ends_the_command_and_its_processes(tree: Path, tmp_path: Path, verb: str) -> None:
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell in the background ignores it
        "from anywarp.cli.main import call; from anywarp.migrate import reading; from anywarp.migrate.translate import trees\n"
        "from anywarp.deploy.convert import tree\n"
        "for module, verb in ((reading, 'assess'), (trees, 'translate'), (tree, 'convert')): module.BEGIN = f'fakes.trouble:{verb}'\n"
        "sys.exit(call(sys.argv[1:]))\n"
    )
    mark = tmp_path / "hangs"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "TROUBLE_MARK": str(mark)}
    command = [sys.executable, "-c", code, verb, str(tree), "--jobs", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, start_new_session=True)
    deadline = time.monotonic() + 100
    while not (mark.exists() and mark.read_text()):  # it is made first, then written to
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 130 and b"Traceback" not in said
    worker = Path("/proc", mark.read_text(), "stat")
    assert not worker.exists() or b") Z" in worker.read_bytes()

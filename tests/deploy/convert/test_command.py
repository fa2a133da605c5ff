"""The command: what it writes and where, what it says, and with which exit code it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.cli.main import call

POD = """# a pod
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: c
      image: example.org/app:1
      resources: {limits: {nvidia.com/gpu: 1}}
"""
LEFT = "nodeSelector: {nvidia.com/gpu.product: NVIDIA-L40S}\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "pod.yaml").write_text(POD)
    (root / "sub" / "pod.yaml").chmod(0o640)
    (root / "other.bin").write_bytes(bytes(range(256)))
    return root


def test_without_a_place_to_write_nothing_is_written(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["convert", str(source)]) == 0
    assert (source / "sub" / "pod.yaml").read_text() == POD
    out = capsys.readouterr().out
    assert "nvidia.com/gpu -> amd.com/gpu" in out and "1 changes" in out
    assert sorted(os.listdir(source)) == ["other.bin", "sub"]


def test_a_folder_gets_the_whole_tree_with_its_modes(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert call(["convert", str(source), "-o", str(out)]) == 0
    assert (out / "sub" / "pod.yaml").read_text() == POD.replace("nvidia", "amd")
    assert (out / "sub" / "pod.yaml").stat().st_mode & 0o777 == 0o640
    assert (out / "other.bin").read_bytes() == bytes(range(256))
    assert (source / "sub" / "pod.yaml").read_text() == POD


def test_a_folder_inside_the_tree_is_not_read_again(source: Path) -> None:
    for _ in range(2):
        assert call(["convert", str(source), "-o", str(source / "out")]) == 0
    assert sorted(os.listdir(source / "out")) == ["other.bin", "sub"]


def test_the_folder_that_is_read_is_not_one_to_write_to(source: Path) -> None:
    assert call(["convert", str(source), "-o", str(source)]) == 2
    assert call(["convert", str(source), "-o", str(source / "x"), "--in-place"]) == 2


def test_in_place_and_back(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source / "b.yaml").write_text("a: {nvidia.com/gpu: 1}\n")
    assert call(["convert", str(source), "--in-place"]) == 0
    assert (source / "sub" / "pod.yaml").read_text() == POD.replace("nvidia", "amd")
    assert call(["convert", str(source), "--in-place"]) == 0, "the list of edits is not converted"
    assert call(["convert", str(source), "--undo"]) == 0
    assert (source / "sub" / "pod.yaml").read_text() == POD
    assert (source / "sub" / "pod.yaml").stat().st_mode & 0o777 == 0o640
    assert (source / "b.yaml").read_text() == "a: {nvidia.com/gpu: 1}\n"
    assert not (source / ".anywarp-convert.json").exists()
    capsys.readouterr()
    assert call(["convert", str(source), "--undo"]) == 2
    assert "Y003" in capsys.readouterr().err


def test_what_was_changed_since_is_not_undone(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source / "b.yaml").write_text("a: {nvidia.com/gpu: 1}\n")
    assert call(["convert", str(source), "--in-place"]) == 0
    (source / "b.yaml").write_text("a: {amd.com/gpu: 5}\n")
    assert call(["convert", str(source), "--undo"]) == 2
    assert (source / "b.yaml").read_text() == "a: {amd.com/gpu: 5}\n"
    assert (source / "sub" / "pod.yaml").read_text() == POD
    assert "changed since" in capsys.readouterr().err


def test_a_list_of_edits_from_elsewhere_leads_nowhere_outside(source: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("new")
    digest = "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"  # of "new"
    entry = {"path": "../victim", "before": digest, "after": digest, "edits": []}
    (source / ".anywarp-convert.json").write_text(json.dumps({"format": 1, "runs": [{"files": [entry]}]}))
    assert call(["convert", str(source), "--undo"]) == 2
    assert victim.read_text() == "new"


def test_check_says_by_its_exit_code_that_something_would_change(source: Path) -> None:
    assert call(["convert", str(source), "--check"]) == 1
    assert call(["convert", str(source), "--in-place"]) == 0
    assert call(["convert", str(source), "--check"]) == 0


def test_what_is_left_is_exit_code_1_and_said_with_what_to_do(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source / "left.yaml").write_text(LEFT)
    assert call(["convert", str(source)]) == 1
    out = capsys.readouterr().out
    assert "LEFT nvidia.com/gpu.product: NVIDIA-L40S" in out and "[Y012]" in out
    assert "--map nvidia.com/gpu.product=NVIDIA-L40S:" in out
    answer = "nvidia.com/gpu.product=NVIDIA-L40S:AMD_Instinct_MI300X_OAM"
    assert call(["convert", str(source), "--map", answer]) == 0


def test_a_diff_can_be_applied_by_git(source: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (source / "end.yaml").write_text("a: {nvidia.com/gpu: 1}")
    assert call(["convert", str(source), "--diff"]) == 0
    patch = capfdbinary.readouterr().out
    subprocess.run(["git", "apply", "-p1", "-"], input=patch, cwd=source, check=True)
    assert (source / "sub" / "pod.yaml").read_text() == POD.replace("nvidia", "amd")
    assert (source / "end.yaml").read_text() == "a: {amd.com/gpu: 1}"


def test_json_has_places_reasons_and_sums(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source / "left.yaml").write_text(LEFT)
    assert call(["convert", str(source), "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["sum"] == {"files": 3, "converted": 1, "changes": 1, "refusals": 1, "notes": 1, "problems": 0}
    changed = next(file for file in report["files"] if file["path"] == "sub/pod.yaml")
    change = changed["changes"][0]
    assert (change["line"], change["column"]) == (9, 28)
    assert (change["text"], change["replacement"]) == ("nvidia.com/gpu", "amd.com/gpu")
    assert change["reason"] and change["source"].startswith("ROCm/k8s-device-plugin")
    left = next(file for file in report["files"] if file["path"] == "left.yaml")["refusals"][0]
    assert left["code"] == "Y012" and left["help"]


def test_only_one_kind(source: Path) -> None:
    assert call(["convert", str(source), "--only", "prometheus", "--check"]) == 0
    assert call(["convert", str(source), "--only", "kubernetes", "--check"]) == 1
    assert call(["convert", str(source), "--only", "nonsense"]) == 2


def test_files_may_be_left_out(source: Path) -> None:
    assert call(["convert", str(source), "--exclude", "sub/", "--check"]) == 0


@pytest.mark.parametrize(
    "option",
    [
        ["--map", "nonsense"],
        ["--map", "a=b"],
        ["--map", "=a:b"],
        ["--image", "nonsense"],
        ["--card", "MI9000"],
        ["--target", "toaster"],
        ["--rocm", "1.0"],
    ],
)
def test_a_mistyped_answer_is_said_and_nothing_is_done(source: Path, option: list[str]) -> None:
    assert call(["convert", str(source), "--in-place", *option]) == 2
    assert (source / "sub" / "pod.yaml").read_text() == POD


def test_a_path_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["convert", str(tmp_path / "nothing")]) == 2
    assert "M011" in capsys.readouterr().err


def test_one_file_alone(source: Path) -> None:
    place = source / "sub" / "pod.yaml"
    assert call(["convert", str(place), "--in-place"]) == 0
    assert place.read_text() == POD.replace("nvidia", "amd")
    assert call(["convert", str(place), "--undo"]) == 0
    assert place.read_text() == POD


def test_without_the_validator_it_is_said(
    source: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes_validate", None)
    assert call(["convert", str(source)]) == 0
    assert "not validated: kubernetes-validate is not installed" in capsys.readouterr().out


def test_files_for_other_commands_are_one_line_for_each_reason(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(5):
        (source / f"k{number}.cu").write_text("__global__ void nvidia() {}\n")
    (source / "README.md").write_text("needs CUDA\n")
    (source / "lib.so").write_bytes(b"\0nvidia")
    assert call(["convert", str(source)]) == 0
    out = capsys.readouterr().out
    assert (
        "5 that mention NVIDIA are not for this command (`anywarp translate` turns CUDA C++ into HIP): k0.cu, k1.cu, k2.cu and 2 more"
        in out
    )
    assert (
        "1 that mention NVIDIA are not for this command (a text for people: read it again when the rest is done): README.md"
        in out
    )
    assert "1 that mention NVIDIA are not for this command (binary: `anywarp assess` looks into them): lib.so" in out

"""`anywarp record` and `anywarp verify` as commands: programs that are not changed, alone and together with `anywarp run`."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.check.bundle import open_bundle
from anywarp.cli.main import call
from check.record import recordings

pytest.importorskip("torch")
pytestmark = pytest.mark.torch
PROGRAM = str(Path(__file__).parents[1] / "check" / "record" / "small_program.py")
ANYWARP = [sys.executable, "-m", "anywarp"]


def anywarp(*arguments, **options):
    return subprocess.run([*ANYWARP, *map(str, arguments)], capture_output=True, text=True, timeout=200, **options)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "r.tar"
    done = anywarp("record", "-o", path, "--", sys.executable, PROGRAM, "cpu", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(2, 4)\n" * 3, "the program's output is its own"
    return path


def test_a_recording_holds_the_modules_in_order(recording):
    with open_bundle(recording) as bundle:
        names = [(e.name, e.call) for e in bundle.entries if e.role == "output"]
        assert names == [
            (name, call) for call in range(3) for name in ("Sequential.0", "Sequential.1", "Sequential.2", "Sequential")
        ]
        assert bundle.manifest["complete"] is True and bundle.notes == []
        assert set(bundle.manifest["models"]["Sequential"]["parameters"]) == {
            "0.weight",
            "0.bias",
            "2.weight",
            "2.bias",
        }


def test_the_same_program_passes_though_its_own_inputs_have_another_shape(recording):
    done = anywarp("verify", recording, "--format", "json", "--", sys.executable, PROGRAM, "cpu", "1", "larger")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["grade"] == "pass"
    assert "(3, 4)" in done.stderr, "the program got its own results"


def test_a_wrong_module_is_named(recording, tmp_path):
    page = tmp_path / "page.html"
    done = anywarp("verify", recording, "--html", page, "--", sys.executable, PROGRAM, "cpu", "1", "broken")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("fail: Sequential.2 fails by itself") and "cause: scale" in done.stdout
    assert "Sequential.2" in page.read_text()


def test_another_model_is_refused_by_name(recording):
    done = anywarp("verify", recording, "--", sys.executable, PROGRAM, "cpu", "2")
    assert done.returncode == 2 and "V010" in done.stderr and "Sequential.0.weight" in done.stderr


@pytest.mark.native
@pytest.mark.slow
def test_a_program_for_cuda_is_verified_under_run_in_either_order(recording, tmp_path):
    program = (sys.executable, PROGRAM, "cuda", "1")
    inside = anywarp("verify", recording, "--", *ANYWARP, "run", "--device", "cpu", "--", *program)
    assert inside.returncode == 0, inside.stdout + inside.stderr
    for number, order in enumerate((("run", "record"), ("record", "run"))):
        place = tmp_path / str(number)
        words = {"run": ("run", "--device", "cpu"), "record": ("record", "-o", place)}
        done = anywarp(*words[order[0]], "--", *ANYWARP, *words[order[1]], "--", *program)
        assert done.returncode == 0, done.stderr
        with open_bundle(place) as bundle:
            assert bundle.manifest["device"]["type"] == "cuda"
        assert call(["verify", str(recording), str(place)]) == 0


@pytest.mark.parametrize("mode", ["tensors", "statistics"])
def test_a_program_that_is_killed_leaves_what_it_had_computed(tmp_path, mode):
    program = (sys.executable, PROGRAM, "cpu", "1", "stop")
    done = anywarp("record", "--mode", mode, "-o", tmp_path / "r", "--", *program)
    assert done.returncode == 128 + 9
    with open_bundle(tmp_path / "r") as bundle:
        assert {e.call for e in bundle.entries} == {0, 1}
        assert any("did not come to its end" in note for note in bundle.notes)
        assert f" {len(bundle.entries)} values" in done.stderr


@pytest.mark.slow
def test_a_budget_that_is_too_small_is_said_by_name(tmp_path):
    done = anywarp("record", "-o", tmp_path / "r", "--budget", "1K", "--", sys.executable, PROGRAM, "cpu", "1")
    assert done.returncode == 0 and "did not fit" in done.stderr and "Sequential" in done.stderr
    with open_bundle(tmp_path / "r") as bundle:
        assert any(e.dropped == "budget" and e.statistics["sketch"] for e in bundle.entries)


@pytest.mark.slow
def test_statistics_are_compared_without_tensors(tmp_path, monkeypatch):
    one = ("--mode", "statistics", "--", sys.executable, PROGRAM, "cpu", "1")
    assert anywarp("record", "-o", tmp_path / "r", *one).returncode == 0
    with open_bundle(tmp_path / "r") as bundle:
        assert not any(e.blob for e in bundle.entries)
    for more, grade in (((), "pass"), (("broken",), "fail")):
        monkeypatch.setattr(sys, "argv", [PROGRAM, "cpu", "1", *more])
        report = recordings.replay(
            tmp_path / "r", tmp_path / grade, lambda: runpy.run_path(PROGRAM, run_name="__main__")
        )
        assert report.grade == grade, report.reason


def test_what_calls_no_module_is_said(tmp_path, capfd):
    assert call(["record", "-o", str(tmp_path / "r"), "--", "true"]) == 2
    assert "V008" in capfd.readouterr().err and not (tmp_path / "r").exists()
    assert call(["record", "-o", str(tmp_path / "r"), "--", "false"]) == 1


def test_nothing_is_replaced_unasked(tmp_path, capfd):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    for more in ((), ("--force",)):
        assert call(["record", *more, "-o", str(tmp_path / "mine"), "--", "true"]) == 2
        assert "V007" in capfd.readouterr().err
    assert os.listdir(tmp_path / "mine") == ["file"]


@pytest.mark.slow
def test_each_rank_is_recorded_and_held_against_the_same_rank(tmp_path):
    program = (sys.executable, str(Path(PROGRAM).with_name("sharded_program.py")), str(tmp_path / "meeting"))
    done = anywarp("record", "-o", tmp_path / "r", "--", *program)
    assert done.returncode == 0, done.stderr
    with open_bundle(tmp_path / "r") as bundle:
        assert bundle.parts == ["rank-0", "rank-1"]
        assert {e.shape for e in bundle.part("rank-1").entries if e.name == "Halves.up" and e.role == "output"} == {
            (5, 16)
        }
    same = anywarp("verify", tmp_path / "r", "--", *program)
    assert same.returncode == 0, same.stdout + same.stderr
    broken = anywarp("verify", tmp_path / "r", "--", *program, "broken")
    assert broken.returncode == 1 and "rank-1: Halves.down fails by itself" in broken.stdout, (
        broken.stdout + broken.stderr
    )

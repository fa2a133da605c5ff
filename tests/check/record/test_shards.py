"""A model over several ranks is held against one process's, and the other way round, as one; what one rank does wrong has that rank's name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.check.bundle import open_bundle
from anywarp.check.replay.comparing import verify
from anywarp.check.replay.sides import Sides
from anywarp.diagnostics import AnywarpError

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.slow]

TESTS = Path(__file__).parents[2]
RECORDED = {
    "whole": "whole", "tensor": "tensor", "fsdp": "fsdp", "ddp": "ddp", "stages": "stages",
    "wrong-columns": "tensor+blocks.1.up:value", "wrong-batch": "fsdp+blocks.0.down:value", "wrong-stage": "stages+blocks.1.down:value",
    "wrong-replica": "tensor+blocks.0.norm:value", "other-weight": "fsdp+blocks.1.up:weight", "other-replica": "ddp+head:weight",
}  # fmt: skip
PLACES = {f"Small.blocks.{n}{part}" for n in "01" for part in ("", ".norm", ".up", ".down")} | {"Small", "Small.words", "Small.head"}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    runs = [f"{name}={how}" for name, how in RECORDED.items()]
    program = [sys.executable, str(Path(__file__).with_name("shard_runs.py")), str(folder), *runs]
    done = subprocess.run(
        program, env={**os.environ, "PYTHONPATH": str(TESTS)}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def compared(folder, one, other, **options):
    with open_bundle(folder / one) as reference, open_bundle(folder / other) as observed:
        return verify(Sides(reference, observed, replayed=False, **options))


@pytest.mark.parametrize("one", ["tensor", "fsdp", "ddp", "stages"])
@pytest.mark.parametrize("reverse", [False, True])
def test_one_process_and_two_ranks_compute_the_same(recordings, one, reverse):
    report = compared(recordings, *((one, "whole") if reverse else ("whole", one)))
    assert report.grade == "pass", report.reason
    assert {layer.name for layer in report.layers} == PLACES
    assert all(layer.propagated.bound != "shape" for layer in report.layers)


@pytest.mark.parametrize(
    "run, place",
    [
        ("wrong-columns", "rank-1: Small.blocks.1.up"),
        ("wrong-batch", "rank-1: Small.blocks.0.down"),
        ("wrong-stage", "rank-1: Small.blocks.1.down"),
        ("wrong-replica", "rank-1: Small.blocks.0.norm"),
    ],
)
def test_what_one_rank_does_wrong_has_its_name(recordings, run, place):
    report = compared(recordings, "whole", run)
    assert report.grade == "fail"
    assert report.first is not None and report.first.name == place, report.reason
    reverse = compared(recordings, run, "whole")
    assert reverse.first is not None and reverse.first.name == f"recorded {place}", reverse.reason


def test_other_weights_on_one_rank_are_refused_by_name(recordings):
    with pytest.raises(AnywarpError, match=r"V010.*Small\.blocks\.1\.up\.weight: its values are others"):
        compared(recordings, "whole", "other-weight")
    with pytest.raises(AnywarpError, match=r"V010.*Small\.head\.weight: on rank 1 its values are others"):
        compared(recordings, "whole", "other-replica")
    assert compared(recordings, "whole", "other-weight", other_weights=True).grade == "fail"

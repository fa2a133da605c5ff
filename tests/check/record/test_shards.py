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
PLAIN = {
    "whole": "whole", "tensor": "tensor", "fsdp": "fsdp", "wrong-columns": "tensor+blocks.1.up:value", "other-weight": "fsdp+blocks.1.up:weight",
    "mesh": "mesh", "in-parts": "stages_in_parts", "ranks-in-parts": "ddp_in_parts", "wrong-in-mesh": "mesh+blocks.1.up:value", "tensor-again": "tensor@whole", "wrong-rows-again": "tensor+blocks.0.down:value@whole",
}  # fmt: skip
LONG = {
    "ddp": "ddp", "stages": "stages", "wrong-batch": "fsdp+blocks.0.down:value", "wrong-stage": "stages+blocks.1.down:value",
    "wrong-part": "stages_in_parts+blocks.1.down:value", "wrong-sum-in-mesh": "mesh+blocks.0.down:value", "wrong-replica-in-mesh": "mesh+blocks.0.norm:value",
    "in-parts-again": "stages_in_parts@whole", "mesh-again": "mesh@whole",
    "wrong-replica": "tensor+blocks.0.norm:value", "other-replica": "ddp+head:weight",
    "fsdp-again": "fsdp@whole", "ddp-again": "ddp@whole", "stages-again": "stages@whole", "whole-again": "whole@tensor", "whole-of-fsdp": "whole@fsdp",
    "fsdp-of-tensor": "fsdp@tensor", "same-ranks": "tensor@tensor", "wrong-columns-again": "tensor+blocks.1.up:value@whole",
    "wrong-rows-same": "tensor+blocks.0.down:value@tensor", "other-weight-again": "tensor+blocks.1.up:weight@whole",
}  # fmt: skip
PLACES = {f"Small.blocks.{n}{part}" for n in "01" for part in ("", ".norm", ".up", ".down")} | {
    "Small",
    "Small.words",
    "Small.head",
}


def recorded(folder, runs):
    words = [f"{name}={how}" for name, how in runs.items()]
    program = [sys.executable, str(Path(__file__).with_name("shard_runs.py")), str(folder), *words]
    done = subprocess.run(
        program, env={**os.environ, "PYTHONPATH": str(TESTS)}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def recordings(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("shards")
    recorded(folder, PLAIN)
    if any(item.get_closest_marker("long") for item in request.session.items if item.path == request.path):
        recorded(folder, LONG)
    return folder


def rows(*rows):
    """Return rows; those that need a recording which a plain run does not make are long."""
    return [pytest.param(*row, marks=[pytest.mark.long] if set(row) & set(LONG) else []) for row in rows]


def compared(folder, one, other, **options):
    with open_bundle(folder / one) as reference, open_bundle(folder / other) as observed:
        return verify(Sides(reference, observed, replayed=False, **options))


@pytest.mark.parametrize(("one",), rows(("tensor",), ("fsdp",), ("ddp",), ("stages",), ("in-parts",), ("mesh",)))
@pytest.mark.parametrize("reverse", [False, True])
def test_one_process_and_two_ranks_compute_the_same(recordings, one, reverse):
    report = compared(recordings, *((one, "whole") if reverse else ("whole", one)))
    assert report.grade == "pass", report.reason
    assert {layer.name for layer in report.layers} == PLACES
    assert all(layer.propagated.bound != "shape" for layer in report.layers)


@pytest.mark.parametrize(
    "run, place",
    rows(
        ("wrong-columns", "rank-1: Small.blocks.1.up"),
        ("wrong-batch", "rank-1: Small.blocks.0.down"),
        ("wrong-stage", "rank-1: Small.blocks.1.down"),
        ("wrong-replica", "rank-1: Small.blocks.0.norm"),
        ("wrong-part", "rank-1: Small.blocks.1.down"),
        ("wrong-in-mesh", "rank-1: Small.blocks.1.up"),
        ("wrong-replica-in-mesh", "rank-1: Small.blocks.0.norm"),
    ),
)
def test_what_one_rank_does_wrong_has_its_name(recordings, run, place):
    report = compared(recordings, "whole", run)
    assert report.grade == "fail"
    assert report.first is not None and report.first.name == place, report.reason
    reverse = compared(recordings, run, "whole")
    assert reverse.first is not None and reverse.first.name == f"recorded {place}", reverse.reason


def test_parts_of_a_batch_on_several_ranks_are_refused_by_name(recordings):
    with pytest.raises(AnywarpError, match=r"V013.*Small: several ranks compute it for each part of a batch"):
        compared(recordings, "whole", "ranks-in-parts")


def test_other_weights_over_the_ranks_are_refused_by_name(recordings):
    with pytest.raises(AnywarpError, match=r"V010.*Small\.blocks\.1\.up\.weight: its values are others"):
        compared(recordings, "whole", "other-weight")
    assert compared(recordings, "whole", "other-weight", other_weights=True).grade == "fail"


@pytest.mark.long
def test_other_weights_on_one_rank_are_refused_with_its_number(recordings):
    with pytest.raises(AnywarpError, match=r"V010.*Small\.head\.weight: on rank 1 its values are others"):
        compared(recordings, "whole", "other-replica")


def verified(folder, run):
    with (
        open_bundle(folder / (PLAIN | LONG)[run].partition("@")[2]) as reference,
        open_bundle(folder / run) as observed,
    ):
        return verify(Sides(reference, observed))


@pytest.mark.parametrize(
    ("run",),
    rows(
        ("tensor-again",),
        ("fsdp-again",),
        ("ddp-again",),
        ("stages-again",),
        ("whole-again",),
        ("whole-of-fsdp",),
        ("fsdp-of-tensor",),
    ),
)
def test_a_replay_on_another_number_of_ranks_runs_every_module_alone_on_what_was_recorded(recordings, run):
    report = verified(recordings, run)
    assert report.grade == "pass", report.reason
    assert {layer.name for layer in report.layers} == PLACES
    alone = {layer.name for layer in report.layers if layer.isolated is not None}
    assert alone == PLACES - {"Small"}, (alone ^ PLACES, report.notes)
    products = [layer for layer in report.layers if layer.name.endswith((".up", ".down", ".head"))]
    assert {layer.isolated.bound for layer in products} <= {"sharp", "probabilistic"}


@pytest.mark.parametrize(
    "run, place",
    rows(
        ("wrong-columns-again", "rank-1: Small.blocks.1.up"),
        ("wrong-rows-again", "rank-1: Small.blocks.0.down"),
        ("wrong-rows-same", "rank-1: Small.blocks.0.down"),
    ),
)
def test_a_replay_names_the_rank_even_of_a_share_that_was_added_up(recordings, run, place):
    report = verified(recordings, run)
    assert report.grade == "fail"
    assert report.first is not None and report.first.name == place, report.reason


@pytest.mark.long
def test_the_same_ranks_are_held_against_each_other_one_by_one(recordings):
    report = verified(recordings, "same-ranks")
    assert report.grade == "pass", report.reason
    assert {layer.name for layer in report.layers} == {f"rank-{rank}: {place}" for rank in "01" for place in PLACES}


@pytest.mark.long
def test_a_replay_refuses_other_weights_of_one_rank(recordings):
    with pytest.raises(AnywarpError, match=r"V010.*Small\.blocks\.1\.up\.weight"):
        verified(recordings, "other-weight-again")

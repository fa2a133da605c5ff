"""A matrix that was cut short goes on where it was, a cell that fails stops no other, and Ray measures what this machine does."""

import importlib.util
from dataclasses import replace

import pytest

from anywarp.check.bench import runners
from anywarp.check.bench.cell import Cell, from_json
from anywarp.check.store import Store


def commands(*scripts):
    return [Cell("command", f"sh -c {each!r}", ("sh", "-c", each), seconds=0.05) for each in scripts]


def test_a_matrix_goes_on_where_it_was(tmp_path):
    cells = commands("exit 0", "exit  0", "exit   0")
    with Store(tmp_path / "r") as store:
        going = runners.here(cells, store, False, lambda _: None)
        first = next(going)
        going.close()
        again = list(runners.here(cells, store, False, lambda _: None))
    assert [each.known for each in again] == [True, False, False] and again[0].run.id == first.run.id


def test_a_cell_that_fails_stops_no_other(tmp_path):
    with Store(tmp_path / "r") as store:
        found = list(runners.here(commands("exit 3", "exit 0"), store, False, lambda _: None))
        assert [each.problem.code if each.problem else None for each in found] == ["V034", None]
        assert len(store.list()) == 1


def test_a_long_command_is_run_less_often_and_that_is_told(tmp_path):
    (cell,) = commands("sleep 0.2")
    with Store(tmp_path / "r") as store:
        (found,) = runners.here([replace(cell, seconds=0.01)], store, False, lambda _: None)
    assert found.run.result["calls"] == 3 and "only 3 calls" in found.run.result["marks"][0]


def test_cells_go_through_json_unchanged():
    cell = Cell("model", "net.py:Net", device="hip", dtype="bfloat16", inputs=("x:f32[batch]",), sizes={"batch": 3}, prefix=("env", "A=1"), ranks=2)  # fmt: skip
    assert from_json(cell.as_json()) == cell and from_json(cell.as_json()).key() == cell.key()


def test_keys_hang_on_everything_that_is_asked():
    base = Cell("command", "sh", ("sh",))
    others = [Cell("command", "sh", ("sh",), **change) for change in ({"device": "cpu"}, {"seconds": 4.0}, {"prefix": ("nice",)}, {"processes": 2})]  # fmt: skip
    assert len({base.key(), *(each.key() for each in others)}) == 5


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
def test_ray_measures_the_cells_and_tells_what_fails(tmp_path):
    cells = commands("exit 0", "sleep 0.01", "exit 3")
    with Store(tmp_path / "r") as store:
        found = list(runners.over_ray(cells, store, False, lambda _: None, None))
        again = list(runners.over_ray(cells[:2], store, False, lambda _: None, None))
    measured = {each.cell.command[2]: each for each in found}
    assert measured["exit 3"].problem.code == "V034" and "exit code 3" in measured["exit 3"].problem.message
    slept = measured["sleep 0.01"].run.result["latency_ms"]["p50"]["value"]
    assert slept > 10 and measured["exit 0"].run.result["calls"] >= 5
    assert [each.known for each in again] == [True, True]

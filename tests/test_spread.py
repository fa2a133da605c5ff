"""What a plain run has of rows that are spread, and that the jobs `long-*` have exactly the rest."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import spread

TESTS = Path(__file__).resolve().parent

TEXT = """
import pytest
from spread import properties
from hypothesis import strategies as st

@pytest.mark.spread("device", always=("plain",))
@pytest.mark.parametrize("device", ["plain", "a", "b", "c"])
@pytest.mark.parametrize("row", [0, 1, 2, 0.5])
def test_rows(row, device): pass

@pytest.mark.spread("how")
@pytest.mark.parametrize("how", ["x", "y"])
def test_one_row(how): pass

@pytest.mark.spread("how", "size", most=2)
@pytest.mark.parametrize("how", ["x", "y"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_few(size, how): pass

seen = []
@properties(5, 30, st.integers())
def test_property(number): seen.append(number)
def test_examples(): assert len(seen) in (0, 5)
"""


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("choices", [1, 2, 4, 5, 7, 12])
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 9, 40])
def test_every_choice_has_its_turn(rows, choices, count):
    each = [spread.taken(row, rows, choices, count) for row in range(rows)]
    assert set().union(*each) == set(range(choices))
    assert all(len(one) >= min(count, choices) for one in each)
    if rows * count >= choices > count:
        assert {len(one) for one in each} <= {count, count + 1}
        assert min(Counter(x for one in each for x in one).values()) >= rows * count // choices // 2
    assert all(len(spread.taken(row, rows, choices, count, most=1)) == 1 for row in range(rows))


def collected(folder, *options):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "spread", "--co", "-q", *options]
    environment = os.environ | {"PYTHONPATH": str(TESTS), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [*command, str(folder)], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def test_plain_and_long_are_disjoint_and_everything(tmp_path):
    (tmp_path / "test_it.py").write_text(TEXT)
    plain, long, everything = (collected(tmp_path, *words) for words in (("-m", "not long"), ("-m", "long"), ()))
    assert sorted(plain + long) == sorted(everything) and len(everything) == 16 + 2 + 6 + 3
    rows = [name for name in plain if name.startswith("test_rows")]
    assert len([name for name in rows if "plain" in name]) == 4 and len(rows) == 8
    assert {name.rpartition("-")[2] for name in rows} == {"plain]", "a]", "b]", "c]"}
    assert len([name for name in plain if name.startswith("test_one_row")]) == 2
    assert len([name for name in plain if name.startswith("test_few")]) == 2
    assert {"test_property[5]"} == {name for name in plain if name.startswith("test_property")}


def test_a_row_that_is_asked_for_by_name_runs(tmp_path):
    (tmp_path / "test_it.py").write_text(TEXT)
    one = f"{tmp_path}/test_it.py::test_rows[0-"
    for device in "ab":
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "spread", "-q", "-m", "not long"]
        environment = os.environ | {"PYTHONPATH": str(TESTS), "PYTEST_ADDOPTS": ""}
        done = subprocess.run(
            [*command, f"{one}{device}]"], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert "1 passed" in done.stdout, done.stdout

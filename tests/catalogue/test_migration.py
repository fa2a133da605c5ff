"""Tables of what surrounds a program: each row says what takes its place or why nothing does, and where that is from."""

import re

import pytest

from anywarp.catalogue.migration import DATA, rows, tables
from anywarp.catalogue.rocm import TableError


def test_there_are_tables():
    assert {"packages", "images", "environment", "metrics", "resources", "node_labels"} <= set(tables())


@pytest.mark.parametrize("table", tables())
def test_a_table_is_well_formed(table):
    text = (DATA / f"{table}.tsv").read_text(encoding="utf-8")
    assert re.match(r"# .+20\d\d-\d\d-\d\d", text), "the first line says what it is, where from, and when"
    assert len(rows(table)) > 0
    assert all(len(row["source"]) > 3 for row in rows(table))


@pytest.mark.parametrize("table", tables())
def test_no_row_is_there_twice(table):
    """A row is told apart by everything but its source."""
    keys = [tuple(value for name, value in row.items() if name not in ("source", "confidence")) for row in rows(table)]
    assert len(set(keys)) == len(keys)


HEAD = "# a table, 2026-01-01\nname\ttarget\treason\tsource\tconfidence\n"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("a\t\t\ta manual\tread", "neither a target nor a reason"),
        ("a\tb\t\t\tread", "names its source"),
        ("a\tb\t\ta manual\tsure", "how sure"),
        ("a\tb", "expected 5 cells"),
    ],
)
def test_a_row_that_says_too_little_is_refused(tmp_path, line, complaint):
    (tmp_path / "things.tsv").write_text(f"{HEAD}{line}\n")
    with pytest.raises(TableError, match=complaint):
        rows("things", tmp_path)

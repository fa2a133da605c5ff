"""The page of compatibility: what it says of a package is checked by something that exists."""

import datetime
from pathlib import Path

import pytest

from anywarp.catalogue.rocm import TableError
from anywarp.deploy import compatibility

ROOT = Path(__file__).parents[2]
LINES = [*compatibility.clients(), *compatibility.adapters()]


def test_the_page_is_what_the_adapters_say():
    assert (ROOT / "docs/compatibility.md").read_text() == compatibility.as_markdown(), "run scripts/docs"


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.package}-{line.version}")
def test_every_row_names_what_it_was_checked_by_and_when(line):
    assert (ROOT / line.checked).is_file(), line.checked
    assert datetime.date.fromisoformat(line.date) <= datetime.date.today()
    assert line.how in compatibility.HOW


def test_a_version_of_a_package_has_one_row():
    keys = [(line.package, line.version) for line in LINES]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    "cells", [["x", "1", "perhaps", "w", "2026-01-01", "f"], ["x", "1", "runs", "", "2026-01-01", "f"]]
)
def test_a_row_with_a_strange_word_or_an_empty_cell_is_refused(tmp_path, cells):
    table = tmp_path / "clients.tsv"
    table.write_text("package\tversion\thow\twords\tdate\tchecked\n" + "\t".join(cells) + "\n")
    with pytest.raises(TableError, match=r"clients\.tsv:2"):
        list(compatibility.clients(table))


@pytest.mark.parametrize(
    ("package", "words"),
    [
        ("torch", "its build for ROCm, from torch's index"),
        ("flash_attn", "`flash-attn`, built from source"),
        ("cupy", "`cupy-rocm-7-0`"),
        ("no-such-package", "—"),
    ],
)
def test_what_takes_a_packages_place_on_amd_gpus_is_what_convert_says(package, words):
    assert compatibility.on_hip(package) == words

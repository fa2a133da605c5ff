"""The table of driver functions: complete, in order, refused when a row contradicts itself."""

import re

import pytest

from anywarp.catalogue.load import COLUMNS, TableError, load, parse

HEAD = "# a source\n" + "\t".join(COLUMNS) + "\n"
FIRST = "cuInit\tcuInit\tcustom\t\t2000\t0\t1\t\n"


def row(**cells: object) -> str:
    default = {
        "name": "cuX",
        "base": "cuX",
        "route": "absent",
        "target": "",
        "since": 2000,
        "per_thread": 0,
        "parameters": 0,
        "reason": "y",
    }
    return "\t".join(str(v) for v in (default | cells).values()) + "\n"


def test_the_table_says_what_public_programs_can_rely_on():
    table = load()
    by_name = {r.name: r for r in table.rows}
    assert re.search(r"CUDA .*13\.\d", table.source)
    assert len(by_name) >= 700
    # cuda.h since CUDA 3.2; CUDA 12.0 added the status argument; per-thread streams came with CUDA 7.
    assert by_name["cuMemAlloc_v2"].since == 3020 and by_name["cuMemAlloc_v2"].base == "cuMemAlloc"
    assert by_name["cuGetProcAddress"].since == 11030 and by_name["cuGetProcAddress"].parameters == 4
    assert by_name["cuGetProcAddress_v2"].since == 12000 and by_name["cuGetProcAddress_v2"].parameters == 5
    assert by_name["cuLaunchKernel_ptsz"].since == 7000 and by_name["cuLaunchKernel_ptsz"].per_thread
    assert by_name["cuLaunchKernel"].parameters == 11
    assert by_name["cuCtxSynchronize"].parameters == 0


def test_writing_a_table_gives_what_was_read():
    text = HEAD + FIRST + row()
    assert parse(text, "t").as_text() == text


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (FIRST + FIRST, "there twice"),
        (row() + FIRST, "out of order"),
        (row(route="forward"), "unknown route"),
        (row(reason=""), "a reason"),
        (row(route="custom"), "a reason"),
        (row(route="alias", reason="", target="cuInit"), "no custom function"),
        (row(base="cuY"), "not a variant"),
        (row(since="new"), "are numbers"),
        ("cuX\tcuX\n", "expected 8 cells"),
        ("cuX", "ends with a line end"),
    ],
)
def test_a_wrong_row_is_refused_by_line(rows, message):
    with pytest.raises(TableError, match=message):
        parse(HEAD + rows, "t.tsv")

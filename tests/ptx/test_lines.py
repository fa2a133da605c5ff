"""Lines of PTX and of the source behind them, as `.file` and `.loc` have them."""

import pytest

from anywarp.ptx.lines import LineTable, SourceLine

TEXT = """.version 8.0
.target sm_80
.visible .entry first(
)
{
\tret;
\t.loc 1 7 3
\tmov.u32 %r1, 1;
\tadd.u32 %r1, %r1, 1;
\t.loc\t2 30 9, function_name $L__info_string0, inlined_at 1 8 5
\tsub.u32 %r1, %r1, 1;
\t.loc 3 1 1
\tnot.b32 %r1, %r1;
\t.loc 1 0 0
\tneg.s32 %r1, %r1;
}
.func second()
{
\tret;
}
\t.file\t1 "a kernel.cu"
\t.file\t2 "/usr/include/maths.h", 1600000000, 12
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (1, None),
        (6, None),  # before the first .loc
        (8, SourceLine("a kernel.cu", 7)),
        (9, SourceLine("a kernel.cu", 7)),
        (11, SourceLine("/usr/include/maths.h", 30, "a kernel.cu", 8)),
        (13, None),  # a file that is not there
        (15, None),  # line 0: no line
        (19, None),  # another function
        (1000, None),
        (0, None),
    ],
)
def test_a_line_of_ptx_leads_to_its_source(line, expected):
    assert LineTable(TEXT).source_of(line) == expected


def test_offsets_become_lines():
    table = LineTable(TEXT)
    offset = 0
    for number, text in enumerate(TEXT.split("\n"), 1):
        assert table.line_of(offset) == number
        assert table.line_of(offset + len(text)) == number
        offset += len(text) + 1


def test_a_place_is_written_with_its_call():
    assert str(SourceLine("a.cu", 7)) == "a.cu:7"
    assert str(SourceLine("m.h", 30, "a.cu", 8)) == "m.h:30 (inlined at a.cu:8)"


def test_ptx_without_lines_has_none():
    assert LineTable(".version 8.0\n.entry k()\n{\nret;\n}\n").source_of(4) is None


BODY = """.visible .entry k()
{
\tld.global.f32 %f1, [%rd1];
\tld.global.v2.f32 {%f2, %f4}, [%rd2];
\tfma.rn.f32 %f3, %f2, 0f40000000, %f1;
\tadd.f32 %f5, %f1, %f1;
\tadd.f32 %f1, %f9, %f9;
\t@%p1 st.global.f32 [%rd1], %f1;
}
"""


@pytest.mark.parametrize(
    ("line", "access"),
    [
        (3, 3),
        (4, 4),
        (5, 4),  # the nearer of two loads
        (6, 3),
        (7, 7),  # writes what a load wrote, and reads none
        (8, 8),
        (9, 9),
        (99, 99),
        (0, 0),
    ],
)
def test_a_fault_in_a_computation_is_about_the_load_it_holds(line, access):
    assert LineTable(BODY).access_behind(line) == access

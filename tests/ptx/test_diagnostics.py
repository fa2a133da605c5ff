"""Every mistake in PTX is reported with its code, place, caret and help, as the golden text says."""

from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.ptx.index import index_module

CASES = sorted((Path(__file__).parent.parent / "cases" / "ptx" / "errors").glob("*.ptx"))


@pytest.mark.parametrize("case", CASES, ids=[c.stem for c in CASES])
def test_message(case):
    with pytest.raises(AnywarpError) as caught:
        index_module(case.read_bytes(), case.name).module()
    assert caught.value.diagnostic.as_text() == case.with_suffix(".txt").read_text().rstrip("\n")


def test_every_case_has_a_golden():
    assert len(CASES) == len(list(CASES[0].parent.glob("*.txt"))) >= 25


def test_place_in_a_body_parsed_alone():
    text = ".version 8.0\n.target sm_80\n\n.entry a() { ret; }\n.entry b() {\n  ret;\n  add.s32 %r1, %r2 %r3;\n}\n"
    index = index_module(text, "two.ptx")
    assert index.function("a").body is not None
    with pytest.raises(AnywarpError) as caught:
        index.function("b")
    data = caught.value.diagnostic.as_json()
    assert (data["file"], data["line"], data["column"], data["code"]) == ("two.ptx", 7, 20, "P001")

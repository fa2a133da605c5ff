"""The table of the manual's instructions agrees with what the meanings declare, and with the page made of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.ptx.isa import coverage
from anywarp.ptx.isa.manual import ENTRIES, entry_of
from anywarp.ptx.isa.registry import declared, expand, structural, supports
from anywarp.ptx.tree import Instruction
from semantics.warp import Warp

PAGE = Path(__file__).parents[3] / "docs" / "coverage" / "ptx.md"


def parts(form: str) -> tuple[str, tuple[str, ...]]:
    opcode, *modifiers = form.split(".")
    return opcode, tuple(modifiers)


@pytest.mark.parametrize("entry", ENTRIES, ids=[e.name for e in ENTRIES])
def test_examples_of_an_instruction_are_known_unless_it_is_refused(entry):
    assert entry.examples
    for example in entry.examples:
        assert supports(*parts(example)) == (not entry.refused), example
        assert entry_of(*parts(example)) == entry, example
    assert bool(coverage.forms_of(entry)) == (not entry.refused)


def test_every_declared_form_belongs_to_an_instruction_of_the_manual():
    forms = [*(form for form, _ in declared()), *structural()]
    assert [f.text for f in forms if not any(coverage.belongs(f, e) for e in ENTRIES)] == []


def test_no_instruction_is_listed_twice():
    assert len({e.name for e in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.refused], ids=[e.name for e in ENTRIES if e.refused])
def test_a_refused_instruction_is_named_with_the_reason(entry):
    for example in entry.examples:
        with pytest.raises(AnywarpError) as caught:
            expand(Warp(), Instruction(*parts(example), ()))
        assert caught.value.diagnostic.code == "C101"
        assert f"{example} is not supported: {entry.refused}" in caught.value.diagnostic.message


def test_the_page_is_current():
    assert PAGE.read_text() == coverage.page(), "run scripts/docs"

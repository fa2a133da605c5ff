"""The table is complete: every form that the arithmetic chapters declare has a row, down to each modifier."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anywarp.check.conformance.table import ROWS
from anywarp.check.conformance.warp_rows import ROWS as WARP_ROWS
from anywarp.ptx.isa.registry import declared
from semantics.atomic_rows import ROWS as ATOMIC_ROWS
from semantics.evaluate import instructions
from semantics.test_forms import loads, stores

ELSEWHERE: dict[str, tuple[str, ...]] = {
    "data_movement": ("ptx/isa/test_memory.py", "semantics/test_forms.py"),
    "addresses": ("ptx/isa/test_memory.py", "semantics/test_addresses.py", "semantics/test_forms.py"),
    "atomics": ("ptx/isa/test_memory.py", "semantics/atomic_rows.py", "semantics/test_forms.py"),
    "asynchronous": ("semantics/test_asynchronous.py", "semantics/test_forms.py"),
    "mbarriers": ("semantics/test_mbarriers.py",),
    "bulk": ("semantics/test_bulk.py",),
    "miscellaneous": ("ptx/isa/test_memory.py", "semantics/test_forms.py"),
    "texture": (), "matrix": (), "matrix_move": (), "matrix_wmma": (),
}  # fmt: skip
"""Chapters whose forms no row can hold (spaces, scopes, hints, whole blocks), and the files that test them.

The last ones have tables of their own, which their tests prove complete."""


def _tested() -> dict[str, set[tuple[str, ...]]]:
    found: dict[str, set[tuple[str, ...]]] = {}
    for row in (*ROWS, *WARP_ROWS):
        for i in instructions(row.text):
            found.setdefault(i.opcode, set()).add(i.modifiers)
    for row in ATOMIC_ROWS:
        for opcode in ("atom", "red"):
            if getattr(row, opcode):
                found.setdefault(opcode, set()).add(tuple(row.form.split(".")))
    return found


TESTED = _tested()
DECLARED = [(form, chapter) for form, chapter in declared() if chapter not in ELSEWHERE]


@pytest.mark.parametrize(
    ("form", "chapter"), DECLARED, ids=[f"{form.opcode}-{n}" for n, (form, _) in enumerate(DECLARED)]
)
def test_every_alternative_of_a_declared_form_has_a_row(form, chapter):
    matching = [m for m in TESTED.get(form.opcode, ()) if form.matches(m)]
    assert matching, f"no row has {form} of chapter {chapter}"
    used = {modifier for modifiers in matching for modifier in modifiers}
    wanted = {option for slot in (*form.types, *form.others) for option in slot.options}
    assert not wanted - used, f"no row has {form.opcode} with {sorted(wanted - used)} (chapter {chapter})"


def test_the_table_has_no_row_twice():
    texts = [(row.text, row.sources, row.results) for row in ROWS]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("chapter", [name for name, files in ELSEWHERE.items() if files])
def test_every_alternative_of_a_chapter_without_rows_stands_in_its_tests(chapter):
    folder = Path(__file__).parents[2]
    words = set(re.findall(r"[\w:]+", "\n".join((folder / name).read_text() for name in ELSEWHERE[chapter])))
    if chapter == "data_movement":
        words |= {word for form, *_ in (*loads(), *stores()) for word in form.split(".")}
    if chapter == "atomics":
        words |= {word for opcode in ("atom", "red") for modifiers in TESTED[opcode] for word in modifiers}
    wanted = {
        option
        for form, where in declared()
        if where == chapter
        for slot in (*form.types, *form.others)
        for option in (*slot.options, form.opcode)
    }
    assert not sorted(wanted - words)

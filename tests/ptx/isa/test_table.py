"""The table is complete: every form that the arithmetic chapters declare has a row, down to each modifier."""

from __future__ import annotations

import pytest

from anywarp.ptx.isa.registry import declared
from semantics.atomic_rows import ROWS as ATOMIC_ROWS
from semantics.evaluate import instructions
from semantics.table import ROWS
from semantics.warp_rows import ROWS as WARP_ROWS

ELSEWHERE = {
    "data_movement": "test_memory", "addresses": "test_memory", "atomics": "test_memory and semantics.test_atomics",
    "matrix": "test_matrix", "asynchronous": "semantics.test_asynchronous", "texture": "native.test_texture_forms", "miscellaneous": "test_memory",
}  # fmt: skip
"""Chapters whose modifiers (spaces, scopes, cache hints) are no matter of values, and where they are tested."""


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

"""Every row of the instruction table, on the plain operations, all 32 lanes different."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantics.evaluate import evaluate
from semantics.table import ROWS, Row, inputs, matches
from semantics.warp import LANES


def check(row: Row, seed: int) -> None:
    lanes = inputs(row, LANES, seed)
    for sources, found in zip(lanes, evaluate(row, lanes), strict=True):
        expected = row.expected(*sources)
        assert len(expected) == len(found)
        for n, (e, f) in enumerate(zip(expected, found, strict=True)):
            assert matches(e, f), (
                f"{row.text} on {[hex(s) for s in sources]}: {{r{n}}} is {f:#x}, expected {e if not isinstance(e, int) else hex(e)}"
            )


FORMS: dict[str, list[Row]] = {}
for _row in ROWS:
    FORMS.setdefault(_row.text.split(" ", 1)[0], []).append(_row)


@pytest.mark.parametrize("form", FORMS)
def test_form_computes_what_the_manual_says(form):
    for row in FORMS[form]:
        check(row, 0)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(ROWS), st.integers(1, 10**9))
def test_any_form_holds_on_any_data(row, seed):
    check(row, seed)

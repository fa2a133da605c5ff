"""Every row of the instruction table, on the plain operations, all 32 lanes different."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.check.conformance.table import ROWS, Row, inputs, matches
from semantics.evaluate import evaluate
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
        for seed in range(3 if len(row.sources) == 1 else 1):
            check(row, seed)


@pytest.mark.parametrize(
    ("b", "zero"),
    [(0x7DFFFFFF, False), (0x7E000000, False), (0x7E800000, False), (0x7E800001, True), (0xFF000000, True)],
)
def test_an_approximate_quotient_by_more_than_2_to_the_126_is_zero(b, zero):
    row = next(r for r in ROWS if r.text.startswith("div.approx.f32"))
    sources = [(0x7F000000, b)] * LANES
    (found,) = evaluate(row, sources)[0]
    assert (found & 0x7FFFFFFF == 0) == zero and matches(row.expected(*sources[0])[0], found)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(ROWS), st.integers(1, 10**9))
def test_any_form_holds_on_any_data(row, seed):
    check(row, seed)

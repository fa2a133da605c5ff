"""Warp-wide instructions on the plain operations, under full and partial masks."""

from __future__ import annotations

import pytest

from anywarp.check.conformance.rows import matches
from anywarp.check.conformance.warp_inputs import MASKS, warp_inputs
from anywarp.check.conformance.warp_rows import ROWS
from anywarp.ptx.isa.registry import expand
from semantics.evaluate import NAMES, instructions
from semantics.warp import LANES, Warp


def run(row, lanes, active, guarded=0xFFFFFFFF):
    warp = Warp()
    warp.active, warp.guarded = active, guarded
    for n, register in enumerate(row.source_registers):
        warp.declare(f"%s{n}", register, [lane[n] for lane in lanes])
    for n, register in enumerate(row.result_registers):
        warp.declare(f"%r{n}", register, [1] * LANES)
    for instruction in instructions(row.text):
        expand(warp, instruction)
    return list(zip(*(warp.value(NAMES[f"r{n}"]) for n in range(len(row.results))), strict=True))


FORMS = {}
for _row in ROWS:
    FORMS.setdefault(_row.text.split(" ", 1)[0], []).append(_row)


@pytest.mark.parametrize("mask", MASKS, ids=hex)
@pytest.mark.parametrize("form", FORMS)
def test_form_looks_at_the_active_lanes_only(form, mask):
    for row in FORMS[form]:
        for seed in range(3):
            lanes = warp_inputs(row, mask, seed)
            found, expected = run(row, lanes, mask), row.expected(lanes, mask)
            for lane in range(LANES):
                if expected[lane] is None:
                    assert found[lane] == (1,) * len(row.results), "a lane that is off was written"
                else:
                    assert all(matches(e, f) for e, f in zip(expected[lane], found[lane], strict=True)), (
                        row.text,
                        lane,
                        found[lane],
                        expected[lane],
                    )


def test_a_guard_takes_lanes_out_like_a_branch():
    row = next(r for r in ROWS if r.text.startswith("vote.sync.ballot"))
    lanes = [(1, 0xFFFFFFFF)] * LANES
    found = run(row, lanes, 0xFFFFFFFF, guarded=0x00FF00FF)
    assert found[0] == (0x00FF00FF,) and found[8] == (1,)

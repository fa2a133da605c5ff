"""A condition that is used far from where it was made: what it was made from may be gone by then."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.devices.cpu.execute import Program

# if (i + 5 < n) out[i] = 7 + i, where the comparison stands before MIDDLE
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n, .param .u32 m)
{
.reg .b32 %r<12>; .reg .b64 %d<5>; .reg .pred %p<4>;
ld.param.u64 %d1, [out]; ld.param.u32 %r6, [n]; ld.param.u32 %r7, [m];
mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
mad.lo.s32 %r2, %r1, %r3, %r4;
mul.wide.u32 %d2, %r2, 4;
add.u64 %d3, %d1, %d2;
add.s32 %r5, %r2, 5;
setp.lt.s32 %p1, %r5, %r6;
MIDDLE
@!%p1 bra DONE;
add.u32 %r8, %r2, 7;
st.global.u32 [%d3], %r8;
DONE:
ret;
}
"""
MIDDLES = {
    "nothing": "",
    "a barrier": "bar.sync 0;",
    "two barriers": "bar.sync 0; st.global.u32 [%d3], %r7; bar.sync 0;",
    "a loop": "mov.u32 %r9, 0; LOOP: add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r7; @%p2 bra LOOP;",
    "a branch": "setp.gt.u32 %p3, %r4, %r7; @%p3 bra NEXT; st.global.u32 [%d3], %r7; NEXT:",
}


@pytest.mark.parametrize("gang", [32, 128])
@pytest.mark.parametrize("middle", MIDDLES)
def test_a_condition_holds_where_it_held_when_it_was_made(middle: str, gang: int) -> None:
    program = Program(TEXT.replace("MIDDLE", MIDDLES[middle]))
    i = np.arange(384)
    for n in (0, 5, 6, 100, 133, 160, 389, 1000):
        out, m = np.zeros(384, np.uint32), 9
        program.run("k", 3, 128, [out, n, m], options=f"gang={gang}")
        before = {"two barriers": np.full(384, m), "a branch": np.where(i % 128 > m, 0, m)}.get(middle, np.zeros(384))
        np.testing.assert_array_equal(out, np.where(i + 5 < n, i + 7, before))

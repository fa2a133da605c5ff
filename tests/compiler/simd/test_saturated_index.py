"""Loops whose index keeps from overflowing, as Eigen's do: lanes stay side by side, and those that have come to the end stop there."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

MOST = 2**31 - 1

# for (i = first + thread; i < size; i = may ? i > MOST - step ? MOST : i + step : i + step) w[i] += g[i];
# may = size > MOST - step, by which Eigen adds as usual where nothing can overflow
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 w, .param .u64 g, .param .u32 first, .param .u32 size)
{
.reg .b32 %r<20>; .reg .b64 %d<12>; .reg .pred %p<9>; .reg .f32 %f<9>;
ld.param.u64 %d1, [w]; ld.param.u64 %d2, [g]; ld.param.u32 %r8, [first]; ld.param.u32 %r9, [size];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3; add.s32 %r4, %r4, %r8;
mov.u32 %r5, %nctaid.x; mul.lo.s32 %r6, %r5, %r2;
sub.s32 %r7, 2147483647, %r6;
setp.gt.s32 %p1, %r9, %r7;
setp.ge.s32 %p2, %r4, %r9; @%p2 bra DONE;
LOOP:
mul.wide.s32 %d3, %r4, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
ld.global.f32 %f2, [%d5]; ld.global.f32 %f3, [%d4]; add.f32 %f5, %f3, %f2; st.global.f32 [%d4], %f5;
setp.gt.s32 %p3, %r4, %r7; add.s32 %r10, %r4, %r6; selp.b32 %r11, 2147483647, %r10, %p3;
selp.b32 %r4, %r11, %r10, %p1;
setp.lt.s32 %p4, %r4, %r9; @%p4 bra LOOP;
DONE: ret;
}
"""


def alike(most: int) -> str:
    """Lanes that begin with multiples of 64 reach a most that is one less than such all together."""
    return TEXT.replace("add.s32 %r4, %r4, %r8;", "").replace("2147483647", str(most))


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [
        *[(TEXT, *pair) for pair in ((0, 700), (0, 3), (MOST - 700, 700), (MOST - 700, 640), (MOST - 640, 640))],
        *[(alike(1023), 0, count) for count in (1023, 1000, 960, 3)],
    ],
)
def test_every_number_is_taken_once(text: str, first: int, count: int) -> None:
    """Arrays begin so far in front of what is allocated that the last number is the last there is."""
    here = this_machine()
    old = [make_target(here.triple, "znver3", "+avx2,+fma,+f16c")] if here.machine.avx2 else []
    for target in [here, *old]:
        program = Program(text, target)
        for gang in (32, 64):
            w, g = np.arange(1100, dtype=np.float32), 1000 * np.arange(1, 1101, dtype=np.float32)
            want = w + np.where(np.arange(1100) < count, g, 0)
            places = [np.uint64((a.ctypes.data - 4 * first) % 2**64) for a in (w, g)]
            program.run("k", 2, 64, [*places, first, first + count], options=f"gang={gang}")
            np.testing.assert_array_equal(w, want)


@pytest.mark.parametrize("text", [TEXT, alike(MOST)], ids=["lanes apart", "lanes alike"])
def test_lanes_are_side_by_side_while_none_is_at_the_end(text: str) -> None:
    specialisation = Specialisation((64, 1, 1), 64)
    kernel = prepare_kernel(IndexedModule(index_module(text)), "k", specialisation)
    found = analyse(kernel, specialisation)
    addresses = [op.args[0] for block in kernel.blocks for op in block.ops if op.name in ("load", "store")]
    assert [found.guarded[address].shape.stride for address in addresses] == [4, 4, 4]

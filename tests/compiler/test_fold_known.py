"""What is known of all lanes of a warp is decided when compiling: remainders of their numbers, trips of loops over those, halves of even numbers."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import make_target
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

WIDE = make_target(
    "x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"
)

# %r2 = i, the number of a thread; out[i] = %r9
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<9>;
ld.param.u64 %d1, [out]; ld.param.u32 %r6, [n];
mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
mad.lo.s32 %r2, %r1, %r3, %r4;
mul.wide.s32 %d3, %r2, 4;
add.u64 %d5, %d1, %d3;
mov.u32 %r9, 1;
BODY
st.global.u32 [%d5], %r9;
ret;
}
"""
# for (r9 = 1, j = i % 2; j < 4; j += 2) r9 = r9 * 3 + j, as compilers write the remainder of a signed number
LOOP = (
    "shr.u32 %r7, %r2, 31; add.s32 %r8, %r2, %r7; and.b32 %r8, %r8, -2; sub.s32 %r10, %r2, %r8; "
    "L: mad.lo.u32 %r9, %r9, 3, %r10; add.s32 %r10, %r10, 2; setp.lt.s32 %p1, %r10, 4; @%p1 bra L;"
)
# the same, its trips counted first: 3 - i % 2, halved, and one more; none is left over of two
COUNTED = (
    "shr.u32 %r7, %r2, 31; add.s32 %r8, %r2, %r7; and.b32 %r8, %r8, -2; sub.s32 %r10, %r2, %r8; "
    "sub.s32 %r11, 3, %r10; shr.u32 %r11, %r11, 1; add.s32 %r11, %r11, 1; and.b32 %r12, %r11, 1; "
    "setp.eq.s32 %p1, %r12, 0; @%p1 bra J; mad.lo.u32 %r9, %r9, 5, %r6; st.global.u32 [%d5+4], %r9; J: setp.lt.u32 %p2, %r11, 2; @%p2 bra K; "
    "add.u32 %r9, %r9, %r10; K:"
)
# what a multiple of four leaves of a division by four
MULTIPLE = (
    "mul.lo.u32 %r7, %r2, 12; and.b32 %r8, %r7, 3; setp.eq.s32 %p1, %r8, 0; @%p1 bra J; "
    "st.global.u32 [%d5+4], %r9; J: mov.u32 %r9, %r8;"
)


def half(number: str) -> str:
    return f"{number} shr.u32 %r8, %r7, 31; add.s32 %r8, %r7, %r8; shr.s32 %r9, %r8, 1;"


def prepared(body: str):
    index = IndexedModule(index_module(TEXT.replace("BODY", body)))
    return prepare_kernel(index, "k", Specialisation((64, 1, 1), 0), target=WIDE, checked=True)


def run(body: str, n: int = 24, gang: int = 32) -> np.ndarray:
    out = np.zeros(256, np.int32)
    Program(TEXT.replace("BODY", body)).run("k", 4, 64, [out, n], options=f"gang={gang}")
    return out


def test_branches_on_what_is_known_of_every_lane_are_decided() -> None:
    for body in (COUNTED, MULTIPLE):
        assert not any(block.terminator.name == "branch" for block in prepared(body).blocks)
    assert not run(MULTIPLE).any()


@pytest.mark.parametrize("gang", [32, 64])
def test_lanes_take_as_many_trips_as_their_numbers_say(gang: int) -> None:
    i = np.arange(256)
    first = 3 + i % 2
    np.testing.assert_array_equal(run(LOOP, gang=gang), first * 3 + i % 2 + 2)
    np.testing.assert_array_equal(run(COUNTED, gang=gang), 1 + i % 2)


# A branch that is short, so that shapes are asked for at all.
SHORT = "setp.gt.s32 %p3, %r2, 3; @!%p3 bra Q; add.u32 %r9, %r9, 1; Q:"


@pytest.mark.parametrize(
    ("number", "value", "shifts"),
    [
        ("and.b32 %r7, %r2, -2; sub.s32 %r7, %r7, 100;", lambda i: (i & ~1) - 100, 1),
        ("shl.b32 %r7, %r2, 2; sub.s32 %r7, %r7, 300;", lambda i: 4 * i - 300, 1),
        ("sub.s32 %r7, %r2, 100;", lambda i: i - 100, 2),
        ("shl.b32 %r7, %r2, 1; sub.s32 %r7, %r7, 201;", lambda i: 2 * i - 201, 2),
        ("shl.b32 %r7, %r2, 1; sub.s32 %r7, %r7, %r6;", lambda i: 2 * i - 24, 2),
    ],
    ids=["even", "multiples of four", "all", "odd", "even by a number"],
)
def test_half_of_a_number_rounds_towards_zero_and_even_numbers_need_no_rounding(number, value, shifts) -> None:
    body = SHORT + half(number)
    ops = [op.name for block in prepared(body).blocks for op in block.ops]
    assert ops.count("lshr") + ops.count("ashr") == shifts
    np.testing.assert_array_equal(run(body), np.trunc(value(np.arange(256)) / 2).astype(np.int32))


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("add.s32 %r7, %r2, -3;", lambda i: i - 3),
        ("and.b32 %r8, %r2, 1; add.s32 %r8, %r8, 2; sub.s32 %r7, %r2, %r8;", lambda i: i - (i & 1) - 2),
        ("add.s32 %r7, %r2, 0x7fffffe0;", lambda i: (i + 0x7FFFFFE0 + 2**31) % 2**32 - 2**31),
        ("sub.s32 %r7, %r2, %r6;", lambda i: i - 24),
    ],
    ids=["three less", "an even number less", "beyond the greatest", "a parameter less"],
)
def test_a_number_that_may_be_negative_is_shifted_as_its_lanes_would_be(number, value) -> None:
    for gang in (32, 64):
        got = run(f"{number} shr.s32 %r9, %r7, 1;", gang=gang)
        np.testing.assert_array_equal(got, (value(np.arange(256)) // 2).astype(np.int32))

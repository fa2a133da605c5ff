"""What the next block will access is asked for: how far that is, and where nothing is asked for."""

from __future__ import annotations

import re

import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.simd.target import make_target
from anywarp.compiler.stages import compile_seen
from anywarp.ptx.index import index_module

WIDE = make_target(
    "x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"
)

# %r1 = the block, %r2 = the thread in it; out[i] = in[%r5] for the thread's number i
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .f32 %f<4>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r6, [n];
mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r2, %tid.x;
mad.lo.s32 %r4, %r1, %r3, %r2;
PLACE
mul.wide.s32 %d3, %r5, 4;
add.u64 %d4, %d1, %d3;
ld.global.f32 %f1, [%d4];
mul.wide.s32 %d5, %r4, 4;
add.u64 %d6, %d2, %d5;
st.global.f32 [%d6], %f1;
ret;
}
"""
IMAGE = "div.u32 %r7, %r2, 49; rem.u32 %r8, %r2, 49; mad.lo.u32 %r7, %r7, 500, %r1; mad.lo.u32 %r5, %r7, 49, %r8;"
FAR = "mad.lo.s32 %r5, %r1, 100000, %r2;"


PAIRS = TEXT.replace("mul.wide.s32 %d3, %r5, 4;", "mul.wide.s32 %d3, %r5, 8;").replace(
    "ld.global.f32 %f1, [%d4];", "ld.global.v2.f32 {%f1, %f2}, [%d4]; add.f32 %f1, %f1, %f2;"
)


def distances(place: str, text: str = TEXT) -> set[int]:
    """How far behind an access, in bytes, something is asked for, in lines."""
    index = index_module(text.replace("PLACE", place))
    text = compile_seen(index, "k", Specialisation((64, 1, 1), 0), WIDE).llvm()
    asked = set(re.findall(r"llvm.prefetch.p0\(ptr (%\w+)", text))
    return {
        int(by) for name, by in re.findall(r"(%\w+) = getelementptr i8, ptr %\w+, i64 (-?\d+)", text) if name in asked
    }


@pytest.mark.parametrize(
    ("place", "wanted"),
    [
        ("mad.lo.s32 %r5, %r1, 80, %r2;", {320, 384, 448, 512}),
        ("sub.s32 %r7, 0, %r1; mad.lo.s32 %r5, %r7, 80, %r2;", {-320, -256, -192, -128}),
        ("mul.lo.s32 %r7, %r1, 5; shl.b32 %r7, %r7, 4; add.s32 %r5, %r7, %r2;", {320, 384, 448, 512}),
        (IMAGE, {196}),
    ],
    ids=["rows with gaps", "backwards", "in two steps", "pieces of images"],
)
def test_places_of_the_next_block_are_asked_for(place: str, wanted: set[int]) -> None:
    assert distances(place) == wanted


@pytest.mark.parametrize(
    "place",
    ["mov.u32 %r5, %r4;", "mov.u32 %r5, %r2;", FAR, "xor.b32 %r7, %r1, 5; mad.lo.s32 %r5, %r7, 80, %r2;"],
    ids=["one block after the other", "the same in all blocks", "far away", "not known"],
)
def test_nothing_is_asked_for(place: str) -> None:
    assert distances(place) == set()


def test_pairs_of_the_next_block_are_asked_for_whole() -> None:
    assert distances("mad.lo.s32 %r5, %r1, 80, %r2;", PAIRS) == set(range(640, 640 + 8 * 64, 64))
    assert distances("mov.u32 %r5, %r4;", PAIRS) == set()


def test_a_distance_that_only_the_launch_tells_is_kept_short() -> None:
    index = index_module(TEXT.replace("PLACE", "mad.lo.s32 %r5, %r1, %r6, %r2;"))
    text = compile_seen(index, "k", Specialisation((64, 1, 1), 0), WIDE).llvm()
    chosen = re.search(r"(%\w+) = select i1 %\w+, i64 %\w+, i64 0", text)
    assert chosen
    assert f"i64 {chosen[1]}" in text.split(chosen[0])[1]
    assert "llvm.prefetch" in text

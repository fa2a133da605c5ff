"""Masks without registers for them (AVX2): how they are made, what is stored under them, and lanes at known places."""

import re

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.simd.machine_code import assembly
from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.compiler.simd.tuning import Tuning
from anywarp.compiler.stages import compile_seen
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

AVX2 = "+avx2,+fma,+f16c,+avx,+sse4.1,+sse4.2,+bmi,+bmi2,+popcnt"
AVX512 = AVX2 + ",+avx512f,+avx512bw,+avx512dq,+avx512vl"
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

# out[i] = 2 * in[i] where in[i] > 0, for i < n; the loop has several trips, so that masks live across blocks
SOME = (
    HEAD
    + """
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<4>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
LOOP:
ld.global.u32 %r3, [%d4];
setp.le.s32 %p1, %r3, 0;
@%p1 bra NEXT;
ld.global.u32 %r5, [%d4];
add.s32 %r4, %r5, %r3;
st.global.u32 [%d5], %r4;
NEXT:
add.u64 %d4, %d4, 1024; add.u64 %d5, %d5, 1024;
add.u32 %r2, %r2, 256; setp.lt.u32 %p2, %r2, %r1; @%p2 bra LOOP;
ret;
}
"""
)

# out[7 * t % 32 + t / 32 * 32] = in[5 * t % 32 + t / 32 * 32]: places that are known and follow no step
MIXED = (
    HEAD
    + """
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b32 %r<12>; .reg .b64 %d<9>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
mov.u32 %r1, %tid.x; and.b32 %r2, %r1, -32; and.b32 %r3, %r1, 31;
mul.lo.u32 %r4, %r3, 5; and.b32 %r4, %r4, 31; add.u32 %r4, %r4, %r2;
mul.lo.u32 %r5, %r3, 7; and.b32 %r5, %r5, 31; add.u32 %r5, %r5, %r2;
mul.wide.u32 %d3, %r4, 256; add.u64 %d3, %d3, %d1; ld.global.u32 %r6, [%d3];
mul.wide.u32 %d4, %r5, 256; add.u64 %d4, %d4, %d2; st.global.u32 [%d4], %r6;
ret;
}
"""
)

# the sum of in[(k * width + tid)] over k < n, as nvcc unrolls it: two loads a trip, each `width` behind the one before
UNROLLED = (
    HEAD
    + """
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 width)
{
.reg .b32 %r<9>; .reg .b64 %d<12>; .reg .f32 %f<4>; .reg .pred %p<4>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [width];
mov.u32 %r3, %tid.x; mul.wide.u32 %d3, %r3, 4; add.u64 %d4, %d1, %d3; mul.wide.s32 %d5, %r2, 4;
mov.f32 %f1, 0f00000000; mov.u32 %r4, 0;
setp.gt.u32 %p2, %r3, 250; @%p2 bra DONE;
LOOP:
ld.global.f32 %f2, [%d4]; add.f32 %f1, %f1, %f2;
add.s64 %d6, %d4, %d5; ld.global.f32 %f3, [%d6]; add.f32 %f1, %f1, %f3;
add.s64 %d4, %d6, %d5;
add.u32 %r4, %r4, 2; setp.lt.u32 %p1, %r4, %r1; @%p1 bra LOOP;
DONE:
add.u64 %d7, %d2, %d3; st.global.f32 [%d7], %f1;
ret;
}
"""
)


def made(cpu, features=AVX2, **found):
    return make_target("x86_64-unknown-linux-gnu", cpu, features, Tuning(**found))


def seen(text, target, lanes=32):
    return compile_seen(index_module(text), "k", Specialisation((256, 1, 1), lanes), target)


def code(text, target):
    return assembly(seen(text, target).llvm(), target.triple, target.cpu, target.features, "k")


@pytest.mark.parametrize("lanes", [32, 64, 256])
@pytest.mark.parametrize("masks", [None, 0, 1])
def test_only_lanes_that_are_on_store_whichever_those_of_a_vector_are(masks, lanes):
    generator = np.random.default_rng(11)
    values = generator.integers(1, 1 << 30, 2048, dtype=np.int32)
    for vector, on in enumerate([0, 255, 1, 128, 0x55, 255, 0, 0xF0, *generator.integers(0, 256, 248)]):
        values[8 * vector : 8 * vector + 8][[not on >> lane & 1 for lane in range(8)]] *= -1
    out = np.arange(2048, dtype=np.int32) - 5000
    expected = np.where(values > 0, values * 2, out)
    program = Program(SOME, this_machine(Tuning(masks=masks)))
    program.run("k", 1, 256, [values, out, np.uint32(2048)], options=f"gang={lanes}")
    np.testing.assert_array_equal(out, expected)


def test_vectors_are_tested_for_all_lanes_and_none_only_where_masked_stores_are_slow():
    def tested(target):
        return bool(re.search(r"^whole\d+:", seen(SOME, target).llvm(), re.MULTILINE))

    assert tested(made("znver3")) and tested(made("haswell", masks=0))
    assert not tested(made("znver3", masks=1)) and not tested(made("haswell"))
    assert not tested(made("znver4", AVX512)) and not tested(made("znver4", AVX512, vector=256, masks=0))


def test_masks_are_neither_made_nor_taken_apart_bit_by_bit():
    for cpu in ("znver3", "haswell"):
        text = seen(SOME, made(cpu)).llvm()
        assert "packssdw" in text and " to <8 x i1>" not in text and "<32 x i1>" not in text
        assert not re.search(r"\b(bextrl|vpinsrb)\b", code(SOME, made(cpu)))
    for wide in (made("znver4", AVX512), made("znver4", AVX512, vector=256)):
        text = seen(SOME, wide).llvm()
        assert "packssdw" not in text and f" to <{wide.machine.chunk} x i1>" in text


def test_lanes_at_known_places_are_read_and_stored_one_by_one_where_there_is_no_quick_instruction():
    text = seen(MIXED, made("znver3")).llvm()
    assert "masked.gather" not in text and "masked.scatter" not in text
    assert "masked.gather" in seen(MIXED, made("haswell")).llvm()
    wide = seen(MIXED, made("znver4", AVX512)).llvm()
    assert "masked.gather" in wide and "masked.scatter" in wide


def test_what_lanes_at_known_places_read_arrives_where_it_belongs():
    source = np.random.default_rng(3).integers(0, 1 << 32, 256 * 64, dtype=np.uint32)
    out = np.zeros(256 * 64, np.uint32)
    Program(MIXED).run("k", 1, 256, [source, out])
    t = np.arange(256)
    expected = np.zeros(256 * 64, np.uint32)
    expected[64 * (7 * t % 32 + t // 32 * 32)] = source[64 * (5 * t % 32 + t // 32 * 32)]
    np.testing.assert_array_equal(out, expected)


def distances(text, target):
    """By how many trips, times the bytes that the parameter is multiplied by in each, loads are asked for ahead."""
    llvm = seen(text, target, 256).llvm()
    return llvm.count("call void @llvm.prefetch"), {int(f) for f in re.findall(r"mul i64 %\w+, (\d+)", llvm)}


def test_an_unrolled_loop_asks_for_its_loads_as_far_ahead_as_one_that_is_not():
    for target in (made("znver3", ahead=8), made("znver4", AVX512, ahead=8)):
        count, factors = distances(UNROLLED, target)
        assert count >= 2 * 1024 // 64  # both loads
        assert 2 * 4 in factors  # two steps a trip; 8 KiB are 8 steps, 4 trips of two loads
        assert 2 * 8 not in factors


def test_what_an_unrolled_loop_adds_up_is_right():
    source = np.random.default_rng(5).integers(0, 1000, (24, 300)).astype(np.float32)
    out = np.zeros(256, np.float32)
    Program(UNROLLED).run("k", 1, 256, [source, out, np.uint32(24), np.int32(300)])
    np.testing.assert_array_equal(out, np.where(np.arange(256) > 250, 0, source[:, :256].sum(axis=0)))

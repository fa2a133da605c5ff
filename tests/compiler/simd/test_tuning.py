"""What is found of a processor's speed, in words and in the code that goes by it."""

import re

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.simd.machine_code import assembly
from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.compiler.simd.tuning import Tuning, read_tuning, write_tuning
from anywarp.compiler.stages import compile_seen
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

AVX512 = "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512bf16,+avx2,+fma,+f16c"
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

# out[i] = in[index[i]]
GATHER = (
    HEAD
    + """
.visible .entry k(.param .u64 index, .param .u64 in, .param .u64 out)
{
.reg .b32 %r<5>; .reg .b64 %d<9>; .reg .pred %p<2>;
ld.param.u64 %d1, [index]; ld.param.u64 %d2, [in]; ld.param.u64 %d3, [out];
mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 4;
add.u64 %d5, %d1, %d4; add.u64 %d6, %d3, %d4;
ld.global.u32 %r2, [%d5];
setp.gt.s32 %p1, %r2, 1000;
mov.u32 %r3, 7;
@%p1 bra DONE;
mul.wide.s32 %d7, %r2, 4; add.u64 %d8, %d2, %d7;
ld.global.u32 %r3, [%d8];
DONE:
st.global.u32 [%d6], %r3;
ret;
}
"""
)

# the sum of in[(k * 256 + tid.x)] over k < n, rows a parameter apart
ROWS = (
    HEAD
    + """
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 width)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<3>; .reg .pred %p<2>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [width];
mov.u32 %r3, %tid.x; mov.f32 %f1, 0f00000000; mov.u32 %r4, 0; mov.u32 %r5, %r3;
LOOP:
mul.wide.s32 %d3, %r5, 4; add.u64 %d4, %d1, %d3; ld.global.f32 %f2, [%d4];
add.f32 %f1, %f1, %f2; add.s32 %r5, %r5, %r2; add.u32 %r4, %r4, 1;
setp.lt.u32 %p1, %r4, %r1; @%p1 bra LOOP;
mul.wide.u32 %d5, %r3, 4; add.u64 %d6, %d2, %d5; st.global.f32 [%d6], %f1;
ret;
}
"""
)


def target(cpu="skylake-avx512", **found):
    return make_target("x86_64-unknown-linux-gnu", cpu, AVX512, Tuning(**found))


def seen(text, made, lanes=32, block=(256, 1, 1)):
    return compile_seen(index_module(text), "k", Specialisation(block, lanes), made)


@pytest.mark.parametrize(
    ("tuning", "text"),
    [
        (Tuning(), ""),
        (Tuning(stream=16), "stream=16"),
        (Tuning(ahead=2, gathers=0, pairs=1, stream=64, vector=256), "ahead=2,gathers=0,pairs=1,stream=64,vector=256"),
        (Tuning(ahead=2, gathers=0, masks=0, pairs=1), "ahead=2,gathers=0,masks=0,pairs=1"),
        (Tuning(ahead=2, beside=0, gathers=0), "ahead=2,beside=0,gathers=0"),
        (Tuning(beside=1, first=0, gathers=0), "beside=1,first=0,gathers=0"),
        (Tuning(stream=16, tiles=1, vector=256), "stream=16,tiles=1,vector=256"),
        (Tuning(measured=True), ""),
    ],
)
def test_choices_as_words_and_back(tuning, text):
    assert write_tuning(tuning) == text
    assert write_tuning(read_tuning(text)) == text


@pytest.mark.parametrize(
    "text",
    ["stream=0", "stream=32", "stream=-1", "stream=4096", "vector=128", "gathers=2", "masks=2", "masks=1,gathers=0", "pace=1", "stream=16,ahead=2", "stream",
     "stream=16,", " ", "measured=1", "stream=٣"],
)  # fmt: skip
def test_words_that_nobody_wrote_are_refused(text):
    with pytest.raises(ValueError, match="choice"):
        read_tuning(text)


def test_stores_go_past_the_caches_from_the_size_found():
    for mib in (32, 8):
        text = seen(ROWS, target(stream=mib)).llvm()
        assert "!nontemporal" in text
        assert f", {(mib << 20) // 4}\n" in text


def test_vectors_of_distant_trips_are_asked_for_whole():
    text = ROWS.replace("mul.wide.s32 %d3, %r5, 4;", "mul.wide.s32 %d3, %r5, 16;").replace(
        "ld.global.f32 %f2, [%d4];", "ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [%d4]; add.f32 %f2, %f2, %f5;"
    ).replace("%f<3>", "%f<6>")  # fmt: skip
    asked = re.findall(r"call void @llvm.prefetch", seen(text, target()).llvm())
    assert len(asked) == 32 * 16 // 64  # the lines of a gang of 32 lanes


def ahead(kib):
    """How many widths ahead a wide gang asks for its rows: KiB / 1 KiB."""
    text = seen(ROWS, target(ahead=kib), lanes=256).llvm()
    assert "llvm.prefetch" in text
    factors = {int(f) for f in re.findall(r"mul i64 %\w+, (\d+)", text)}
    return {f for f in factors if f % 4 == 0}


def test_loads_are_asked_for_as_far_ahead_as_was_found():
    assert 4 * 2 in ahead(2) and 4 * 8 not in ahead(2)
    assert 4 * 8 in ahead(8)


# the sum of in[i] for i = the thread's number in the grid, and every `width`-th from there on
GRID = ROWS.replace(
    "mov.u32 %r3, %tid.x;",
    "mov.u32 %r3, %tid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x; mad.lo.u32 %r3, %r6, %r7, %r3;",
)


@pytest.mark.parametrize(
    ("cpu", "found", "asks"),
    [
        ("znver4", {}, True),
        ("skylake-avx512", {}, False),
        ("znver4", {"beside": 0}, False),
        ("skylake-avx512", {"beside": 1}, True),
    ],
)
def test_loops_of_a_grid_ask_for_the_next_block_where_that_was_found_to_pay(cpu, found, asks):
    text = seen(GRID, target(cpu, **found), lanes=256).llvm()
    lines = re.findall(r"getelementptr i8, ptr %\w+, i64 (\d+)", text)
    asked = text.count("call void @llvm.prefetch.p0(")
    assert asked % 16 == 0 and asked > 0
    assert ("1024" in lines and "1984" in lines) == asks  # the block's 256 floats further on


# out[2 i] = in[4 i], by way of shared memory
MEMBERS = (
    HEAD
    + """
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b32 %r<5>; .reg .b64 %d<9>;
.shared .align 4 .b8 kept[4096];
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 16; add.u64 %d4, %d1, %d3;
ld.global.u32 %r2, [%d4];
mul.lo.u32 %r3, %r1, 12; mov.u32 %r4, kept; add.u32 %r3, %r3, %r4;
st.shared.u32 [%r3], %r2; ld.shared.u32 %r2, [%r3];
mul.wide.u32 %d5, %r1, 8; add.u64 %d6, %d2, %d5;
st.global.u32 [%d6], %r2;
ret;
}
"""
)


@pytest.mark.parametrize(
    ("cpu", "found", "asks"),
    [
        ("znver4", {}, False),
        ("znver5", {}, True),
        ("znver5", {"first": 0}, False),
        ("skylake-avx512", {"first": 1}, True),
        ("znver5", {"vector": 256}, False),
    ],
)
def test_vectors_under_masks_in_far_memory_are_asked_for_first_where_that_was_found_to_pay(cpu, found, asks):
    text = seen(MEMBERS, target(cpu, **found)).llvm()
    asked = re.findall(r"call void @llvm\.prefetch\.p0\(ptr (%\w+), i32 (\d)", text)
    # 32 lanes' members lie in eight vectors to be read, in four to be written
    assert [kind for _, kind in asked] == (["0"] * 8 + ["1"] * 4 if asks else [])
    for pointer, _ in asked:
        before, _, behind = text.partition(f"call void @llvm.prefetch.p0(ptr {pointer},")
        accessed = f"ptr align 4 {pointer}, <16 x i1>"
        assert accessed in behind and accessed not in before


def test_lanes_are_read_one_by_one_where_that_is_quicker_and_the_results_are_the_same():
    made = target(gathers=0)
    for one, there in ((target(), True), (made, False)):
        code = seen(GATHER, one)
        text = assembly(code.llvm(), one.triple, one.cpu, one.features, "k")
        assert ("gather" in text) == there
    if not this_machine().machine.avx512:
        return
    index = np.random.default_rng(3).integers(0, 2000, 256, dtype=np.int32)
    source = np.arange(1001, dtype=np.uint32) * 3
    for gathers in (0, 1):
        out = np.zeros(256, np.uint32)
        Program(GATHER, this_machine(Tuning(gathers=gathers))).run("k", 1, 256, [index, source, out])
        np.testing.assert_array_equal(out, np.where(index > 1000, 7, source[np.minimum(index, 1000)]))


def test_vectors_are_as_wide_as_is_quicker():
    assert "<16 x float>" in seen(ROWS, target()).llvm()
    narrow = seen(ROWS, target(vector=256)).llvm()
    assert "<16 x float>" not in narrow and "<8 x float>" in narrow and '"prefer-vector-width"="256"' in narrow
    assert this_machine(Tuning(vector=256)).machine.vector_bits <= 256


def test_pairs_are_as_was_measured_where_that_differs_from_the_name():
    assert [target(cpu, pairs=p).machine.quick_bf16 for cpu in ("znver4", "sapphirerapids") for p in (None, 0, 1)] == [
        True, False, True, False, False, True,
    ]  # fmt: skip

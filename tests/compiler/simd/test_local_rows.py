"""Lanes that go on at rows of their own in arrays that each thread has for itself: few rows, many, and others from block to block."""

from __future__ import annotations

import re

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.simd.target import SimdTarget, make_target, this_machine
from anywarp.compiler.stages import compile_seen
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

WIDE = make_target(
    "x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"
)
HALF = make_target("x86_64-unknown-linux-gnu", "znver3", "+avx2,+fma,+f16c")
COUNT = 44

# row[j] = in[i] + 3 j; then, unrolled, row[j] += j below the last multiple of four, and row[j] = 2 row[j] from there to length[i];
# out[i] = the sum of row[j] (j + 1)
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 length, .param .u64 in, .param .u64 out)
{
.local .align 8 .b8 row[BYTES];
.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<3>; .reg .REG %v<9>;
ld.param.u64 %d1, [length]; ld.param.u64 %d2, [in]; ld.param.u64 %d3, [out];
mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r2, %r1, %r3, %r4;
mul.wide.s32 %d4, %r2, 4; add.u64 %d1, %d1, %d4; ld.global.u32 %r5, [%d1];
mul.wide.s32 %d4, %r2, SIZE; add.u64 %d2, %d2, %d4; add.u64 %d3, %d3, %d4;
ld.global.TYPE %v1, [%d2];
mov.u64 %d6, row;
mov.u32 %r7, 0;
FILL:
mul.wide.u32 %d7, %r7, SIZE; add.u64 %d8, %d6, %d7;
mul.lo.u32 %r8, %r7, 3; CVT.SUM.u32 %v2, %r8; add.SUM %v2, %v1, %v2;
st.local.TYPE [%d8], %v2;
add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 44; @%p1 bra FILL;
mov.u32 %r7, 0;
and.b32 %r9, %r5, 3; sub.u32 %r10, %r5, %r9;
setp.eq.u32 %p1, %r10, 0; @%p1 bra REST;
FOUR:
mul.wide.u32 %d7, %r7, SIZE; add.u64 %d8, %d6, %d7;
STEPS
add.u32 %r7, %r7, 4; setp.ne.u32 %p1, %r7, %r10; @%p1 bra FOUR;
REST:
setp.eq.u32 %p1, %r9, 0; @%p1 bra DONE;
mul.wide.u32 %d7, %r7, SIZE; add.u64 %d8, %d6, %d7;
ld.local.TYPE %v2, [%d8]; add.SUM %v2, %v2, %v2; st.local.TYPE [%d8], %v2;
setp.eq.u32 %p1, %r9, 1; @%p1 bra DONE;
ld.local.TYPE %v2, [%d8+SIZE]; add.SUM %v2, %v2, %v2; st.local.TYPE [%d8+SIZE], %v2;
setp.eq.u32 %p1, %r9, 2; @%p1 bra DONE;
ld.local.TYPE %v2, [%d8+TWICE]; add.SUM %v2, %v2, %v2; st.local.TYPE [%d8+TWICE], %v2;
DONE:
mov.u32 %r7, 0; CVT.SUM.u32 %v3, %r7;
ADD:
mul.wide.u32 %d7, %r7, SIZE; add.u64 %d8, %d6, %d7;
ld.local.TYPE %v4, [%d8];
add.u32 %r8, %r7, 1; CVT.SUM.u32 %v5, %r8; MUL.SUM %v4, %v4, %v5; add.SUM %v3, %v3, %v4;
add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 44; @%p1 bra ADD;
st.global.TYPE [%d3], %v3;
ret;
}
"""
STEP = "add.u32 %r8, %r7, NUMBER; CVT.SUM.u32 %v5, %r8; ld.local.TYPE %v2, [%d8+AT]; add.SUM %v2, %v2, %v5; st.local.TYPE [%d8+AT], %v2;"
TYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32, "f64": np.float64}


def text(type: str) -> str:
    size = np.dtype(TYPES[type]).itemsize
    steps = "\n".join(STEP.replace("NUMBER", str(k)).replace("AT", str(k * size)) for k in range(4))
    whole, sums = type[0] == "u", {"u8": "u16"}.get(type, type)
    out = TEXT.replace("STEPS", steps).replace("CVT", "cvt" if whole else "cvt.rn")
    out = (
        out.replace("MUL", "mul.lo" if whole else "mul")
        .replace("BYTES", str(COUNT * size))
        .replace("SIZE", str(size))
        .replace("TWICE", str(2 * size))
    )
    return out.replace("REG", "b16" if whole else type).replace("TYPE", type).replace("SUM", sums)


def wanted(type: str, lengths: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Elements wrap around, or are whole numbers that each type holds exactly."""
    j, whole = np.arange(COUNT)[None], lengths[:, None] // 4 * 4
    row = source.astype(np.int64)[:, None] + 3 * j
    row = np.where(j < whole, row + j, np.where(j < lengths[:, None], 2 * row, row))
    return (row * (j + 1)).sum(1).astype(TYPES[type])


def lengths_of(kind: str, rng: np.random.Generator, blocks: int, threads: int) -> np.ndarray:
    """Lengths of words: of some blocks few differ, of others many, so that what was met last does not serve."""
    few, many = rng.integers(17, 40, (blocks, threads)), rng.integers(0, COUNT + 1, (blocks, threads))
    shifted = few % 9 + 4 * np.arange(blocks)[:, None] % 32
    chosen = {"few": few, "many": many, "others": shifted}.get(kind)
    if chosen is None:
        chosen = np.where(np.arange(blocks)[:, None] % 3 == 1, many, shifted)
    return chosen.astype(np.uint32).ravel()


@pytest.mark.parametrize("type", TYPES)
def test_lanes_at_rows_of_their_own(type: str) -> None:
    here = this_machine()
    old = [make_target(here.triple, "znver3", "+avx2,+fma,+f16c")] if here.machine.avx2 else []
    for target in [here, *old]:
        program = Program(text(type), target)
        for kind in ("few", "many", "others", "few and many"):
            for threads, gang in ((64, 64), (41, 32)):
                rng = np.random.default_rng(threads)
                lengths = lengths_of(kind, rng, 12, threads)
                source = (rng.integers(0, 50, lengths.size)).astype(TYPES[type])
                out = np.zeros_like(source)
                program.run("k", 12, threads, [lengths, source, out], options=f"gang={gang}")
                np.testing.assert_array_equal(out, wanted(type, lengths, source), kind)


def llvm(target: SimdTarget, type: str = "u8", lanes: int = 32) -> str:
    specialisation = Specialisation((32, 1, 1), lanes)
    return compile_seen(index_module(text(type)), "k", specialisation, target).llvm()


@pytest.mark.parametrize("target", [WIDE, HALF], ids=["masks", "no masks"])
def test_rows_are_accessed_whole(target: SimdTarget) -> None:
    code = llvm(target)
    assert re.search(r"call fastcc <32 x i8> @aw.rows.load.i8", code)
    assert re.search(r"call fastcc void @aw.rows.store.i8", code)
    assert not re.search(r"masked\.(load|store)\.v\d+i8\.", code)  # of the loop that lanes leave at different trips


def test_single_lanes_have_no_rows() -> None:
    assert "aw.rows" not in llvm(WIDE, lanes=1)

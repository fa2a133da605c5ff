"""Four bytes of each lane that lie side by side are read as one word, with what is stored between them as it was."""

from __future__ import annotations

import ctypes
import mmap
import re

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.compiler.stages import compile_seen
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

WIDE = make_target(
    "x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"
)

# if (i < n) out[i] = b[0] + 3 b[1] + 9 b[2] + 27 b[3], b = in + 40 i; BETWEEN stands between the second and the third
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .b16 %h<9>;
.shared .align 4 .b8 tile[512];
.local .align 4 .b8 own[8];
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r6, [n];
mov.u32 %r2, %tid.x;
setp.ge.u32 %p1, %r2, %r6;
@%p1 bra DONE;
mul.wide.u32 %d3, %r2, STEP;
add.u64 %d4, %d1, %d3;
mul.wide.u32 %d5, %r2, 4;
add.u64 %d6, %d2, %d5;
mov.u32 %r7, tile;
add.u32 %r7, %r7, %r2;
ld.global.u8 %h2, [%d4+2];
ld.global.u8 %h0, [%d4];
BETWEEN
ld.global.u8 %h1, [%d4+1];
ld.global.s8 %h3, [%d4+3];
cvt.u32.u16 %r8, %h0; cvt.u32.u16 %r9, %h1; cvt.u32.u16 %r10, %h2; cvt.s32.s16 %r11, %h3;
mad.lo.s32 %r8, %r9, 3, %r8; mad.lo.s32 %r8, %r10, 9, %r8; mad.lo.s32 %r8, %r11, 27, %r8;
st.global.u32 [%d6], %r8;
DONE:
ret;
}
"""
SHARED, LOCAL = "st.shared.u8 [%r7], 7;", "st.local.u8 [own+1], 7;"
GLOBAL = "st.global.u8 [%d4+1], 7;"


def text(between: str, step: int) -> str:
    return TEXT.replace("BETWEEN", between).replace("STEP", str(step))


def gathers(between: str, step: int = 40) -> tuple[int, int]:
    """How many gathers of words and of bytes the LLVM text of 32 lanes has."""
    index = index_module(text(between, step))
    llvm = compile_seen(index, "k", Specialisation((32, 1, 1), 32), WIDE).llvm()
    return tuple(len(re.findall(rf"call <16 x i{bits}> @llvm.masked.gather", llvm)) for bits in (32, 8))  # type: ignore[return-value]


def wanted(source: np.ndarray, step: int, lanes: np.ndarray, second: int | None) -> np.ndarray:
    b = [source[lanes * step + k].astype(np.int64) for k in range(4)]
    last = np.where(b[3] > 127, b[3] - 256, b[3])
    return b[0] + 3 * (b[1] if second is None else second) + 9 * b[2] + 27 * last


@pytest.mark.parametrize("between", ["", SHARED, LOCAL], ids=["nothing", "shared", "local"])
def test_bytes_of_a_lane_are_read_as_a_word(between: str) -> None:
    words, bytes = gathers(between)
    assert words and not bytes


@pytest.mark.parametrize("between", [GLOBAL, "membar.gl;"], ids=["store", "fence"])
def test_what_another_access_may_change_is_read_behind_it(between: str) -> None:
    assert gathers(between)[0] == 0


def test_bytes_of_neighbouring_lanes_are_read_as_vectors() -> None:
    assert gathers("", 1) == (0, 0)


@pytest.mark.parametrize("gang", [32, 64])
@pytest.mark.parametrize("between", ["", SHARED, LOCAL, GLOBAL], ids=["nothing", "shared", "local", "global"])
def test_bytes_are_what_they_were(between: str, gang: int) -> None:
    here = this_machine()
    old = [make_target(here.triple, "znver3", "+avx2,+fma,+f16c")] if here.machine.avx2 else []
    for target in [here, *old]:
        for step in (40, 5, 1):
            if between == GLOBAL and step == 1:
                continue  # lanes write what others read
            program = Program(text(between, step), target)
            for n in (64, 41, 1, 0):
                source = np.random.default_rng(n).integers(0, 256, 64 * 40, dtype=np.uint8)
                before, out = source.copy(), np.zeros(64, np.int32)
                program.run("k", 1, 64, [source, out, n], options=f"gang={gang}")
                want = np.zeros(64)
                want[:n] = wanted(before, step, np.arange(n), 7 if between == GLOBAL else None)
                np.testing.assert_array_equal(out, want)


def test_nothing_behind_the_last_byte_is_read() -> None:
    """The last lane's last byte is the last of mapped memory, and lanes that are off have theirs behind it."""
    page, n = mmap.PAGESIZE, 41
    area = mmap.mmap(-1, 3 * page)
    start = np.frombuffer(area, np.uint8).ctypes.data
    size = 40 * (n - 1) + 4
    source = np.frombuffer(area, np.uint8, size, 2 * page - size)
    source[:] = np.random.default_rng(8).integers(0, 256, size)
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + 2 * page), page, 0) == 0
    out = np.zeros(64, np.int32)
    Program(text("", 40)).run("k", 1, 64, [source, out, n])
    np.testing.assert_array_equal(out[:n], wanted(source, 40, np.arange(n), None))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + 2 * page), page, 3) == 0

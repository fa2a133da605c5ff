"""Lanes kept within bounds: what they read is theirs, and nothing is read of pages that no lane that is on names."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pytest

from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.devices.cpu.execute import Program

# x = STEP tid + first; if (lane & odd == 0 && x >= 0 || UNGUARDED) out[tid] = in[CLAMP x]
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 first, .param .u32 n, .param .u32 odd)
{
.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<4>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r3, [first]; ld.param.u32 %r4, [n]; ld.param.u32 %r5, [odd];
mov.u32 %r2, %tid.x;
mad.lo.s32 %r6, %r2, STEP, %r3; add.s32 %r7, %r4, -1;
CLAMP
mul.wide.u32 %d3, %r2, 4; add.u64 %d4, %d2, %d3;
GUARD
mul.wide.s32 %d5, %r8, 4; add.u64 %d6, %d1, %d5;
ld.global.u32 %r9, [%d6];
st.global.u32 [%d4], %r9;
DONE: ret;
}
"""
BOTH = "min.s32 %r8, %r6, %r7; max.s32 %r8, %r8, 0;"
ABOVE = "min.s32 %r8, %r6, %r7;"
ODD = "and.b32 %r10, %r2, %r5; setp.ne.u32 %p1, %r10, 0; @%p1 bra DONE;"
POSITIVE = "setp.lt.s32 %p2, %r6, 0; @%p2 bra DONE;"
WAYS = {
    "all": (BOTH, ""),
    "some": (BOTH, ODD),
    "those within": (ABOVE, POSITIVE),
    "some within": (ABOVE, ODD + POSITIVE),
}
PAGE = mmap.PAGESIZE


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("way", WAYS)
def test_lanes_at_the_edge_of_memory_read_what_is_theirs(way: str, step: int) -> None:
    area, protect = mmap.mmap(-1, 3 * PAGE), ctypes.CDLL(None).mprotect
    start = np.frombuffer(area, np.uint8).ctypes.data
    words = np.frombuffer(area, np.uint32, PAGE // 4, PAGE)
    words[:] = np.random.default_rng(1).integers(1, 1 << 32, PAGE // 4, dtype=np.uint32)
    here = this_machine()
    old = [make_target(here.triple, "znver3", "+avx2,+fma,+f16c")] if here.machine.avx2 else []
    clamp, guard = WAYS[way]
    for page in (0, 2):
        assert protect(ctypes.c_void_p(start + page * PAGE), ctypes.c_size_t(PAGE), 0) == 0
    for target in [here, *old]:
        program = Program(TEXT.replace("CLAMP", clamp).replace("GUARD", guard).replace("STEP", str(step)), target)
        for n in (1, 5, 16, 100):
            for source in (words[:n], words[-n:]):
                for first in (-70, -33, -5, -2, 0, n - 40, n - 20, n - 13, n - 1, n + 3, n + 40):
                    for odd in (0, 1, 3, 16):
                        out, x = np.zeros(64, np.uint32), step * np.arange(64) + first
                        program.run("k", 1, 64, [source, out, first, n, odd])
                        on = (np.arange(64) & odd == 0) | (ODD not in guard)
                        on &= (x >= 0) | (POSITIVE not in guard)
                        want = np.where(on, source[np.clip(x, 0, n - 1)], 0)
                        np.testing.assert_array_equal(out, want, str((n, first, odd)))
    for page in (0, 2):
        assert protect(ctypes.c_void_p(start + page * PAGE), ctypes.c_size_t(PAGE), 3) == 0

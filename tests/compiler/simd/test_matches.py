"""Lanes that hold the same (`match.any`), of numbers of few bits and of many, among all lanes of a warp and some."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.devices.cpu.execute import Program

# out[i] = the lanes of i's warp that are on and whose key, after STEP, is that of i; 0 for those that are off
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 keys, .param .u64 on, .param .u64 out)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .b16 %h1; .reg .TYPE %v1;
ld.param.u64 %d1, [keys]; ld.param.u64 %d2, [on]; ld.param.u64 %d3, [out];
mov.u32 %r2, %tid.x;
mul.wide.u32 %d4, %r2, 4;
add.u64 %d5, %d1, %d4;
add.u64 %d6, %d3, %d4;
cvt.u64.u32 %d7, %r2;
add.u64 %d7, %d2, %d7;
ld.global.u8 %h1, [%d7];
setp.eq.u16 %p1, %h1, 0;
@%p1 bra DONE;
ld.global.u32 %r3, [%d5];
STEP
activemask.b32 %r4;
match.any.sync.TYPE %r5, %v1, %r4;
st.global.u32 [%d6], %r5;
DONE:
ret;
}
"""
STEPS = {
    "one bit": ("and.b32 %v1, %r3, 1;", "b32", lambda k: k & 1),
    "six bits": ("and.b32 %v1, %r3, 63;", "b32", lambda k: k & 63),
    "the upper six bits": ("shr.u32 %v1, %r3, 26;", "b32", lambda k: k >> 26),
    "bits that are not the lowest": ("and.b32 %v1, %r3, 0x2a0;", "b32", lambda k: k & 0x2A0),
    "five bits of a wide number": ("and.b32 %r3, %r3, 31; cvt.u64.u32 %v1, %r3;", "b64", lambda k: k & 31),
    "twelve bits": ("and.b32 %v1, %r3, 4095;", "b32", lambda k: k & 4095),
    "all bits": ("mov.b32 %v1, %r3;", "b32", lambda k: k),
    "a sign": ("shr.s32 %v1, %r3, 30;", "b32", lambda k: k.view(np.int32) >> 30),
}


def same(keys: np.ndarray, on: np.ndarray) -> np.ndarray:
    """By definition, lane by lane."""
    out = np.zeros(keys.size, np.uint32)
    for i in np.flatnonzero(on):
        warp = range(i // 32 * 32, i // 32 * 32 + 32)
        out[i] = sum(1 << lane % 32 for lane in warp if on[lane] and keys[lane] == keys[i])
    return out


@pytest.mark.parametrize("gang", [32, 64])
@pytest.mark.parametrize("step", STEPS)
def test_lanes_that_hold_the_same_are_found(step: str, gang: int) -> None:
    rng = np.random.default_rng(5)
    instructions, type, key = STEPS[step]
    text = TEXT.replace("STEP", instructions).replace("TYPE", type)
    here = this_machine()
    old = [make_target(here.triple, "znver3", "+avx2,+fma,+f16c")] if here.machine.avx2 else []
    if here.machine.gfni:
        old.append(make_target(here.triple, here.cpu, here.features.replace("+gfni", "-gfni")))
    for target in [here, *old]:
        program = Program(text, target)
        for keys in (rng.integers(0, 2**32, 128), rng.choice(rng.integers(0, 2**32, 9), 128), np.full(128, 2**32 - 1)):
            keys = keys.astype(np.uint32)
            for on in (np.ones(128), rng.integers(0, 2, 128), np.arange(128) % 32 == 9):
                out = np.zeros(128, np.uint32)
                program.run("k", 1, 128, [keys, on.astype(np.uint8), out], options=f"gang={gang}")
                np.testing.assert_array_equal(out, same(key(keys), on))

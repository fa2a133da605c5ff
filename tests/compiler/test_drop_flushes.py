"""Flushes of what cannot be subnormal go; all others stay."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.ptx.index import index_module
from semantics.devices import DEVICES

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
.reg .f32 %f<12>; .reg .b32 %r<6>; .reg .b64 %p<4>; .reg .pred %q<3>;
ld.param.u64 %p0, [in]; ld.param.u64 %p1, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %p2, %r0, 4;
add.u64 %p0, %p0, %p2; add.u64 %p1, %p1, %p2;
ld.global.f32 %f0, [%p0]; ld.global.f32 %f1, [%p0+128]; ld.global.u32 %r1, [%p0+256]; setp.gt.s32 %q0, %r1, 0;
{body}
st.global.f32 [%p1], %f9; ret; }}
"""
CASES = {
    # what is computed, and how many flushes are needed: of two operands and a result, three
    "one instruction": ("mul.ftz.f32 %f9, %f0, %f1;", 3),
    "its result again": ("mul.ftz.f32 %f2, %f0, %f1; mul.ftz.f32 %f9, %f2, %f2;", 4),
    "the greater of two results": (
        "mul.ftz.f32 %f2, %f0, %f1; add.ftz.f32 %f3, %f0, %f1; max.f32 %f4, %f2, %f3; mul.ftz.f32 %f9, %f4, %f4;", 5,
    ),
    "one of a result and what came from memory": (
        "mul.ftz.f32 %f2, %f0, %f1; selp.f32 %f3, %f2, %f0, %q0; mul.ftz.f32 %f9, %f3, %f3;", 5,
    ),
    "a whole number": ("cvt.rn.f32.s32 %f2, %r1; mul.ftz.f32 %f9, %f2, %f2;", 1),
    "carried round a loop": (
        "mul.ftz.f32 %f9, %f0, %f1; mov.u32 %r2, 0; again: mul.ftz.f32 %f9, %f9, %f1; add.u32 %r2, %r2, 1; "
        "setp.lt.u32 %q1, %r2, 3; @%q1 bra again;", 4,
    ),
    "carried round a loop from memory": (
        "mov.f32 %f9, %f0; mov.u32 %r2, 0; again: mul.ftz.f32 %f9, %f9, %f1; add.u32 %r2, %r2, 1; "
        "setp.lt.u32 %q1, %r2, 3; @%q1 bra again;", 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_only_needed_flushes_are_left(case):
    body, needed = CASES[case]
    text = TEXT.format(body=body)
    kernel = prepare_kernel(IndexedModule(index_module(text)), "k", Specialisation((32, 1, 1)), checked=True)
    assert sum(op.name == "flush" for block in kernel.blocks for op in block.ops) == needed


@pytest.mark.parametrize("case", CASES)
def test_results_stay_the_same(case):
    rng = np.random.default_rng(4)
    source = np.zeros(96, np.uint32)
    source[:64] = rng.integers(0, 1 << 23, 64)  # subnormal, and some near the least normal number
    source[:64:3] = (rng.normal(size=22) * 2.0**-100).astype(np.float32).view(np.uint32)
    source[64:] = rng.integers(-9, 9, 32).astype(np.int32).view(np.uint32)
    text, found = TEXT.format(body=CASES[case][0]), {}
    for device in ("reference", "cpu"):
        found[device] = np.zeros(32, np.uint32)
        DEVICES[device](text, "k", 1, 32, (source, found[device]))
    assert (found["reference"] == found["cpu"]).all()

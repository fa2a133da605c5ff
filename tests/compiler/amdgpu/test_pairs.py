"""Arithmetic of f16x2 on AMD GPUs: one packed instruction for both halves, and numpy's values."""

import re

import numpy as np
import pytest

from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.variants import analyse_for_variant
from anywarp.ptx.index import index_module

ARCHS = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
KERNEL = """
.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x_, .param .u64 y_, .param .u64 out_, .param .f32 a_) {
  .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .b64 %d<6>; .reg .f32 %f;
  ld.param.u64 %d0, [x_]; ld.param.u64 %d1, [y_]; ld.param.u64 %d2, [out_]; ld.param.f32 %f, [a_];
  mov.u32 %r0, %tid.x; mul.wide.u32 %d3, %r0, 4;
  add.u64 %d0, %d0, %d3; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  ld.global.b32 %r1, [%d0]; ld.global.b32 %r2, [%d1];
  cvt.rn.f16.f32 %h0, %f; mov.b32 %r3, {%h0, %h0};
  BODY
  st.global.b32 [%d2], %r9;
}
"""
CHAIN = "mul.f16x2 %r4, %r1, %r2; fma.rn.f16x2 %r9, %r3, %r1, %r4;"
CROSSED = """mov.b32 {%h1, %h2}, %r1; mov.b32 %r5, {%h2, %h1}; sub.f16x2 %r6, %r2, %r5; add.f16x2 %r7, %r6, %r3;
  mov.b32 {%h1, %h2}, %r7; mul.f16 %h2, %h2, %h1; mov.b32 %r9, {%h1, %h2};"""


@pytest.mark.parametrize("arch", ARCHS)
def test_halves_that_are_computed_alike_are_one_instruction(arch):
    target, shape = make_target(arch), Specialisation((64, 1, 1))
    kernel = prepare_kernel(IndexedModule(index_module(KERNEL.replace("BODY", CHAIN))), "k", shape)
    analysis, _ = analyse_for_variant(kernel, shape)
    code = target.assembly(kernel, analysis, shape)
    floats = [name.removesuffix("_e32") for name in re.findall(r"^\s*(v_\w+_f16\w*)", code, re.M) if "cvt" not in name]
    assert floats == ["v_pk_mul_f16", "v_pk_fma_f16"], code
    assert "op_sel_hi:[0,1,1]" in code  # the number that stands in both halves is not packed


@pytest.mark.amd_emulator
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("body", [CHAIN, CROSSED], ids=["chain", "crossed"])
def test_pairs_have_the_values_of_numpy(arch, body):
    from semantics.emulated import Program

    random = np.random.default_rng(3)
    x, y = random.normal(size=(2, 128)).astype(np.float16)
    out, a = np.zeros(128, np.float16), np.float32(0.7)
    Program(KERNEL.replace("BODY", body), arch).run("k", 1, 64, (x.copy(), y.copy(), out, a))
    half = np.float16(a)
    if body is CHAIN:
        wanted = (np.float64(half) * x + (x * y).astype(np.float64)).astype(np.float16)  # exact, rounded once
    else:
        wanted = y - x.reshape(-1, 2)[:, ::-1].reshape(-1) + half
        wanted[1::2] *= wanted[::2]
    np.testing.assert_array_equal(out.view(np.uint16), wanted.view(np.uint16))

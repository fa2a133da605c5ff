"""Vectors of floats become integers as the manual says (9.7.9.21): rounded, clamped, all lanes at once."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import make_target
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

SOURCES = {"f32": ("f", np.float32, 4), "f64": ("g", np.float64, 8)}
TARGETS = ["s16", "u16", "s32", "u32", "s64", "u64"]
ROUND = {"rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil, "rni": round}


def kernel(source, target, rounding):
    letter, _, size = SOURCES[source]
    bits = int(target[1:])
    register = {16: "%h1", 32: "%r1", 64: "%d5"}[bits]
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<9>; .reg .f32 %f<4>; .reg .f64 %g<4>;
ld.param.u64 %d1,[in]; ld.param.u64 %d2,[out]; mov.u32 %r2,%tid.x;
mul.wide.u32 %d3,%r2,{size}; add.u64 %d3,%d1,%d3; mul.wide.u32 %d4,%r2,{bits // 8}; add.u64 %d4,%d2,%d4;
ld.global.{source} %{letter}1,[%d3];
cvt.{rounding}.{target}.{source} {register},%{letter}1;
st.global.{target} [%d4],{register};
ret;
}}
"""


def numbers(source, target):
    """The edges of the integers with their neighbours, halves, tiny ones, endless ones, and others at random."""
    type = SOURCES[source][1]
    bits, signed = int(target[1:]), target[0] == "s"
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    edges = [
        type(x) for x in (low - 1, low, low + 1, high - 1, high, high + 1, 0, 1 << 31, 1 << 32, 1 << 63, -(1 << 31))
    ]
    near = [np.nextafter(e, type(s) * type(np.inf)) for e in edges for s in (-1, 1)]
    some = [
        type(x) for x in (0.5, 1.5, 2.5, -0.5, -1.5, -0.75, -0.0, 1e-40, -1e-40, 3e38, -3e38, np.inf, -np.inf, 0.999)
    ]
    r = np.random.default_rng(7)
    rest = [type(x) for x in (r.random(256 - len(edges) - len(near) - len(some)) - 0.5) * 3.0 * float(high)]
    return np.array([*edges, *near, *some, *rest], type), low, high


@pytest.mark.parametrize("rounding", ROUND)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_lane_is_rounded_and_clamped(source, target, rounding):
    values, low, high = numbers(source, target)
    out = np.zeros(256, f"{'i' if target[0] == 's' else 'u'}{int(target[1:]) // 8}")
    Program(kernel(source, target, rounding)).run("k", 1, 256, (values, out), options="")
    wanted = []
    for x in values.tolist():
        whole = (high if x > 0 else low) if math.isinf(x) else ROUND[rounding](Fraction(x))
        wanted.append(min(max(whole, low), high))
    assert out.tolist() == wanted


@pytest.mark.parametrize("target", ["s16", "u16", "s32", "u32"])
def test_no_number_is_zero(target):
    values, out = (
        np.where(np.arange(64) % 3 == 1, np.nan, np.arange(64) + 0.5).astype(np.float32),
        np.zeros(64, np.uint64),
    )
    out = np.zeros(64, f"{'i' if target[0] == 's' else 'u'}{int(target[1:]) // 8}")
    Program(kernel("f32", target, "rzi")).run("k", 1, 64, (values, out), options="")
    assert out.tolist() == [0 if i % 3 == 1 else i for i in range(64)]


@pytest.mark.parametrize(
    "features", ["+avx,+avx2,+fma,+f16c", "+avx,+avx2,+fma,+f16c,+avx512f,+avx512vl,+avx512bw,+avx512dq"]
)
@pytest.mark.parametrize("target", ["s16", "s32"])
def test_vectors_stay_whole(target, features):
    """LLVM's own saturating conversion compares and branches for each lane."""
    machine = make_target("x86_64-unknown-linux-gnu", "x86-64", features)
    made = prepare_kernel(IndexedModule(index_module(kernel("f32", target, "rzi"))), "k", Specialisation((32, 1, 1)))
    from anywarp.compiler.analysis import analyse
    from anywarp.compiler.simd.machine_code import assembly

    how = Specialisation((32, 1, 1), 32)
    text = machine.emit_text(made, analyse(made, how), how)[0]
    lines = assembly(text, machine.triple, machine.cpu, machine.features, "k").splitlines()
    assert any("cvttps2dq" in line for line in lines)
    assert not any("cvttss2si" in line or "ucomiss" in line for line in lines)

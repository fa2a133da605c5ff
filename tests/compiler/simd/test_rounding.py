"""Rounding to integral values with instructions and without (before SSE 4.1): every edge, also the sign of zero, by numpy's functions."""

from __future__ import annotations

import platform

import numpy as np
import pytest

from anywarp.compiler.simd.target import SimdTarget, make_target, this_machine
from anywarp.devices.cpu.execute import Program

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="runs code for an x86 processor")
OLD = make_target("x86_64-unknown-linux-gnu", "x86-64", "+sse,+sse2,+fxsr,+64bit")
ROUND = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
TYPES = {"f32": (np.float32, "%f", 23), "f64": (np.float64, "%g", 52)}

TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .TYPE one, .param .u64 first)
{
.reg .b32 %r<4>; .reg .b64 %d<9>; .reg .f32 %f<4>; .reg .f64 %g<4>;
ld.param.u64 %d1,[in]; ld.param.u64 %d2,[out]; mov.u32 %r2,%tid.x;
mul.wide.u32 %d3,%r2,SIZE; add.u64 %d4,%d1,%d3; add.u64 %d5,%d2,%d3;
ld.global.TYPE REG1,[%d4]; cvt.HOW.TYPE.TYPE REG2,REG1; st.global.TYPE [%d5],REG2;
ld.param.u64 %d6,[first]; ld.param.TYPE REG1,[one]; cvt.HOW.TYPE.TYPE REG3,REG1; st.global.TYPE [%d6],REG3;
ret;
}
"""


def numbers(type: str) -> np.ndarray:
    """Halves and wholes around nought and around where all numbers are whole, with their neighbours; endless and tiny ones; others."""
    kind, _, digits = TYPES[type]
    whole = [0.0, 0.5, 1.0, 1.5, 2.5, 3.5, 2.0**31, 2.0**63, *(2.0 ** (digits + k) + d for k in (-2, -1, 0, 1) for d in (-1, -0.5, 0, 0.5))]  # fmt: skip
    some = np.array(whole, kind)
    near = np.concatenate([some, np.nextafter(some, kind(np.inf)), np.nextafter(some, kind(-np.inf))])
    rest = np.array([np.inf, np.finfo(kind).tiny, np.finfo(kind).smallest_subnormal, np.finfo(kind).max, np.nan], kind)
    more = (np.random.default_rng(5).random(128 - (near.size + rest.size)) * 100).astype(kind)
    every = np.concatenate([near, rest, more])
    return np.concatenate([every, -every])


@pytest.mark.parametrize("target", [this_machine(), OLD], ids=["here", "sse2"])
@pytest.mark.parametrize("how", ROUND)
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("options", ["", "gang=1"])
def test_every_number_is_rounded(type: str, how: str, target: SimdTarget, options: str) -> None:
    kind, register, _ = TYPES[type]
    values = numbers(type)
    out, first = np.zeros(256, kind), np.zeros(1, kind)
    text = TEXT.replace("TYPE", type).replace("HOW", how).replace("REG", register).replace("SIZE", str(values.itemsize))
    program = Program(text, target)
    word = f"u{values.itemsize}"
    wanted = ROUND[how](values)
    for one in values[[0, 3, 20, 130, 140, 200]]:
        program.run("k", 1, 256, (values, out, kind(one), first), options=options)
        assert first.view(word)[0] == ROUND[how](np.array([one])).view(word)[0]
    real = ~np.isnan(values)
    assert np.array_equal(out.view(word)[real], wanted.view(word)[real])
    assert np.isnan(out[~real]).all() and not real.all()


@pytest.mark.parametrize("how", ROUND)
def test_integers_are_rounded_alike_without_the_instructions(how: str) -> None:
    values = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, -0.49999997, 8388607.5, -8388607.5, 3e9, 7] * 4, np.float32)  # fmt: skip
    text = (
        TEXT.replace("cvt.HOW.TYPE.TYPE REG2,REG1; st.global.TYPE [%d5],REG2;", f"cvt.{how}.s32.f32 %r1,%f1; st.global.u32 [%d5],%r1;")
        .replace("TYPE", "f32").replace("HOW", how).replace("REG", "%f").replace("SIZE", "4")
    )  # fmt: skip
    out = np.zeros(48, np.int32)
    Program(text, OLD).run("k", 1, 48, (values, out, np.float32(1), np.zeros(1, np.float32)), options="")
    assert out.tolist() == [int(min(x, 2**31 - 1)) for x in ROUND[how](values.astype(np.float64)).tolist()]

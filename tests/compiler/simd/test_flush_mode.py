"""`.ftz` by the processor's mode: which kernels get it, that results are those of written flushes, and that nobody else sees the mode."""

from __future__ import annotations

import platform
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from anywarp.check.conformance import exact
from anywarp.compiler.ir import Kernel, Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.devices.cpu.execute import KernelTrap, Program
from anywarp.ptx.index import index_module

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="runs code for an x86 processor")
NARROW = make_target("x86_64-unknown-linux-gnu", "haswell", "+avx2,+fma,+f16c")
OLD = make_target("x86_64-unknown-linux-gnu", "x86-64", "+sse,+sse2,+fxsr,+64bit")
F = exact.FORMATS["f32"]
TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
.reg .f32 %f<12>; .reg .f64 %g<3>; .reg .b32 %r<6>; .reg .b64 %p<4>; .reg .pred %q<3>; .reg .b16 %h<3>;
ld.param.u64 %p0, [in]; ld.param.u64 %p1, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %p2, %r0, 4;
add.u64 %p0, %p0, %p2; add.u64 %p1, %p1, %p2;
ld.global.f32 %f0, [%p0]; ld.global.f32 %f1, [%p0+256]; ld.global.f32 %f2, [%p0+512]; ld.global.u32 %r1, [%p0+768];
{body}
st.global.f32 [%p1], %f9; ret; }}
"""
LOOP = "mov.u32 %r2, 0; again: {} add.u32 %r2, %r2, 1; setp.lt.u32 %q1, %r2, 3; @%q1 bra again;"


def flushed(bits: int) -> int:
    return bits & 0x80000000 if bits & 0x7F800000 == 0 else bits


def add(a: int, b: int) -> int | None:
    return result(exact.add(F, flushed(a), flushed(b), "rn"))


def mul(a: int, b: int) -> int | None:
    return result(exact.mul(F, flushed(a), flushed(b), "rn"))


def fma(a: int, b: int, c: int) -> int | None:
    return result(exact.fma(F, flushed(a), flushed(b), flushed(c), "rn"))


def result(found: object) -> int | None:
    """The bits of a number; None of what is none."""
    return flushed(found) if isinstance(found, int) else None


ONE, MINUS = 0x3F800000, 0x80000000
CASES = {
    "product": ("mul.ftz.f32 %f9, %f0, %f1;", lambda a, b, c: mul(a, b)),
    "sum": ("add.ftz.f32 %f9, %f0, %f1;", lambda a, b, c: add(a, b)),
    "fused": ("fma.rn.ftz.f32 %f9, %f0, %f1, %f2;", fma),
    "difference": ("neg.ftz.f32 %f3, %f1; add.ftz.f32 %f9, %f0, %f3;", lambda a, b, c: add(a, b ^ 1 << 31)),
    "times one": ("mul.ftz.f32 %f9, %f0, 0f3F800000;", lambda a, b, c: mul(a, ONE)),
    "minus nothing": ("sub.ftz.f32 %f9, %f0, 0f00000000;", lambda a, b, c: add(a, MINUS)),
    "fused with one and nothing": ("fma.rn.ftz.f32 %f9, %f0, 0f3F800000, 0f80000000;", lambda a, b, c: fma(a, ONE, MINUS)),
    "size plus nothing": ("abs.f32 %f3, %f0; add.ftz.f32 %f9, %f3, 0f00000000;", lambda a, b, c: add(a & 0x7FFFFFFF, 0)),
    "product from one": ("mov.f32 %f9, 0f3F800000;" + LOOP.format("mul.ftz.f32 %f9, %f9, %f0;"), lambda a, b, c: chain(mul, [ONE, a, a, a])),
    "sum from nothing": ("mov.f32 %f9, 0f00000000;" + LOOP.format("add.ftz.f32 %f9, %f9, %f0;"), lambda a, b, c: chain(add, [0, a, a, a])),
    "stored and used": ("abs.ftz.f32 %f9, %f0; mul.ftz.f32 %f3, %f9, %f1; add.ftz.f32 %f9, %f3, %f9;",
                        lambda a, b, c: chain(lambda x, y: y if x is None else add(x, y), [mul(a & 0x7FFFFFFF, b), flushed(a & 0x7FFFFFFF)])),
    "compared": ("setp.lt.ftz.f32 %q0, %f0, %f1; selp.f32 %f9, 0f3F800000, 0f40000000, %q0;", lambda a, b, c: ONE if less(a, b) else 0x40000000),
}  # fmt: skip


def chain(how, numbers: list[int | None]) -> int | None:
    total = numbers[0]
    for each in numbers[1:]:
        total = how(total, each) if total is not None else None
    return total


def less(a: int, b: int) -> bool:
    x, y = np.array([flushed(a), flushed(b)], np.uint32).view(np.float32)
    return bool(x < y)


small = st.builds(lambda sign, size: sign << 31 | size, st.integers(0, 1), st.integers(0, 3 << 23))
normal = st.builds(lambda sign, size: sign << 31 | size, st.integers(0, 1), st.integers(0x3C000000, 0x43000000))
numbers = st.one_of(
    small,
    normal,
    st.sampled_from([0, MINUS, ONE, 0x00800000, 0x007FFFFF, 1, 0x7F800000, 0xFF800000, 0x20000000, 0x1F800000]),
)


def near_the_edge(found: int, wanted: int) -> bool:
    """Whether one is the least normal number and the other nothing, of which PTX leaves open which a number just below becomes."""
    return found & 0x80000000 == wanted & 0x80000000 and {found & 0x7FFFFFFF, wanted & 0x7FFFFFFF} == {0, 0x00800000}


@pytest.mark.parametrize("target", [this_machine(), NARROW, OLD], ids=["here", "avx2", "sse2"])
@pytest.mark.parametrize("case", CASES)
@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=64, max_size=64))
def test_results_are_those_of_flushes(case, target, rows):
    body, wanted = CASES[case]
    program = program_of(body, target)
    source = np.zeros(256, np.uint32)
    for n in range(3):
        source[64 * n : 64 * n + 64] = [row[n] for row in rows]
    out = np.zeros(64, np.uint32)
    for options in ("", "gang=1"):
        program.run("k", 1, 64, (source, out), options=options)
        for row, found in zip(rows, out.tolist(), strict=True):
            expected = wanted(*row)
            if expected is not None:
                assert found == expected or near_the_edge(found, expected), [hex(x) for x in (*row, found, expected)]


PROGRAMS: dict[tuple[str, str], Program] = {}


def program_of(body: str, target) -> Program:
    key = (body, target.name + target.features)
    if key not in PROGRAMS:
        PROGRAMS[key] = Program(TEXT.format(body=body), target)
    return PROGRAMS[key]


def prepared(body: str, target=NARROW) -> Kernel:
    index = IndexedModule(index_module(TEXT.format(body=body)))
    return prepare_kernel(index, "k", Specialisation((64, 1, 1)), target=target, checked=True)


def flushes(kernel: Kernel) -> int:
    return sum(op.name == "flush" for block in kernel.blocks for op in block.ops)


def test_a_kernel_that_flushes_everywhere_has_no_flush_left():
    kernel = prepared("fma.rn.ftz.f32 %f3, %f0, %f1, %f2; add.ftz.f32 %f9, %f3, %f0;")
    assert kernel.flushes and flushes(kernel) == 0


@pytest.mark.parametrize("other", [
    "add.f32 %f4, %f0, %f1;", "setp.lt.f32 %q0, %f0, %f1; selp.f32 %f4, %f0, %f1, %q0;", "max.f32 %f4, %f0, %f1;", "cvt.rpi.s32.f32 %r3, %f0; mov.b32 %f4, %r3;",
    "cvt.f64.f32 %g0, %f0; add.f64 %g1, %g0, %g0; cvt.rn.f32.f64 %f4, %g1;", "atom.global.add.f32 %f4, [%p1], %f1;", "tanh.approx.f32 %f4, %f0;", "sin.approx.f32 %f4, %f0;",
    "mov.b32 {%h0, %h1}, %f0; fma.rn.bf16 %h0, %h0, %h1, %h1; mov.b32 %f4, {%h0, %h1};", "cvt.rp.f16.f32 %h0, %f0; mov.b32 %f4, {%h0, %h0};",
])  # fmt: skip
def test_a_kernel_that_also_keeps_subnormal_numbers_does_not_get_the_mode(other):
    kernel = prepared(f"mul.ftz.f32 %f3, %f0, %f1; {other} st.global.f32 [%p1+256], %f4; mov.f32 %f9, %f3;")
    assert not kernel.flushes and flushes(kernel) == 3


def test_halves_do_not_keep_a_kernel_from_the_mode():
    body = "cvt.rn.f16.f32 %h0, %f0; cvt.f32.f16 %f3, %h0; mul.ftz.f32 %f9, %f3, %f1;"
    assert prepared(body).flushes and not prepared(body, OLD).flushes


def test_numbers_made_of_lanes_are_flushed_too():
    """LLVM knows them, and computes with them itself."""
    source, out = np.zeros(256, np.uint32), np.full(64, np.nan, np.float32)
    program_of("mov.b32 %f3, %r0; add.ftz.f32 %f4, %f3, %f3; add.ftz.f32 %f9, %f4, %f0;", this_machine()).run(
        "k", 1, 64, (source, out)
    )
    assert not out.any()


def test_halves_stay_as_they_are_in_the_mode():
    source, out = np.zeros(256, np.uint32), np.zeros(64, np.float32)
    halves = np.arange(1, 65).astype(np.uint16) * 15  # all subnormal
    source[:64], source[64:128] = halves, np.full(64, ONE)
    program_of(
        "cvt.u16.u32 %h0, %r1; mov.b32 %r3, %f0; cvt.u16.u32 %h0, %r3; cvt.f32.f16 %f3, %h0; mul.ftz.f32 %f9, %f3, %f1;",
        this_machine(),
    ).run("k", 1, 64, (source, out))
    assert np.array_equal(out, halves.view(np.float16).astype(np.float32))


@pytest.mark.parametrize("end", ["", "trap;"], ids=["ends", "traps"])
def test_the_thread_that_ran_it_computes_as_before(end):
    program = program_of(f"mul.ftz.f32 %f9, %f0, %f1; mov.f32 %f3, %f9; {end}", this_machine())
    source = np.full(256, 0x00000100, np.uint32)
    with pytest.raises(KernelTrap) if end else nullcontext():
        program.run("k", 1, 64, (source, np.zeros(64, np.uint32)))
    tiny = np.float32(2.0**-120)
    assert tiny * np.float32(2.0**-20) == 2.0**-140

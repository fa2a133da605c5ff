"""The approximate functions on AMD GPUs: which instructions they become, and, emulated, the PTX manual's error bounds.

The emulator computes the hardware's instructions exactly and rounds once, so values show our scaling and special cases; that the
instructions themselves stay within 1 ulp is AMD's statement.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.variants import analyse_for_variant
from anywarp.ptx.index import index_module

ARCHS = ("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201")
FUNCTIONS = ("ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt", "sqrt")


def kernel(function, type="f32", flush=False):
    """Each thread applies one function to one number; `flush`: in its form with .ftz."""
    form = f"{function}.approx.{'ftz.' * flush}{type}"
    size, letter = (8, "d") if type == "f64" else (4, "f")
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {{
.reg .b32 %i, %b, %n; .reg .b64 %p<2>, %o; .reg .{type} %{letter};
mov.u32 %i, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %b, %n, %i; mul.wide.u32 %o, %i, {size};
ld.param.u64 %p0, [x]; ld.param.u64 %p1, [y]; add.u64 %p0, %p0, %o; add.u64 %p1, %p1, %o;
ld.global.{type} %{letter}, [%p0]; {form} %{letter}, %{letter}; st.global.{type} [%p1], %{letter}; ret;
}}"""


@pytest.mark.parametrize("arch", ARCHS)
def test_each_function_is_the_hardwares_instruction(arch):
    wanted = {"ex2": "v_exp_f32", "lg2": "v_log_f32", "rcp": "v_rcp_f32", "rsqrt": "v_rsq_f32", "sqrt": "v_sqrt_f32"}
    target = make_target(arch)
    for function in FUNCTIONS:
        shape = Specialisation((64, 1, 1))
        lowered = prepare_kernel(IndexedModule(index_module(kernel(function))), "k", shape)
        analysis, _ = analyse_for_variant(lowered, shape)
        code = target.assembly(lowered, analysis, shape)
        assert wanted.get(function, "v_") in code and "v_div_scale_f32" not in code, function


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("function", ["ex2", "lg2", "rcp", "rsqrt", "sqrt"])
def test_a_function_that_flushes_is_the_hardwares_instruction_alone(function, arch):
    target, shape = make_target(arch), Specialisation((64, 1, 1))
    lowered = prepare_kernel(IndexedModule(index_module(kernel(function, flush=True))), "k", shape)
    analysis, _ = analyse_for_variant(lowered, shape)
    code = target.assembly(lowered, analysis, shape)
    floats = [line.split()[0] for line in code.splitlines() if "_f32" in line or "v_cndmask" in line]
    name = {"ex2": "v_exp_f32", "lg2": "v_log_f32", "rcp": "v_rcp_f32", "rsqrt": "v_rsq_f32", "sqrt": "v_sqrt_f32"}[
        function
    ]
    assert [each.removesuffix("_e32") for each in floats] == [name], code


emulated = pytest.mark.skipif("TINYGRAD" not in os.environ, reason="TINYGRAD does not name a checkout with an emulator")


def run(arch, function, x, flush=False):
    from semantics.emulated import Program

    x = np.resize(x, -(-x.size // 256) * 256)
    y = np.zeros_like(x)
    Program(kernel(function, "f64" if x.dtype == np.float64 else "f32", flush), arch).run(
        "k", x.size // 256, 256, (x, y)
    )
    return x, y


def ulp(exact):
    return np.maximum(2.0 ** (np.floor(np.log2(np.maximum(np.abs(exact), 1e-300))) - 23), 2.0**-149)


def spread(low, high, count=4000):
    """Numbers spread over the bit patterns from `low` to `high`."""
    rng = np.random.default_rng(3)
    return rng.integers(low, high, count).astype(np.uint32).view(np.float32)


SPECIAL = np.array([0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF,
                    0x7F800000, 0xFF800000, 0x7FC00000], np.uint32).view(np.float32)  # fmt: skip

EXACT = {
    "ex2": (np.exp2, lambda x: 2 * ulp(np.exp2(x))), "lg2": (np.log2, None),
    "rcp": (lambda x: 1 / x, lambda x: ulp(1 / x)), "sqrt": (np.sqrt, lambda x: np.sqrt(x) * 2.0**-23),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda x: 2.0**-22.9 / np.sqrt(x)),
    "tanh": (np.tanh, lambda x: np.abs(np.tanh(x)) * 2.0**-11),
    "sin": (np.sin, lambda x: np.full(x.shape, 2.0**-20.5)), "cos": (np.cos, lambda x: np.full(x.shape, 2.0**-20.5)),
}  # fmt: skip


def bound_of_lg2(x):
    near = (x >= 0.5) & (x <= 2)
    return np.where(near, 2.0**-22, np.abs(np.log2(x)) * 2.0**-22)


@emulated
@pytest.mark.amd_emulator
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_errors_stay_within_the_manuals_bounds(arch, function):
    if function in ("sin", "cos"):
        x = np.linspace(-np.pi, np.pi, 4000).astype(np.float32)
    elif function == "ex2":
        x = np.concatenate(
            [np.linspace(-151, 127.9, 3000), np.linspace(-127, -125, 500), np.linspace(-1e-3, 1e-3, 300)]
        )
        x = x.astype(np.float32)
    elif function in ("rcp", "tanh"):
        x = np.concatenate([spread(1, 0x7F7FFFFF), spread(0x80000001, 0xFF7FFFFF), spread(1, 0x01000000, 500)])
    else:
        x = np.concatenate([spread(1, 0x7F7FFFFF), spread(1, 0x01000000, 500), spread(0x3F000000, 0x40000000, 1000)])
    x, found = run(arch, function, x)
    make, bound = EXACT[function]
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        exact = make(wide)
        allowed = bound_of_lg2(wide) if bound is None else bound(wide)
        kept = np.abs(exact) < float(np.finfo(np.float32).max)
        error = np.abs(found.astype(np.float64) - exact)[kept] / allowed[kept]
    assert error.max() <= 1, (function, x[kept][error.argmax()], error.max())
    assert (np.isinf(found[~kept])).all()


@emulated
@pytest.mark.amd_emulator
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_special_values_are_those_of_the_manuals_tables(arch):
    inf, nan, tiny = np.inf, np.nan, 2.0**-149
    wanted = {
        "ex2": [1, 1, 1, 1, 1, 1, 2, 0.5, inf, 0, inf, 0, nan],
        "lg2": [-inf, -inf, -149, nan, np.log2(2.0**-126 - tiny), -126, 0, nan, 128, nan, inf, nan, nan],
        "rcp": [
            inf,
            -inf,
            inf,
            -inf,
            2.0**126 * (1 + 2.0**-23),
            2.0**126,
            1,
            -1,
            2.0**-128,
            -(2.0**-128),
            0,
            -0.0,
            nan,
        ],
        "rsqrt": [inf, -inf, 2.0**74.5, nan, 2.0**63, 2.0**63, 1, nan, 2.0**-64, nan, 0, nan, nan],
        "sqrt": [0, -0.0, 2.0**-74.5, nan, 2.0**-63, 2.0**-63, 1, nan, 2.0**64, nan, inf, nan, nan],
        "tanh": [0, -0.0, tiny, -tiny, 2.0**-126 - tiny, 2.0**-126, np.tanh(1), -np.tanh(1), 1, -1, 1, -1, nan],
    }
    for function, values in wanted.items():
        x, found = run(arch, function, SPECIAL)
        found, want = found[: SPECIAL.size], np.array(values, np.float64)
        with np.errstate(all="ignore"):
            near = np.isclose(found, want, rtol=2.0**-10 if function == "tanh" else 2.0**-21, atol=0, equal_nan=True)
        assert near.all(), (function, SPECIAL[~near], found[~near], want[~near])
        zero = want == 0
        assert (np.signbit(found[zero]) == np.signbit(want[zero])).all(), function


@emulated
@pytest.mark.amd_emulator
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("function", ["ex2", "lg2", "rcp", "rsqrt", "sqrt"])
def test_subnormals_are_flushed_where_it_says_so(function, arch):
    """PTX manual, .ftz: subnormal inputs and results are zeros that keep their sign. The rest keeps its bounds."""
    more = np.linspace(-149, 127, 2000) if function == "ex2" else 2.0 ** np.linspace(-149, 127.9, 2000)
    x, found = run(
        arch, function, np.concatenate([SPECIAL, more.astype(np.float32), -more.astype(np.float32)]), flush=True
    )
    with np.errstate(all="ignore"):
        flushed = np.where(np.abs(x) < 2.0**-126, np.copysign(0, x), x).astype(np.float64)
        exact = EXACT[function][0](flushed)
        exact = np.where(np.abs(exact) < 2.0**-126, np.copysign(0, exact), exact)
        rounded = np.where(np.abs(exact) > float(np.finfo(np.float32).max), np.copysign(np.inf, exact), exact)
        near = np.isclose(found, rounded, rtol=2.0**-21, atol=2.0**-22 if function == "lg2" else 0, equal_nan=True)
    assert near.all(), (x[~near][:5], found[~near][:5], rounded[~near][:5])
    zero = rounded == 0
    assert (np.signbit(found[zero]) == np.signbit(rounded[zero])).all()


@emulated
@pytest.mark.amd_emulator
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_sines_keep_their_accuracy_far_from_zero_and_are_no_numbers_at_infinity(arch):
    x = np.array([100, 1e4, 1e6, -3e7, 1e12, np.inf, -np.inf, np.nan], np.float32)
    for function, exact in (("sin", np.sin), ("cos", np.cos)):
        found = run(arch, function, x)[1][: x.size]
        assert np.allclose(found[:5], exact(x[:5].astype(np.float64)), atol=2.0**-20.5)
        assert np.isnan(found[5:]).all()

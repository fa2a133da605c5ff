"""The exact float arithmetic of the reference device against this machine's own (round to nearest) and against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.check.conformance import exact
from anywarp.check.conformance.rows import EDGES
from anywarp.devices.reference import softfloat as sf

NUMPY = {"f16": (np.uint16, np.float16), "f32": (np.uint32, np.float32), "f64": (np.uint64, np.float64)}


def number(name):
    return st.sampled_from(EDGES[name]) | st.integers(0, (1 << exact.FORMATS[name].width) - 1)


def hardware(name, function, *bits):
    word, real = NUMPY[name]
    with np.errstate(all="ignore"):
        return int(real(function(*(word(b).view(real) for b in bits))).view(word))


def same(name, found, expected):
    f = exact.FORMATS[name]
    return found == expected or (exact.is_nan(f, found) and exact.is_nan(f, expected))


@pytest.mark.parametrize("name", NUMPY)
def test_nearest_rounding_agrees_with_the_machine(name):
    @settings(max_examples=300, deadline=None)
    @given(number(name), number(name))
    def check(a, b):
        f = sf.FORMATS[name]
        assert same(name, sf.add(f, a, b), hardware(name, np.add, a, b))
        assert same(name, sf.multiply(f, a, b), hardware(name, np.multiply, a, b))
        assert same(name, sf.divide(f, a, b), hardware(name, np.divide, a, b))
        assert same(name, sf.root(f, a), hardware(name, np.sqrt, a))
        assert same(name, sf.to_integral(f, a, "rn"), hardware(name, np.rint, a))
        order = sf.compare(f, a, b)
        x, y = (NUMPY[name][0](v).view(NUMPY[name][1]) for v in (a, b))
        assert order == (None if np.isnan(x) or np.isnan(y) else int(x > y) - int(x < y))

    check()


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp", "rna"])
def test_every_rounding_picks_the_right_neighbour(name, mode):
    f, g = sf.FORMATS[name], exact.FORMATS[name]

    def agrees(found, expected):
        return expected.accepts(found) if isinstance(expected, exact.Accept) else found == expected

    @settings(max_examples=60, deadline=None)
    @given(number(name), number(name), number(name))
    def check(a, b, c):
        assert agrees(sf.add(f, a, b, mode), exact.add(g, a, b, mode))
        assert agrees(sf.multiply(f, a, b, mode), exact.mul(g, a, b, mode))
        assert agrees(sf.divide(f, a, b, mode), exact.div(g, a, b, mode))
        assert agrees(sf.fused(f, a, b, c, mode), exact.fma(g, a, b, c, mode))
        assert agrees(sf.root(f, a, mode), exact.sqrt(g, a, mode))

    check()


@pytest.mark.parametrize("name", NUMPY)
def test_conversions_agree_with_the_machine(name):
    @settings(max_examples=100, deadline=None)
    @given(number(name), st.integers(-(1 << 64), 1 << 64))
    def check(a, n):
        for other, (word, real) in NUMPY.items():
            expected = hardware(name, lambda x: x, a)
            with np.errstate(all="ignore"):
                wanted = int(NUMPY[name][0](expected).view(NUMPY[name][1]).astype(real).view(word))
            assert same(other, sf.convert(sf.FORMATS[name], sf.FORMATS[other], a, "rn"), wanted)
        if name == "f64":
            assert sf.from_integer(sf.FORMATS["f64"], n, "rn") == hardware("f64", lambda: float(n))

    check()

"""The expansions of the approximate functions against double and extended precision, over the whole range of f32."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler import approximations
from anywarp.devices.reference.values import LANES, PlainOps, plain

FLOAT = {"f32": np.float32, "f64": np.float64}
INT = {"i1": np.bool_, "i32": np.uint32, "i64": np.uint64}


class Vector:
    """A numpy array with a type name."""

    def __init__(self, type, data):
        self.type, self.data = type, data


class VectorOps:
    """The few operations the expansions use, on whole numpy arrays; fma by way of extended precision."""

    def const(self, type, bits):
        if type in FLOAT:
            width = np.uint32 if type == "f32" else np.uint64
            return Vector(type, np.array(bits, width).view(FLOAT[type]))
        return Vector(type, np.array(bits & (2**32 - 1 if type == "i32" else 2**64 - 1), INT[type]))

    def _float(self, type, value):
        return Vector(type, value.astype(FLOAT[type]))

    def fadd(self, a, b, rounding="rn"):
        return self._float(a.type, a.data + b.data)

    def fsub(self, a, b, rounding="rn"):
        return self._float(a.type, a.data - b.data)

    def fmul(self, a, b, rounding="rn"):
        return self._float(a.type, a.data * b.data)

    def fdiv(self, a, b, rounding="rn"):
        return self._float(a.type, a.data / b.data)

    def fsqrt(self, a, rounding="rn"):
        return self._float(a.type, np.sqrt(a.data))

    def fma(self, a, b, c, rounding="rn"):
        if a.type == "f32":
            wide = a.data.astype(np.float64) * b.data.astype(np.float64) + c.data.astype(np.float64)
            return self._float("f32", wide)
        high = a.data * b.data  # Dekker's product: the rounding error of a*b is itself a double
        split = 134217729.0
        ah = a.data * split - (a.data * split - a.data)
        bh = b.data * split - (b.data * split - b.data)
        al, bl = a.data - ah, b.data - bh
        low = ((ah * bh - high) + ah * bl + al * bh) + al * bl
        exact = np.isfinite(high) & (low != 0)
        return self._float("f64", np.where(exact, (high.astype(np.longdouble) + c.data) + low, high + c.data))

    def fabs(self, a):
        return self._float(a.type, np.abs(a.data))

    def fcmp(self, predicate, a, b):
        x, y = a.data, b.data
        ordered = {"ogt": x > y, "oge": x >= y, "olt": x < y, "oeq": x == y, "one": (x < y) | (x > y)}
        return Vector("i1", ordered[predicate])

    def icmp(self, predicate, a, b):
        return Vector("i1", {"ne": a.data != b.data, "eq": a.data == b.data}[predicate])

    def select(self, c, a, b):
        return Vector(a.type, np.where(c.data, a.data, b.data))

    def bitcast(self, a, type):
        return Vector(type, np.asarray(a.data).view(FLOAT.get(type) or INT[type]))

    def fconvert(self, a, type, rounding="rn"):
        return Vector(type, a.data.astype(FLOAT[type]))

    def int_to_float(self, a, type, signed, rounding="rn"):
        return Vector(type, a.data.view(np.int32).astype(FLOAT[type]))

    def trunc(self, a, type):
        return Vector(type, a.data.astype(INT[type]))

    def add(self, a, b):
        return Vector(a.type, a.data + b.data)

    def sub(self, a, b):
        return Vector(a.type, a.data - b.data)

    def and_(self, a, b):
        return Vector(a.type, a.data & b.data)

    def xor(self, a, b):
        return Vector(a.type, a.data ^ b.data)

    def shl(self, a, n):
        return Vector(a.type, a.data << n.data)

    def ashr(self, a, n):
        return Vector(a.type, (a.data.view(np.int32) >> n.data.astype(np.int32)).view(np.uint32))


def run(name, x):
    with np.errstate(all="ignore"):
        return approximations.expand(VectorOps(), name, Vector("f32", x)).data


def samples(low=0, high=2**32, count=400_000):
    """f32 numbers evenly spread over bit patterns, each a little off the grid."""
    rng = np.random.default_rng(7)
    grid = np.linspace(low, high - 1, count).astype(np.uint64) + rng.integers(0, 1000, count).astype(np.uint64)
    return np.minimum(grid, high - 1).astype(np.uint32).view(np.float32)


def between(low, high, count=400_000):
    return np.linspace(low, high, count).astype(np.float32)


def ulp(exact):
    """Distance of f32 numbers at `exact`, subnormals included."""
    return np.maximum(2.0 ** (np.floor(np.log2(np.maximum(np.abs(exact), 1e-300))) - 23), 2.0**-149)


def report(name, error, unit):
    print(f"{name}: largest error {error:.4g} {unit} = 2^{np.log2(max(error, 1e-300)):.2f}")


def test_ex2_stays_within_two_ulp_over_its_range():
    x = np.concatenate([between(-150, 127.999), samples(), between(-1e-3, 1e-3)])
    x = x[np.isfinite(x)]
    x = x[(x < 128) & (x > -160)]
    exact = np.exp2(x.astype(np.longdouble)).astype(np.float64)
    error = np.max(np.abs(run("ex2", x) - exact) / ulp(exact))
    report("ex2", error, "ulp")
    assert error <= 2


def test_lg2_keeps_the_absolute_bound_near_one_and_the_relative_bound_elsewhere():
    x = samples(1, 0x7F800000)
    near = (x >= 0.5) & (x <= 2)
    found, exact = run("lg2", x).astype(np.float64), np.log2(x.astype(np.longdouble)).astype(np.float64)
    absolute = np.max(np.abs(found - exact)[near])
    relative = np.max(np.abs(found - exact)[~near] / np.abs(exact[~near]))
    report("lg2 absolute", absolute, "")
    report("lg2 relative", relative, "")
    assert absolute <= 2.0**-22 and relative <= 2.0**-22


@pytest.mark.parametrize(("low", "high"), [(-np.pi, np.pi), (-1e5, 1e5), (-(2.0**49), 2.0**49)])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_and_cosine_keep_their_bound_far_beyond_the_period(name, low, high):
    x = np.concatenate([between(low, high), samples(1, 0x40490FDB)])
    exact = getattr(np, name)(x.astype(np.float64))
    error = np.max(np.abs(run(name, x) - exact))
    report(f"{name} on [{low:.4g}, {high:.4g}]", error, "")
    assert error <= 2.0**-22  # tighter than the manual's 2**-20.5


def test_sine_of_small_numbers_keeps_their_relative_accuracy():
    x = samples(1, 0x3F000000)
    exact = np.sin(x.astype(np.float64))
    assert np.max(np.abs(run("sin", x) - exact) / ulp(exact)) <= 2


def test_tanh_keeps_its_relative_bound():
    x = samples()
    x = x[~np.isnan(x) & (x != 0)]
    exact = np.tanh(x.astype(np.float64))
    found = run("tanh", x).astype(np.float64)
    error = np.max(np.abs(found - exact) / np.abs(exact))
    report("tanh", error, "relative")
    assert error <= 2.0**-20  # the manual asks 2**-11
    assert np.max(np.abs(found)) <= 1


@pytest.mark.parametrize(("name", "bound"), [("rcp", 2.0**-23), ("rsqrt", 2.0**-22.9), ("sqrt", 2.0**-23)])
def test_reciprocals_and_roots_keep_their_relative_bound(name, bound):
    x = samples(1, 0x7F800000)
    x = x[x > 2.0**-127]
    wide = x.astype(np.float64)
    exact = {"rcp": 1 / wide, "rsqrt": 1 / np.sqrt(wide), "sqrt": np.sqrt(wide)}[name]
    normal = exact >= 2.0**-126
    error = np.max(np.abs(run(name, x) / exact - 1)[normal])
    report(name, error, "relative")
    assert error <= bound


INF, NAN = np.inf, np.nan
SMALL = np.float32(2.0**-149)


@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("ex2", -INF, 0.0), ("ex2", INF, INF), ("ex2", NAN, NAN), ("ex2", 0.0, 1.0), ("ex2", -0.0, 1.0), ("ex2", SMALL, 1.0),
        ("ex2", -149.0, SMALL), ("ex2", -151.0, 0.0), ("ex2", 128.0, INF), ("ex2", -126.0, 2.0**-126), ("ex2", 127.0, 2.0**127),
        ("lg2", -INF, NAN), ("lg2", INF, INF), ("lg2", NAN, NAN), ("lg2", 0.0, -INF), ("lg2", -0.0, -INF), ("lg2", -1.0, NAN),
        ("lg2", SMALL, -149.0), ("lg2", -SMALL, NAN), ("lg2", 1.0, 0.0), ("lg2", 8.0, 3.0),
        ("sin", -INF, NAN), ("sin", INF, NAN), ("sin", NAN, NAN), ("sin", 0.0, 0.0), ("sin", -0.0, -0.0), ("sin", SMALL, SMALL),
        ("cos", -INF, NAN), ("cos", INF, NAN), ("cos", NAN, NAN), ("cos", 0.0, 1.0), ("cos", -0.0, 1.0), ("cos", SMALL, 1.0),
        ("tanh", -INF, -1.0), ("tanh", INF, 1.0), ("tanh", NAN, NAN), ("tanh", 0.0, 0.0), ("tanh", -0.0, -0.0), ("tanh", SMALL, SMALL),
        ("rcp", -INF, -0.0), ("rcp", INF, 0.0), ("rcp", NAN, NAN), ("rcp", 0.0, INF), ("rcp", -0.0, -INF), ("rcp", SMALL, INF),
        ("rsqrt", -INF, NAN), ("rsqrt", INF, 0.0), ("rsqrt", NAN, NAN), ("rsqrt", 0.0, INF), ("rsqrt", -0.0, -INF), ("rsqrt", 4.0, 0.5),
        ("sqrt", -INF, NAN), ("sqrt", INF, INF), ("sqrt", NAN, NAN), ("sqrt", 0.0, 0.0), ("sqrt", -0.0, -0.0), ("sqrt", -1.0, NAN),
    ],
)  # fmt: skip
def test_special_values_are_those_of_the_manual(name, argument, expected):
    with np.errstate(all="ignore"):
        found = run(name, np.array([argument], np.float32))[0]
    if np.isnan(expected):
        assert np.isnan(found)
    else:
        assert found == np.float32(expected) and np.signbit(found) == np.signbit(np.float32(expected))


class Exact(PlainOps):
    """The exact operations; nothing here reads registers or memory."""


Exact.__abstractmethods__ = frozenset()


@pytest.mark.parametrize("name", ["ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt", "sqrt"])
def test_exact_arithmetic_gives_the_same_as_the_fast_test_arithmetic(name):
    x = np.concatenate([samples(count=20), between(-9, 9, 12)])[:LANES]
    found = approximations.expand(Exact(), name, plain("f32", [int(b) for b in x.view(np.uint32)]))
    fast = run(name, x).view(np.uint32)
    same = [
        f == e or (np.isnan(v := np.uint32(f).view(np.float32)) and v != v)
        for f, e in zip(found.lanes, fast, strict=True)
    ]
    assert all(same)

"""Functions whose results are exact give them; Bessel functions of higher order stay within the guide's absolute error."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from toolchain.device_code import compiled


def remainder_of(a: float, b: float) -> tuple[float, int]:
    """Return a - n b for the nearest whole n (ties to even), and n."""
    found = math.remainder(a, b)
    n = (mp.mpf(a) - mp.mpf(found)) / mp.mpf(b)
    return found, int(mp.nint(n))


@pytest.mark.parametrize("type", [np.float64, np.float32])
@np.errstate(over="ignore", under="ignore")
def test_exact_functions(type: Any) -> None:
    rng = np.random.default_rng(3)
    info = np.finfo(type)
    edges = [
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        0.49999997,
        1.0,
        -1.0,
        float(info.tiny),
        float(info.smallest_subnormal),
        1e30,
        7.0,
        3e-30,
    ]
    x = np.concatenate([edges, rng.normal(size=40) * 10.0 ** rng.integers(-3, 6, 40)]).astype(type)
    y = np.concatenate([rng.normal(size=40) * 10.0 ** rng.integers(-3, 3, 40), [2.0, -0.75, *edges[:-2]]]).astype(type)
    r = np.zeros((26, len(x)), type)
    letter = "d" if type is np.float64 else "f"
    compiled("device_exact.cu").run(f"{letter}_exact", 1, 64, [x, y, r, len(x)])
    mp.mp.prec = 2200
    for a, b, got in zip(x, y, r.T, strict=True):
        p, q = float(a), float(b)
        fraction, e = math.frexp(p)
        rest, n = remainder_of(p, q)
        away = math.copysign(math.floor(abs(mp.mpf(p)) + mp.mpf(0.5)), p)
        fits = abs(p) < 2**62
        expected = [
            fraction, e, math.trunc(p), math.copysign(math.modf(p)[0], p), rest, n % 8 if n >= 0 else -(-n % 8) & 7, n < 0 and n % 8 != 0,
            rest, np.nextafter(a, b), e - 1, e - 1, away, float(np.rint(a)), math.floor(p), math.ceil(p), math.trunc(p),
            type(np.ldexp(a, -1060)), type(np.ldexp(a, 40)), type(max(a - b, type(0))), math.copysign(p, q), min(p, q), max(p, q),
            away if fits else 2**63 - 1, float(np.rint(a)) if fits else 2**63 - 1, np.ldexp(a, -100), 1 + 2 * (q < 0),
        ]  # fmt: skip
        # Quotients beyond 31 bits: only their low bits are defined, and where those are zero the sign is lost.
        columns = [k for k in range(26) if k not in (5, 6) or abs(n) < 2**31]
        np.testing.assert_array_equal(got[columns], np.array(expected, type)[columns], err_msg=f"{p!r} {q!r}")


@pytest.mark.parametrize("type", [np.float64, np.float32])
def test_a_product_is_rounded_before_exact_functions_take_it(type: Any) -> None:
    rng = np.random.default_rng(5)
    factors = rng.integers(3, 4000, 256)
    halves = rng.integers(0, 4000, 256) + 0.5
    x, y = (halves / factors).astype(type), factors.astype(type)  # products within a unit of the last place of a half
    r = np.zeros((6, len(x)), type)
    compiled("device_exact.cu").run(f"{'d' if type is np.float64 else 'f'}_of_product", 4, 64, [x, y, r, len(x)])
    product = x * y
    whole = np.trunc(product)
    away = np.floor(product.astype(np.longdouble) + 0.5)
    nearest = np.array([math.remainder(float(p), 1.0) for p in product])
    expected = [away, whole, product - whole, product - whole, nearest, away]
    np.testing.assert_array_equal(r, np.array(expected).astype(type))


def test_bessel_functions_of_higher_order() -> None:
    x = np.concatenate([np.linspace(0.5, 12, 24), np.linspace(15, 90, 16)])
    r = np.zeros((3, len(x)))
    compiled("device_exact.cu").run("orders", 1, 64, [x, r, len(x)])
    mp.mp.prec = 200
    for k, (function, order) in enumerate([(mp.besselj, 3), (mp.besselj, 40), (mp.bessely, 5)]):
        exact = np.array([float(function(order, mp.mpf(v))) for v in x.tolist()])
        assert (np.abs(r[k] - exact) <= 2.2e-12 * np.maximum(1, np.abs(exact))).all()

"""What the device's mathematical functions are measured against: mpmath, over ranges, with the bounds of CUDA's programming guide.

A bound is the largest error in units of the last place that the guide's tables state for the function (double, float).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

mp.mp.prec = 200
Draw = Callable[[np.random.Generator, int], "np.ndarray[Any, Any]"]


def flat(low: float, high: float) -> Draw:
    """Numbers spread evenly."""
    return lambda r, n: r.uniform(low, high, n)


def wide(low: float, high: float, signed: bool = False) -> Draw:
    """Numbers spread evenly over the exponents, of both signs if asked."""

    def draw(r: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
        values = np.exp(r.uniform(np.log(low), np.log(high), n))
        return values * np.where(r.random(n) < 0.5, -1, 1) if signed else values

    return draw


def whole(low: int, high: int) -> Draw:
    """Whole numbers."""
    return lambda r, n: np.floor(r.uniform(low, high, n))


@dataclass(frozen=True)
class Function:
    """The exact function, ranges of arguments for double and float (tuples of them for several arguments), and the bounds."""

    exact: Callable[..., Any]
    double: list[Any]
    single: list[Any]
    bounds: tuple[float, float]


def _erfcx(x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x)


def _erfcinv(q: Any) -> Any:
    if q > mp.mpf("0.3"):
        return mp.erfinv(1 - q)
    x = mp.sqrt(-mp.log(q))
    for _ in range(60):
        step = (mp.log(mp.erfc(x)) - mp.log(q)) / (2 * mp.exp(-x * x) / mp.sqrt(mp.pi) / mp.erfc(x))
        x += step
        if abs(step) < mp.mpf(10) ** -50:
            break
    return x


def _cube_root(x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(abs(x))


def _lgamma(x: Any) -> Any:
    return mp.re(mp.loggamma(x)) if x > 0 else mp.log(abs(mp.gamma(x)))


def _fmod(x: Any, y: Any) -> Any:
    n = x / y
    return x - y * (mp.floor(n) if n > 0 else mp.ceil(n))


_TINY, _SMALL = wide(1e-300, 1, True), wide(1e-38, 1, True)
_ANGLES = [flat(-10, 10), wide(1e-300, 1, True), wide(1, 1.7e308, True), flat(-1e6, 1e6)]
_ANGLES_F = [flat(-10, 10), wide(1, 3e38, True), wide(1e-40, 1, True)]
_POSITIVE = [wide(5e-324, 1.7e308), flat(0.5, 2), flat(0.99, 1.01)]
_POSITIVE_F = [wide(1e-45, 3e38), flat(0.5, 2), flat(0.99, 1.01)]
_ANY = [wide(5e-324, 1.7e308, True), flat(1, 8)]
_ANY_F = [wide(1e-45, 3e38, True)]
_UNIT, _UNIT_F = [flat(-1, 1), _TINY], [flat(-1, 1), _SMALL]
_PAIR, _PAIR_F = (flat(-3, 3), flat(-3, 3)), (flat(-3, 3), flat(-3, 3))

FUNCTIONS: dict[str, Function] = {
    "exp": Function(mp.exp, [flat(-745, 709.7), flat(-1, 1), _TINY], [flat(-103, 88.7), flat(-1, 1)], (1, 1)),
    "exp2": Function(lambda x: mp.mpf(2) ** x, [flat(-1074, 1023.9), flat(-1, 1)], [flat(-149, 127.9), flat(-1, 1)], (1, 2)),
    "exp10": Function(lambda x: mp.mpf(10) ** x, [flat(-323, 308), flat(-1, 1)], [flat(-45, 38), flat(-1, 1)], (1, 1)),
    "expm1": Function(mp.expm1, [flat(-50, 709), flat(-1, 1), _TINY], [flat(-20, 88), flat(-1, 1), _SMALL], (1, 1)),
    "log": Function(mp.log, _POSITIVE, _POSITIVE_F, (1, 1)),
    "log2": Function(lambda x: mp.log(x) / mp.log(2), _POSITIVE, _POSITIVE_F, (1, 1)),
    "log10": Function(mp.log10, _POSITIVE, _POSITIVE_F, (1, 1)),
    "log1p": Function(mp.log1p, [wide(1e-300, 1.7e308), flat(-0.9999999, 2), wide(1e-9, 0.9, True)],
                      [wide(1e-40, 3e38), flat(-0.9999, 2)], (1, 1)),
    "cbrt": Function(_cube_root, _ANY, _ANY_F, (1, 1)),
    "rcbrt": Function(lambda x: 1 / _cube_root(x), _ANY, _ANY_F, (1, 1)),
    "sqrt": Function(mp.sqrt, _POSITIVE, _POSITIVE_F, (0.5, 0.5)),
    "rsqrt": Function(lambda x: 1 / mp.sqrt(x), _POSITIVE, _POSITIVE_F, (1, 2)),
    "sin": Function(mp.sin, _ANGLES, _ANGLES_F, (2, 2)),
    "cos": Function(mp.cos, _ANGLES, _ANGLES_F, (2, 2)),
    "tan": Function(mp.tan, _ANGLES, _ANGLES_F, (2, 4)),
    "sinpi": Function(mp.sinpi, [flat(-10, 10), wide(1e-300, 1e17, True)], [flat(-10, 10), wide(1e-30, 1e9, True)], (2, 1)),
    "cospi": Function(mp.cospi, [flat(-10, 10), wide(1e-300, 1e17, True)], [flat(-10, 10), wide(1e-30, 1e9, True)], (2, 1)),
    "asin": Function(mp.asin, _UNIT, _UNIT_F, (2, 2)),
    "acos": Function(mp.acos, [*_UNIT, flat(0.999, 1)], _UNIT_F, (2, 2)),
    "atan": Function(mp.atan, [flat(-5, 5), wide(1e-300, 1e300, True)], [flat(-5, 5), wide(1e-38, 1e38, True)], (2, 2)),
    "sinh": Function(mp.sinh, [flat(-3, 3), flat(-710.4, 710.4), _TINY], [flat(-3, 3), flat(-89.4, 89.4)], (2, 3)),
    "cosh": Function(mp.cosh, [flat(-3, 3), flat(-710.4, 710.4), _TINY], [flat(-3, 3), flat(-89.4, 89.4)], (1, 2)),
    "tanh": Function(mp.tanh, [flat(-3, 3), flat(-25, 25), _TINY], [flat(-3, 3), flat(-12, 12), _SMALL], (1, 2)),
    "asinh": Function(mp.asinh, [flat(-3, 3), wide(1e-300, 1e308, True)], [flat(-3, 3), wide(1e-38, 1e38, True)], (2, 3)),
    "acosh": Function(mp.acosh, [flat(1, 3), wide(1, 1e308), flat(1, 1.001)], [flat(1, 3), wide(1, 1e38)], (2, 4)),
    "atanh": Function(mp.atanh, _UNIT, _UNIT_F, (2, 3)),
    "erf": Function(mp.erf, [flat(-6, 6), _TINY, flat(0.8, 1.3)], [flat(-4, 4), _SMALL], (2, 2)),
    "erfc": Function(mp.erfc, [flat(-6, 27), _TINY, flat(0.2, 1.3)], [flat(-4, 10), _SMALL], (5, 4)),
    "erfcx": Function(_erfcx, [flat(-26, 26), wide(1e-300, 1e6), flat(-1, 2)], [flat(-9, 20), wide(1e-38, 1e6)], (4, 4)),
    "erfinv": Function(mp.erfinv, _UNIT, _UNIT_F, (5, 2)),
    "erfcinv": Function(_erfcinv, [flat(0, 2), wide(1e-300, 1)], [flat(0, 2), wide(1e-38, 1)], (6, 4)),
    "normcdf": Function(lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, [flat(-37, 9), _TINY, flat(-3, 3)], [flat(-13, 9), _SMALL], (5, 5)),
    "normcdfinv": Function(lambda p: -mp.sqrt(2) * _erfcinv(2 * p), [flat(0, 1), wide(1e-300, 1)], [flat(0, 1), wide(1e-38, 1)], (8, 5)),
    "lgamma": Function(_lgamma, [flat(0, 3), flat(0, 30), wide(1e-300, 1e300), flat(-2.2, 0), flat(-40, -11.01)],
                       [flat(0, 3), flat(0, 30), wide(1e-38, 1e35), flat(-2.2, 0)], (4, 6)),
    "tgamma": Function(mp.gamma, [flat(0, 171.6), flat(-20, 20), _TINY, flat(-180, 0)],
                       [flat(0, 35), flat(-20, 20), wide(1e-37, 1, True)], (10, 5)),
    "j0": Function(lambda x: mp.besselj(0, x), [flat(-8, 8), _TINY], [flat(-8, 8)], (7, 9)),
    "j1": Function(lambda x: mp.besselj(1, x), [flat(-8, 8), _TINY], [flat(-8, 8)], (7, 9)),
    "y0": Function(lambda x: mp.bessely(0, x), [flat(0, 8), wide(1e-300, 1)], [flat(0, 8)], (7, 9)),
    "y1": Function(lambda x: mp.bessely(1, x), [flat(0, 8), wide(1e-300, 1)], [flat(0, 8)], (7, 9)),
    "cyl_bessel_i0": Function(lambda x: mp.besseli(0, x), [flat(-20, 20), flat(0, 713)], [flat(-20, 20), flat(0, 90)], (6, 6)),
    "cyl_bessel_i1": Function(lambda x: mp.besseli(1, x), [flat(-20, 20), flat(0, 713)], [flat(-20, 20), flat(0, 90)], (6, 6)),
    "pow": Function(mp.power, [(wide(1e-300, 1e300), flat(-1, 1)), (flat(0.5, 2), flat(-700, 700)),
                               (flat(0.99, 1.01), flat(-60000, 60000)), (flat(-3, 3), whole(-40, 40))],
                    [(wide(1e-38, 1e38), flat(-1, 1)), (flat(0.5, 2), flat(-100, 100))], (2, 4)),
    "atan2": Function(mp.atan2, [_PAIR, (wide(1e-300, 1e300, True), wide(1e-300, 1e300, True))],
                      [_PAIR_F, (wide(1e-38, 1e38, True), wide(1e-38, 1e38, True))], (2, 3)),
    "hypot": Function(mp.hypot, [_PAIR, (wide(1e-320, 1e308, True), wide(1e-320, 1e308, True))],
                      [_PAIR_F, (wide(1e-40, 1e38, True), wide(1e-40, 1e38, True))], (2, 3)),
    "rhypot": Function(lambda x, y: 1 / mp.hypot(x, y), [_PAIR, (wide(1e-300, 1e300, True), wide(1e-300, 1e300, True))],
                       [_PAIR_F, (wide(1e-38, 1e38, True), wide(1e-38, 1e38, True))], (1, 2)),
    "fmod": Function(_fmod, [(flat(-300, 300), flat(-3, 3)), (wide(1e-3, 1e30, True), wide(1e-3, 1e3, True))],
                     [(flat(-300, 300), flat(-3, 3)), (wide(1e-3, 1e9, True), wide(1e-3, 1e3, True))], (0, 0)),
}  # fmt: skip


def error_in_ulps(got: float, exact: Any, type: type[np.floating[Any]]) -> float:
    """Return the distance to the exact value in units of its last place; infinity where one of the two is not a number."""
    digits, smallest = (53, -1074) if type is np.float64 else (24, -149)
    most = mp.mpf(float(np.finfo(type).max))
    if abs(exact) > most:
        return 0.0 if abs(got) >= most and (got > 0) == (exact > 0) else np.inf
    if not np.isfinite(got):
        return 1.0 if abs(exact) > most * (1 - mp.mpf(2) ** -(digits - 1)) else np.inf
    if exact == 0:
        return 0.0 if got == 0 else np.inf
    return float(abs(mp.mpf(float(got)) - exact) / mp.ldexp(1, max(mp.frexp(exact)[1] - digits, smallest)))


def worst(
    run: Callable[..., np.ndarray[Any, Any]], name: str, type: type[np.floating[Any]], count: int
) -> tuple[float, Any]:
    """Return the largest error of `run(name, *arguments)` over all ranges of a function, and where it was."""
    function = FUNCTIONS[name]
    rng = np.random.default_rng(5)
    found: tuple[float, Any] = (0.0, None)
    for draw in function.double if type is np.float64 else function.single:
        draws = draw if isinstance(draw, tuple) else (draw,)
        arguments = [d(rng, count).astype(type) for d in draws]
        for got, *given in zip(run(name, *arguments), *arguments, strict=True):
            try:
                exact = function.exact(*(mp.mpf(float(x)) for x in given))
            except (ValueError, ZeroDivisionError):
                continue  # a pole: the edges have tests of their own
            found = max(
                found, (error_in_ulps(float(got), exact, type), (given, got, mp.nstr(exact, 20))), key=lambda f: f[0]
            )
    return found

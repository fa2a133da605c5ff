"""The approximate functions of PTX written over the instruction operations, for targets without their own.

They are inner-loop code on a CPU: straight lines of fma, integer operations and selects, no branch, no table, no division but
where one is the function. Polynomials are minimax fits over the stated interval (iteratively reweighted least squares, each
coefficient rounded to f32 before the next was fitted). Error bounds named are the PTX manual's; tests measure ours.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import pi

from anywarp.ptx.isa.ops import Approximation, Ops, V

_EX2 = (
    1.0,
    0.6931471824645996,
    0.24022647738456726,
    0.05550359562039375,
    0.00961849931627512,
    0.0013390969252213836,
    0.0001532926398795098,
)
"""2**f on [-1/2, 1/2], relative error 2**-28.3."""
_LG2 = (
    1.4426950216293335, -0.7213473916053772, 0.4809090197086334, -0.3607003092765808, 0.2879512906074524, -0.23902182281017303,
    0.21550962328910828, -0.2067435085773468, 0.12570786476135254,
)  # fmt: skip
"""log2(1+f)/f on [sqrt(1/2)-1, sqrt(2)-1], relative error 2**-25.1."""
_SIN = (-0.16666655242443085, 0.008332191966474056, -0.0001951878803083673)
"""(sin(r)/r - 1)/r**2 as a polynomial in r**2 on [0, pi/4], error of the sine 2**-28."""
_COS = (0.04166664555668831, -0.00138873013202101, 2.443066841806285e-05)
"""(cos(r) - 1 + r**2/2)/r**4 likewise, error of the cosine 2**-33."""
_TANH_UP = (1.0, 0.13370943069458008, 0.003483506850898266, 2.0406294424901716e-05, 1.3066867587951947e-08)
_TANH_DOWN = (1.0, 0.46704262495040894, 0.02583129331469536, 0.00032657021074555814, 7.660147502974723e-07)
"""tanh(x)/x as a quotient of polynomials in x**2 on [0, 9.2], relative error 2**-22.9, above 1 at the end so that it clamps."""

_PI_2_HIGH = pi / 2
_PI_2_LOW = 6.123233995736766e-17
"""pi/2 as the sum of two doubles."""


def _f32(ops: Ops, x: float) -> V:
    return ops.const("f32", struct.unpack("<I", struct.pack("<f", x))[0])


def _f64(ops: Ops, x: float) -> V:
    return ops.const("f64", struct.unpack("<Q", struct.pack("<d", x))[0])


def _polynomial(ops: Ops, coefficients: Sequence[float], x: V) -> V:
    """Horner's rule, lowest coefficient first."""
    value = _f32(ops, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = ops.fma(value, x, _f32(ops, c))
    return value


def _at_most(ops: Ops, x: V, high: float) -> V:
    """min(x, high), keeping NaN: the shape that x86 does in one instruction."""
    limit = _f32(ops, high)
    return ops.select(ops.fcmp("ogt", x, limit), limit, x)


def _at_least(ops: Ops, x: V, low: float) -> V:
    limit = _f32(ops, low)
    return ops.select(ops.fcmp("olt", x, limit), limit, x)


def _whole(ops: Ops, x: V) -> tuple[V, V]:
    """The nearest whole number of |x| < 2**22, as a float and as an i32: adding 1.5 * 2**23 leaves it in the low bits."""
    magic = _f32(ops, 12582912.0)
    shifted = ops.fadd(x, magic)
    number = ops.sub(ops.bitcast(shifted, "i32"), ops.bitcast(magic, "i32"))
    return ops.fsub(shifted, magic), number


def ex2(ops: Ops, x: V) -> V:
    """2**x of an f32 within 2 ulp, subnormal results included."""
    x = _at_least(ops, _at_most(ops, x, 129.0), -152.0)
    n, exponent = _whole(ops, x)
    value = _polynomial(ops, _EX2, ops.fsub(x, n))
    # The power of two goes on in two halves, so that only the last product can round: exponent//2 and the rest, in place.
    one = ops.const("i32", 127 << 23)
    whole = ops.shl(exponent, ops.const("i32", 23))
    half = ops.and_(ops.shl(exponent, ops.const("i32", 22)), ops.const("i32", 0xFF800000))
    first = ops.bitcast(ops.add(half, one), "f32")
    second = ops.bitcast(ops.add(ops.sub(whole, half), one), "f32")
    return ops.fmul(ops.fmul(value, first), second)


def lg2(ops: Ops, x: V) -> V:
    """log2(x) of an f32: absolute error 2**-22 in [1/2, 2], relative error 2**-22 elsewhere."""
    small = ops.fcmp("olt", x, _f32(ops, 2.0**-126))
    scaled = ops.select(small, ops.fmul(x, _f32(ops, 2.0**23)), x)
    bias = ops.select(small, _f32(ops, -23.0), _f32(ops, 0.0))
    bits = ops.bitcast(scaled, "i32")
    # Splitting at sqrt(1/2) keeps the reduced argument around 1, where the logarithm vanishes.
    exponent = ops.ashr(ops.sub(bits, ops.const("i32", 0x3F3504F3)), ops.const("i32", 23))
    reduced = ops.bitcast(ops.sub(bits, ops.shl(exponent, ops.const("i32", 23))), "f32")
    f = ops.fsub(reduced, _f32(ops, 1.0))
    whole = ops.fadd(ops.int_to_float(exponent, "f32", True), bias)
    value = ops.fma(f, _polynomial(ops, _LG2, f), whole)
    value = ops.select(ops.fcmp("olt", x, _f32(ops, float("inf"))), value, x)  # inf and NaN are their own logarithms
    zero = _f32(ops, 0.0)
    value = ops.select(ops.fcmp("oeq", x, zero), _f32(ops, float("-inf")), value)
    return ops.select(ops.fcmp("olt", x, zero), ops.const("f32", 0x7FFFFFFF), value)


def _circular(ops: Ops, x: V, quarter: int) -> V:
    """sin(x + quarter * pi/2).

    The reduction runs in f64 with pi/2 to 107 bits, so results keep full accuracy up to |x| = 2**50. Beyond it the manual
    bounds nothing; there the result is that of 0.
    """
    far = ops.and_(
        ops.fcmp("oge", ops.fabs(x), _f32(ops, 2.0**50)), ops.fcmp("one", ops.fabs(x), _f32(ops, float("inf")))
    )
    x = ops.select(far, _f32(ops, 0.0), x)
    wide, magic = ops.fconvert(x, "f64"), _f64(ops, 1.5 * 2.0**52)
    shifted = ops.fma(wide, _f64(ops, 2 / pi), magic)
    turns = ops.fsub(shifted, magic)
    reduced = ops.fma(turns, _f64(ops, -_PI_2_LOW), ops.fma(turns, _f64(ops, -_PI_2_HIGH), wide))
    r = ops.fconvert(reduced, "f32")
    quadrant = ops.trunc(ops.bitcast(shifted, "i64"), "i32")
    if quarter:
        quadrant = ops.add(quadrant, ops.const("i32", quarter))
    z = ops.fmul(r, r)
    sine = ops.fmul(r, ops.fma(_polynomial(ops, _SIN, z), z, _f32(ops, 1.0)))
    cosine = ops.fma(ops.fmul(z, z), _polynomial(ops, _COS, z), ops.fma(z, _f32(ops, -0.5), _f32(ops, 1.0)))
    odd = ops.icmp("ne", ops.and_(quadrant, ops.const("i32", 1)), ops.const("i32", 0))
    value = ops.select(odd, cosine, sine)
    sign = ops.shl(ops.and_(quadrant, ops.const("i32", 2)), ops.const("i32", 30))
    return ops.bitcast(ops.xor(ops.bitcast(value, "i32"), sign), "f32")


def sin(ops: Ops, x: V) -> V:
    """sin(x) of an f32: absolute error 2**-20.5 in [-pi, pi]."""
    return _circular(ops, x, 0)


def cos(ops: Ops, x: V) -> V:
    """cos(x) of an f32: absolute error 2**-20.5 in [-pi, pi]."""
    return _circular(ops, x, 1)


def tanh(ops: Ops, x: V) -> V:
    """tanh(x) of an f32: relative error 2**-11, subnormals included."""
    x = _at_least(ops, _at_most(ops, x, 9.2), -9.2)
    z = ops.fmul(x, x)
    value = ops.fdiv(ops.fmul(x, _polynomial(ops, _TANH_UP, z)), _polynomial(ops, _TANH_DOWN, z))
    return _at_least(ops, _at_most(ops, value, 1.0), -1.0)


def rcp(ops: Ops, x: V) -> V:
    """1/x of an f32 or f64, correctly rounded (the bound is 1 ulp)."""
    one = _f64(ops, 1.0) if x.type == "f64" else _f32(ops, 1.0)
    return ops.fdiv(one, x)


def rsqrt(ops: Ops, x: V) -> V:
    """1/sqrt(x) of an f32 or f64: two rounded operations (the bound is a relative error of 2**-22.9)."""
    return rcp(ops, ops.fsqrt(x))


def sqrt(ops: Ops, x: V) -> V:
    """sqrt(x) of an f32, correctly rounded (the bound is a relative error of 2**-23)."""
    return ops.fsqrt(x)


FUNCTIONS: dict[Approximation, Callable[[Ops, V], V]] = {
    "ex2": ex2, "lg2": lg2, "sin": sin, "cos": cos, "tanh": tanh, "rcp": rcp, "rsqrt": rsqrt, "sqrt": sqrt,
}  # fmt: skip
"""What to expand each `approximate` operation into."""


def expand(ops: Ops, function: Approximation, x: V) -> V:
    """Expand `approximate function` of `x` into plain operations."""
    return FUNCTIONS[function](ops, x)

"""The approximate functions of PTX, evaluated far more precisely than asked and rounded once.

The manual gives error bounds, not bits, so the reference returns the nearest number: any target within its bound of this
value (plus half a last place) conforms.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from anywarp.devices.reference import softfloat as sf
from anywarp.ptx.isa.ops import Approximation

_DOUBLE = sf.FORMATS["f64"]


def _bits(x: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def _number(f: sf.Format, bits: int) -> float:
    wide = sf.convert(f, _DOUBLE, bits, "rn")
    return struct.unpack("<d", struct.pack("<Q", wide))[0]


def _ex2(x: float) -> float:
    if x >= 1024:
        return math.inf
    return 0.0 if x < -1100 else math.pow(2.0, x)


def _lg2(x: float) -> float:
    if x == 0:
        return -math.inf
    return math.nan if x < 0 else math.log2(x)


def _circular(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: math.nan if math.isinf(x) else function(x)


_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "ex2": _ex2,
    "lg2": _lg2,
    "sin": _circular(math.sin),
    "cos": _circular(math.cos),
    "tanh": math.tanh,
}


def _reciprocal_root(f: sf.Format, a: int) -> int:
    if (a & ~f.sign) == 0:
        return (a & f.sign) | f.infinity
    if sf.is_nan(f, a) or a & f.sign:
        return f.nan
    if sf.is_infinite(f, a):
        return 0
    _, m, e = sf.split(f, a)
    shift = 4 * f.fraction + 16 + (e & 1)  # root = isqrt(2**shift / m) * 2**-(e + shift)/2, with e + shift even
    quotient = (1 << shift) // m
    return sf.join(f, 0, math.isqrt(quotient), -(e + shift) // 2, "rn", True)


def evaluate(function: Approximation, f: sf.Format, a: int) -> int:
    """Return `function` of the number with bits `a`; special values as the manual's tables (section 9.7.3)."""
    if function == "rcp":
        return sf.divide(f, f.bias << f.fraction, a)
    if function == "sqrt":
        return sf.root(f, a)
    if function == "rsqrt":
        return _reciprocal_root(f, a)
    if sf.is_nan(f, a):
        return f.nan
    return sf.convert(_DOUBLE, f, _bits(_FUNCTIONS[function](_number(f, a))), "rn")

"""Float formats in exact rational arithmetic, independent of the implementation under test.

A result is found by looking for the two representable neighbours of the exact value (binary search over the bit patterns, whose
order is the order of the numbers) and choosing between them by the rounding mode.
"""

# pyright: basic
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """Width, fraction bits and exponent bias; `largest` is the bit pattern of the largest finite number."""

    name: str
    width: int
    fraction: int
    bias: int
    largest: int
    has_infinity: bool = True

    @property
    def sign(self):
        return 1 << (self.width - 1)

    @property
    def infinity(self):
        return self.largest + 1

    @property
    def smallest_normal(self):
        return 1 << self.fraction


F16 = Format("f16", 16, 10, 15, 0x7BFF)
BF16 = Format("bf16", 16, 7, 127, 0x7F7F)
F32 = Format("f32", 32, 23, 127, 0x7F7FFFFF)
F64 = Format("f64", 64, 52, 1023, 0x7FEFFFFFFFFFFFFF)
TF32 = Format("tf32", 19, 10, 127, 0x3FBFF)
E4M3 = Format("e4m3", 8, 3, 7, 0x7E, has_infinity=False)
E5M2 = Format("e5m2", 8, 2, 15, 0x7B)
E2M3 = Format("e2m3", 6, 3, 1, 0x1F, has_infinity=False)
E3M2 = Format("e3m2", 6, 2, 3, 0x1F, has_infinity=False)
E2M1 = Format("e2m1", 4, 1, 1, 0x7, has_infinity=False)
FORMATS = {f.name: f for f in (F16, BF16, F32, F64, TF32, E4M3, E5M2)}


@dataclass(frozen=True)
class Accept:
    """An expected result that is not one bit pattern."""

    what: str
    accepts: Callable[[int], bool]

    def __repr__(self):
        return self.what


def is_nan(f, bits):
    magnitude = bits & (f.sign - 1)
    return magnitude > (f.infinity if f.has_infinity else f.largest)


def is_infinite(f, bits):
    return f.has_infinity and bits & (f.sign - 1) == f.infinity


def is_finite(f, bits):
    return bits & (f.sign - 1) <= f.largest


def is_negative(f, bits):
    return bool(bits & f.sign)


def any_nan(f):
    return Accept(f"NaN of {f.name}", lambda bits: is_nan(f, bits))


def magnitude(f, ordinal):
    """The exact value of a positive finite bit pattern."""
    exponent, fraction = ordinal >> f.fraction, ordinal & ((1 << f.fraction) - 1)
    if exponent == 0:
        return Fraction(fraction) * Fraction(2) ** (1 - f.bias - f.fraction)
    return Fraction((1 << f.fraction) + fraction) * Fraction(2) ** (exponent - f.bias - f.fraction)


def value(f, bits):
    """The exact value of a finite number."""
    number = magnitude(f, bits & (f.sign - 1))
    return -number if is_negative(f, bits) else number


def below(f, number):
    """The bit pattern of the largest finite number that is not above `number` >= 0."""
    low, high = 0, f.largest
    while low < high:
        middle = (low + high + 1) // 2
        if magnitude(f, middle) <= number:
            low = middle
        else:
            high = middle - 1
    return low


def nearest(f, number, mode="rn", negative_zero=False):
    """Round an exact value; overflow as IEEE 754 (to the largest number where the format has no infinity)."""
    if number == 0:
        return f.sign if negative_zero else 0
    sign = f.sign if number < 0 else 0
    size = abs(number)
    low = below(f, size)
    lower = magnitude(f, low)
    if lower == size:
        return sign | low
    step = magnitude(f, low) - magnitude(f, low - 1) if low == f.largest else magnitude(f, low + 1) - lower
    middle = lower + step / 2
    up = {
        "rn": size > middle or (size == middle and low & 1),
        "rna": size >= middle,
        "rz": False,
        "rm": sign != 0,
        "rp": sign == 0,
    }[mode]
    if up and low == f.largest and not f.has_infinity:
        return sign | low
    return sign | (low + 1 if up else low)


def sample(f, bits):
    """A Python float of the same class and sign, for the arithmetic of infinities, NaNs and zeros."""
    if is_nan(f, bits):
        return math.nan
    size = math.inf if is_infinite(f, bits) else 0.0 if bits & (f.sign - 1) == 0 else 1.0
    return math.copysign(size, -1.0 if is_negative(f, bits) else 1.0)


def special(f, number):
    """Encode the infinity, NaN or zero that came out of arithmetic on samples."""
    if math.isnan(number):
        return any_nan(f)
    sign = f.sign if math.copysign(1.0, number) < 0 else 0
    if math.isinf(number):
        return sign | f.infinity
    assert number == 0
    return sign


def add(f, a, b, mode="rn"):
    if not (is_finite(f, a) and is_finite(f, b)):
        return special(f, sample(f, a) + sample(f, b))
    total = value(f, a) + value(f, b)
    return nearest(f, total, mode, _zero_sum_sign(is_negative(f, a), is_negative(f, b), mode))


def _zero_sum_sign(a, b, mode):
    return a if a == b else mode == "rm"


def sub(f, a, b, mode="rn"):
    return add(f, a, b ^ f.sign, mode)


def mul(f, a, b, mode="rn"):
    if not (is_finite(f, a) and is_finite(f, b)):
        return special(f, sample(f, a) * sample(f, b))
    return nearest(f, value(f, a) * value(f, b), mode, is_negative(f, a) != is_negative(f, b))


def fma(f, a, b, c, mode="rn"):
    if not (is_finite(f, a) and is_finite(f, b) and is_finite(f, c)):
        return special(f, sample(f, a) * sample(f, b) + sample(f, c))
    product_sign = is_negative(f, a) != is_negative(f, b)
    total = value(f, a) * value(f, b) + value(f, c)
    return nearest(f, total, mode, _zero_sum_sign(product_sign, is_negative(f, c), mode))


def div(f, a, b, mode="rn"):
    negative = is_negative(f, a) != is_negative(f, b)
    sign = f.sign if negative else 0
    if is_nan(f, a) or is_nan(f, b):
        return any_nan(f)
    if is_infinite(f, a):
        return any_nan(f) if is_infinite(f, b) else sign | f.infinity
    if is_infinite(f, b):
        return sign
    if value(f, b) == 0:
        return any_nan(f) if value(f, a) == 0 else sign | f.infinity
    return nearest(f, value(f, a) / value(f, b), mode, negative)


def sqrt(f, a, mode="rn"):
    if is_nan(f, a):
        return any_nan(f)
    if a & (f.sign - 1) == 0 or a == f.infinity:
        return a
    if is_negative(f, a):
        return any_nan(f)
    number = value(f, a)
    # The root to 200 bits, with a nonzero rest pushed below anything that rounding can see.
    scaled = number * Fraction(4) ** 1300
    root = math.isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(root) == 0 or Fraction(root) ** 2 == scaled
    return nearest(f, (Fraction(root) + (0 if exact else Fraction(1, 2))) / Fraction(2) ** 1300, mode)


def flush(f, bits):
    """A subnormal becomes a zero of its sign; expected results that are not numbers pass."""
    if isinstance(bits, Accept):
        return bits
    return bits & f.sign if 0 < bits & (f.sign - 1) < f.smallest_normal else bits


ONE = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF0000000000000}


def saturate(f, bits):
    """`.sat`: clamp to [+0, 1], NaN to +0."""
    if isinstance(bits, Accept) or is_nan(f, bits) or is_negative(f, bits):
        return 0
    return min(bits, ONE[f.name])


CANONICAL = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "e4m3": 0x7F, "e5m2": 0x7F}


def canonical_nan(f):
    """The one NaN that the manual names where it says so."""
    return CANONICAL.get(f.name) or any_nan(f)


def relu(f, bits):
    """`.relu`: negative numbers become zero; either zero will do for -0; a NaN becomes the canonical one."""
    if isinstance(bits, Accept) or is_nan(f, bits):
        return canonical_nan(f)
    if bits == f.sign:
        return Accept("zero", lambda found: found & (f.sign - 1) == 0)
    return 0 if is_negative(f, bits) else bits


def key(f, bits):
    """Order of the numbers with -0 below +0."""
    return -(bits & (f.sign - 1)) - 1 if is_negative(f, bits) else bits


def minmax(f, pick, *sources, nan_wins=False):
    """min or max of two or three numbers."""
    numbers = [s for s in sources if not is_nan(f, s)]
    if nan_wins and len(numbers) < len(sources):
        return canonical_nan(f)
    if not numbers:
        return any_nan(f)
    return pick(numbers, key=lambda s: key(f, s))


def compare(f, operator, a, b):
    """A float comparison by its PTX name."""
    unordered = is_nan(f, a) or is_nan(f, b)
    if operator in ("num", "nan"):
        return unordered == (operator == "nan")
    if unordered:
        return operator.endswith("u")
    number = {math.inf: 10**400}

    def order(x):
        if is_infinite(f, x):
            return -number[math.inf] if is_negative(f, x) else number[math.inf]
        return value(f, x)

    x, y = order(a), order(b)
    return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[operator[:2]]


def convert(source, target, bits, mode="rn"):
    """Between float formats."""
    if is_nan(source, bits):
        return any_nan(target)
    sign = target.sign if is_negative(source, bits) else 0
    if is_infinite(source, bits):
        return sign | target.infinity
    return nearest(target, value(source, bits), mode, sign != 0)


def whole(number, mode):
    """Round an exact value to a whole number."""
    floor = math.floor(number)
    rest = number - floor
    if rest == 0:
        return floor
    return {
        "rn": floor + int(rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2 == 1)),
        "rz": floor if number > 0 else floor + 1,
        "rm": floor,
        "rp": floor + 1,
    }[mode]


def near(f, exact, bound, flushed=False):
    """Accept a number of format `f` within `bound` of `exact` (a float); with `flushed` also the zero of a tiny result."""

    def accepts(bits):
        if is_nan(f, bits) or is_infinite(f, bits):
            return False
        found = float(value(f, bits))
        if flushed and abs(exact) < float(magnitude(f, f.smallest_normal)) * 1.001 and found == 0:
            return True
        return abs(found - exact) <= bound

    return Accept(f"{exact!r} within {bound:.3g}", accepts)

"""IEEE 754 arithmetic on bit patterns, exact in whole numbers and rounded once.

The reference device must not depend on the rounding or subnormal modes of the machine it runs on, so nothing here touches a
hardware float: finite values are sign, integer significand and power of two, and every operation rounds one exact result.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from anywarp.ptx.isa.ops import Rounding


@dataclass(frozen=True, slots=True)
class Format:
    """A binary interchange format: exponent bits, fraction bits, and the NaN that operations return."""

    exponent: int
    fraction: int
    nan: int

    @property
    def bias(self) -> int:
        """The exponent bias."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << (self.exponent + self.fraction)

    @property
    def infinity(self) -> int:
        """The bits of +infinity."""
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def lowest(self) -> int:
        """The power of two of the last place of subnormals."""
        return 1 - self.bias - self.fraction


FORMATS: dict[str, Format] = {
    "f16": Format(5, 10, 0x7FFF),
    "bf16": Format(8, 7, 0x7FFF),
    "f32": Format(8, 23, 0x7FFFFFFF),
    "f64": Format(11, 52, 0x7FF8000000000000),
}


def is_nan(f: Format, bits: int) -> bool:
    """Tell whether `bits` is a NaN."""
    return (bits & ~f.sign) > f.infinity


def is_infinite(f: Format, bits: int) -> bool:
    """Tell whether `bits` is an infinity of either sign."""
    return (bits & ~f.sign) == f.infinity


def is_subnormal(f: Format, bits: int) -> bool:
    """Tell whether `bits` is a nonzero number below the normal range."""
    return 0 < (bits & ~f.sign) < (1 << f.fraction)


def split(f: Format, bits: int) -> tuple[int, int, int]:
    """Return (sign, m, e) of a finite number that is (-1)**sign * m * 2**e."""
    biased = (bits >> f.fraction) & ((1 << f.exponent) - 1)
    fraction = bits & ((1 << f.fraction) - 1)
    sign = 1 if bits & f.sign else 0
    if biased == 0:
        return sign, fraction, f.lowest
    return sign, fraction | (1 << f.fraction), f.lowest + biased - 1


def rounds_up(rounding: Rounding, sign: int, odd: bool, half: int, inexact: bool) -> bool:
    """Tell whether to step away from zero; `half` is -1, 0, 1 for a rest below, at, above half a last place."""
    if rounding == "rn":
        return half > 0 or (half == 0 and odd)
    if rounding == "rna":
        return half >= 0
    if rounding == "rz":
        return False
    return inexact and (sign == 1) == (rounding == "rm")


def keep(m: int, shift: int, sticky: bool) -> tuple[int, int, bool]:
    """Drop the low `shift` bits of `m`; return what is left, the rest against half (-1, 0, 1), and inexactness."""
    if shift <= 0:
        return m << -shift, -1, sticky
    kept, rest, half = m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1)
    if rest == half:
        return kept, 1 if sticky else 0, True
    return kept, 1 if rest > half else -1, sticky or rest != 0


def join(f: Format, sign: int, m: int, e: int, rounding: Rounding, sticky: bool = False) -> int:
    """Round (-1)**sign * (m + tiny if sticky) * 2**e to the format (IEEE 754 section 4.3)."""
    top = f.sign if sign else 0
    if m == 0 and not sticky:
        return top
    place = max(e + m.bit_length() - f.fraction - 1, f.lowest)
    kept, half, inexact = keep(m, place - e, sticky)
    if rounds_up(rounding, sign, bool(kept & 1), half, inexact):
        kept += 1
    if kept >> (f.fraction + 1):
        kept, place = kept >> 1, place + 1
    if not kept >> f.fraction:
        return top | kept
    biased = place - f.lowest + 1
    if biased >= (1 << f.exponent) - 1:
        outward = rounding in ("rn", "rna") or (rounding == "rp" and not sign) or (rounding == "rm" and sign == 1)
        return top | (f.infinity if outward else f.infinity - 1)
    return top | (biased << f.fraction) | (kept & ((1 << f.fraction) - 1))


def add(f: Format, a: int, b: int, rounding: Rounding = "rn") -> int:
    """a + b."""
    if is_nan(f, a) or is_nan(f, b):
        return f.nan
    if is_infinite(f, a) or is_infinite(f, b):
        if is_infinite(f, a) and is_infinite(f, b) and a != b:
            return f.nan
        return a if is_infinite(f, a) else b
    return _sum(f, split(f, a), split(f, b), rounding)


def _sum(f: Format, a: tuple[int, int, int], b: tuple[int, int, int], rounding: Rounding) -> int:
    e = min(a[2], b[2])
    x, y = a[1] << (a[2] - e), b[1] << (b[2] - e)
    total = (-x if a[0] else x) + (-y if b[0] else y)
    if total == 0:  # IEEE 754 section 6.3: an exact zero sum is +0, or -0 when rounding down; equal signs are kept
        sign = a[0] if a[0] == b[0] else int(rounding == "rm")
        return f.sign if sign else 0
    return join(f, int(total < 0), abs(total), e, rounding)


def multiply(f: Format, a: int, b: int, rounding: Rounding = "rn") -> int:
    """a * b."""
    sign = (a ^ b) & f.sign
    if is_nan(f, a) or is_nan(f, b):
        return f.nan
    if is_infinite(f, a) or is_infinite(f, b):
        return f.nan if (a & ~f.sign) == 0 or (b & ~f.sign) == 0 else sign | f.infinity
    (_, x, p), (_, y, q) = split(f, a), split(f, b)
    return join(f, int(sign != 0), x * y, p + q, rounding)


def fused(f: Format, a: int, b: int, c: int, rounding: Rounding = "rn") -> int:
    """a * b + c with one rounding."""
    if is_nan(f, a) or is_nan(f, b) or is_nan(f, c):
        return f.nan
    sign = (a ^ b) & f.sign
    if is_infinite(f, a) or is_infinite(f, b):
        if (a & ~f.sign) == 0 or (b & ~f.sign) == 0 or (is_infinite(f, c) and c & f.sign != sign):
            return f.nan
        return sign | f.infinity
    if is_infinite(f, c):
        return c
    (_, x, p), (_, y, q) = split(f, a), split(f, b)
    return _sum(f, (int(sign != 0), x * y, p + q), split(f, c), rounding)


def divide(f: Format, a: int, b: int, rounding: Rounding = "rn") -> int:
    """a / b."""
    if is_nan(f, a) or is_nan(f, b):
        return f.nan
    sign = (a ^ b) & f.sign
    a_zero, b_zero = (a & ~f.sign) == 0, (b & ~f.sign) == 0
    if (is_infinite(f, a) and is_infinite(f, b)) or (a_zero and b_zero):
        return f.nan
    if is_infinite(f, a) or b_zero:
        return sign | f.infinity
    if is_infinite(f, b) or a_zero:
        return sign
    (_, x, p), (_, y, q) = split(f, a), split(f, b)
    shift = max(0, f.fraction + 4 + y.bit_length() - x.bit_length())
    quotient, rest = divmod(x << shift, y)
    return join(f, int(sign != 0), quotient, p - q - shift, rounding, rest != 0)


def root(f: Format, a: int, rounding: Rounding = "rn") -> int:
    """The square root of a."""
    if (a & ~f.sign) == 0 or a == f.infinity:
        return a
    if is_nan(f, a) or a & f.sign:
        return f.nan
    _, m, e = split(f, a)
    shift = 2 * f.fraction + 8 + (e & 1)
    m, e = m << shift, e - shift
    r = isqrt(m)
    return join(f, 0, r, e // 2, rounding, r * r != m)


def to_integral(f: Format, a: int, rounding: Rounding) -> int:
    """Round to an integral value in the same format, keeping the sign of zero."""
    if is_nan(f, a):
        return f.nan
    if is_infinite(f, a):
        return a
    sign, m, e = split(f, a)
    if e >= 0:
        return a
    return join(f, sign, integral(sign, m, e, rounding), 0, "rn")


def integral(sign: int, m: int, e: int, rounding: Rounding) -> int:
    """The magnitude of m * 2**e rounded to a whole number."""
    if e >= 0:
        return m << e
    kept, half, inexact = keep(m, -e, False)
    return kept + int(rounds_up(rounding, sign, bool(kept & 1), half, inexact))


def convert(source: Format, target: Format, a: int, rounding: Rounding) -> int:
    """Convert between formats."""
    if is_nan(source, a):
        return target.nan
    sign = target.sign if a & source.sign else 0
    if is_infinite(source, a):
        return sign | target.infinity
    s, m, e = split(source, a)
    return join(target, s, m, e, rounding)


def to_integer(f: Format, a: int, low: int, high: int, rounding: Rounding) -> int:
    """Round to a whole number within [low, high]; NaN gives 0."""
    if is_nan(f, a):
        return 0
    if is_infinite(f, a):
        return low if a & f.sign else high
    sign, m, e = split(f, a)
    magnitude = integral(sign, m, e, rounding)
    return max(low, min(high, -magnitude if sign else magnitude))


def from_integer(f: Format, value: int, rounding: Rounding) -> int:
    """Convert a whole number."""
    return join(f, int(value < 0), abs(value), 0, rounding)


def order(f: Format, a: int) -> int:
    """A key that orders non-NaN values, with -0 below +0."""
    return -(a & ~f.sign) - 1 if a & f.sign else a


def compare(f: Format, a: int, b: int) -> int | None:
    """-1, 0 or 1 as a is below, equal to or above b; None when unordered."""
    if is_nan(f, a) or is_nan(f, b):
        return None
    x = -(a & ~f.sign) if a & f.sign else a
    y = -(b & ~f.sign) if b & f.sign else b
    return (x > y) - (x < y)


def minimum(f: Format, a: int, b: int) -> int:
    """IEEE 754-2019 minimumNumber."""
    if is_nan(f, a):
        return f.nan if is_nan(f, b) else b
    return a if is_nan(f, b) or order(f, a) <= order(f, b) else b


def maximum(f: Format, a: int, b: int) -> int:
    """IEEE 754-2019 maximumNumber."""
    if is_nan(f, a):
        return f.nan if is_nan(f, b) else b
    return a if is_nan(f, b) or order(f, a) >= order(f, b) else b

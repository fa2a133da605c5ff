"""The number formats of devices: what they hold, how they round, and the values of 8-bit floats.

Sources: IEEE 754-2019 (binary16, 32, 64), OCP 8-bit Floating Point Specification 1.0 (`float8_e4m3fn`, `float8_e5m2`), the `fnuz` flavours as AMD's CDNA 3
has them (ISA manual, section "FP8 and BF8": bias one higher, one zero, one NaN at 0x80), NVIDIA's PTX manual for `tf32` (8 exponent bits, 10 of fraction).
"""

# pyright: basic
from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: `precision` counts the implied bit, `lowest` is the exponent of the smallest normal number."""

    name: str
    precision: int
    lowest: int
    largest: float
    infinity: bool = True

    @property
    def rounding(self) -> float:
        """The unit roundoff u: the greatest relative error of rounding to nearest."""
        return 2.0**-self.precision

    @property
    def normal(self) -> float:
        """The smallest normal number."""
        return 2.0**self.lowest

    @property
    def subnormal(self) -> float:
        """The smallest positive number."""
        return 2.0 ** (self.lowest - self.precision + 1)


FORMATS = {
    f.name: f
    for f in (
        Format("float64", 53, -1022, float(np.finfo(np.float64).max)),
        Format("float32", 24, -126, float(np.finfo(np.float32).max)),
        Format("tf32", 11, -126, (2 - 2.0**-10) * 2.0**127),
        Format("float16", 11, -14, 65504.0),
        Format("bfloat16", 8, -126, (2 - 2.0**-7) * 2.0**127),
        Format("float8_e4m3fn", 4, -6, 448.0, infinity=False),
        Format("float8_e4m3fnuz", 4, -7, 240.0, infinity=False),
        Format("float8_e5m2", 3, -14, 57344.0),
        Format("float8_e5m2fnuz", 3, -15, 57344.0, infinity=False),
    )
}


def format_of(dtype: str) -> Format | None:
    """Return the format of a dtype by PyTorch's short name; complex numbers have their parts'; None for integers and what is not known."""
    return FORMATS.get({"complex64": "float32", "complex128": "float64", "half": "float16"}.get(dtype, dtype))


def round_to(values: Array, dtype: str, *, saturate: bool = False) -> Array:
    """Return float64 values rounded to nearest, ties to even; what is too large becomes infinite, or NaN without infinities, or the largest number."""
    form = FORMATS[dtype]
    x = np.asarray(values, np.float64)
    _, exponent = np.frexp(x)
    quantum = np.maximum(exponent - form.precision, form.lowest - form.precision + 1)
    with np.errstate(invalid="ignore", over="ignore"):
        y = np.where(np.isfinite(x), np.ldexp(np.rint(np.ldexp(x, -quantum)), quantum), x)
        over = np.abs(y) > form.largest
    if saturate:
        return np.where(over, np.copysign(form.largest, y), y)
    return np.where(over, np.copysign(math.inf, y) if form.infinity else math.nan, y)


def truncate_to(values: Array, dtype: str) -> Array:
    """Return float64 values with the bits that the format lacks cut off, as units do that read only the upper bits of an operand."""
    form = FORMATS[dtype]
    x = np.asarray(values, np.float64)
    _, exponent = np.frexp(x)
    quantum = np.maximum(exponent - form.precision, form.lowest - form.precision + 1)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(x), np.ldexp(np.trunc(np.ldexp(x, -quantum)), quantum), x)


@cache
def codes(dtype: str) -> Array:
    """Return the values of the 256 codes of an 8-bit float as float32."""
    width = FORMATS[dtype].precision - 1
    unsigned_zero = dtype.endswith("fnuz")
    lowest = FORMATS[dtype].lowest
    values = np.empty(256, np.float32)
    for code in range(256):
        sign = -1.0 if code & 0x80 else 1.0
        exponent, fraction = (code & 0x7F) >> width, code & ((1 << width) - 1)
        if exponent == 0:
            value = fraction * 2.0 ** (lowest - width)
        else:
            value = (1 + fraction / (1 << width)) * 2.0 ** (lowest + exponent - 1)
        if unsigned_zero:
            values[code] = math.nan if code == 0x80 else sign * value
        elif dtype == "float8_e4m3fn":
            values[code] = math.nan if code & 0x7F == 0x7F else sign * value
        else:
            special = math.nan if fraction else sign * math.inf
            values[code] = special if exponent == 0x1F else sign * value
    values.setflags(write=False)
    return values

"""Types of few bits as numpy has them not: values of their bits, how coarse they are."""

import numpy as np

# Numbers of cudaDataType.
R32F, R64F, R16F, R8I, C32F, C64F, R32I, R16BF, E4M3, E5M2 = 0, 1, 2, 3, 4, 5, 10, 14, 28, 29

STORED = {
    R32F: np.float32, R64F: np.float64, R16F: np.float16, R8I: np.int8, C32F: np.complex64, C64F: np.complex128,
    R32I: np.int32, R16BF: np.uint16, E4M3: np.uint8, E5M2: np.uint8,
}  # fmt: skip
# The step from 1 to the next number, the least subnormal number, the largest number where what is larger becomes that.
EPSILON = {R32F: 2.0**-23, R64F: 2.0**-52, R16F: 2.0**-10, C32F: 2.0**-23, C64F: 2.0**-52, R16BF: 2.0**-7, E4M3: 2.0**-3, E5M2: 2.0**-2, R8I: 0, R32I: 0}  # fmt: skip
LEAST = {R16F: 2.0**-24, E4M3: 2.0**-9, E5M2: 2.0**-16, R8I: 1, R32I: 1}
BOUNDS = {E4M3: (-448, 448), E5M2: (-57344, 57344), R8I: (-128, 127), R32I: (-(2**31), 2**31 - 1)}


def _small(mantissa_bits, bias, infinities):
    """Return the values of the 256 numbers of a format of 8 bits (OCP 8-bit Floating Point Specification)."""
    values = []
    for bits in range(256):
        exponent, mantissa = (bits & 127) >> mantissa_bits, bits & ((1 << mantissa_bits) - 1)
        if infinities and exponent == 31:
            value = np.nan if mantissa else np.inf
        elif not infinities and bits & 127 == 127:
            value = np.nan
        elif exponent == 0:
            value = mantissa * 2.0 ** (1 - bias - mantissa_bits)
        else:
            value = (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
        values.append(-value if bits & 128 else value)
    return np.array(values)


SMALL = {E4M3: _small(3, 7, False), E5M2: _small(2, 15, True)}


def values(array, kind):
    """Return the numbers that an array of bits stands for, in f64 (or complex128)."""
    if kind in SMALL:
        return SMALL[kind][array]
    if kind == R16BF:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.complex128 if kind in (C32F, C64F) else np.float64)


def random(rng, shape, kind):
    """Return finite numbers of about one (whole numbers: of their type's range), subnormal ones among them."""
    if kind == R8I:
        return rng.integers(-128, 128, shape, dtype=np.int8)
    if kind == R32I:
        return rng.integers(-(2**20), 2**20, shape, dtype=np.int32)
    if kind in SMALL:
        bits = rng.integers(0, 256, shape, dtype=np.uint8)
        return np.where(np.abs(SMALL[kind][bits]) < 64, bits, np.uint8(0x38 if kind == E4M3 else 0x3C))
    if kind in (C32F, C64F):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(STORED[kind])
    numbers = rng.standard_normal(shape)
    if kind == R16BF:
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return numbers.astype(STORED[kind])


def rounded(numbers, mantissa_bits, ties_even):
    """Return f32 with so many bits behind the first, to the nearest."""
    gone = 23 - mantissa_bits
    bits = numbers.astype(np.float32).view(np.uint32).astype(np.uint64)
    half = (
        (1 << (gone - 1)) - 1 + ((bits >> np.uint64(gone)) & np.uint64(1)) if ties_even else np.uint64(1 << (gone - 1))
    )
    bits = (bits + half) & np.uint64(0xFFFFFFFF - (1 << gone) + 1)
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def check(got, kind, want, error):
    """Compare bits with numbers that are right up to `error`, and rounded once more to their type."""
    least, most = BOUNDS.get(kind, (-np.inf, np.inf))
    want = np.clip(want, least, most) if kind in BOUNDS else want
    if kind == R16F:
        with np.errstate(over="ignore"):
            overflown = np.isinf(want.astype(np.float16))
        want = np.where(overflown, np.copysign(np.inf, want), want)
    numbers = values(got, kind)
    with np.errstate(invalid="ignore"):
        fine = np.abs(numbers - want) <= error + np.abs(want) * EPSILON[kind] * 0.5001 + LEAST.get(kind, 1e-37) * 0.5001
    bad = ~(fine | (numbers == want))
    assert not bad.any(), (
        f"{np.argwhere(bad)[:3]}: {numbers[bad][:3]} for {want[bad][:3]}, error {np.broadcast_to(error, bad.shape)[bad][:3]}"
    )

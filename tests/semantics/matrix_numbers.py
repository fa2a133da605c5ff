"""Random matrices of every element type as bits, and their exact values; products in numpy or whole numbers."""

from __future__ import annotations

import numpy as np

BITS = {
    "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32,
    "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "e4m3": 8, "e5m2": 8,
}  # fmt: skip


def random_bits(kind, shape, rng):
    """Bits of moderate numbers: floats within a few powers of two of one, integers of the whole range."""
    if kind in ("f16", "bf16", "tf32", "f32", "f64"):
        return encode(kind, rng.normal(size=shape))
    if kind in ("e4m3", "e5m2"):  # exponents near the bias
        exponent = rng.integers(5, 9, shape) << 3 if kind == "e4m3" else rng.integers(13, 17, shape) << 2
        return exponent | rng.integers(0, 1 << (3 if kind == "e4m3" else 2), shape) | rng.integers(0, 2, shape) << 7
    if kind == "s32":
        return rng.integers(-(1 << 20), 1 << 20, shape) & 0xFFFFFFFF
    return rng.integers(0, 1 << BITS[kind], shape)


def encode(kind, values):
    values = np.asarray(values, np.float64)
    with np.errstate(all="ignore"):
        if kind == "f16":
            return values.astype(np.float16).view(np.uint16).astype(object)
        if kind == "bf16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(object)
        if kind == "f64":
            return values.view(np.uint64).astype(object)
        return values.astype(np.float32).view(np.uint32).astype(object)


def values(kind, bits):
    """The numbers that bits stand for, as f64 (exact) or whole numbers."""
    bits = np.asarray(bits, object)
    if kind == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    if kind == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind == "f32":
        return bits.astype(np.uint32).view(np.float32).astype(np.float64)
    if kind == "tf32":
        return (bits.astype(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    if kind == "f64":
        return bits.astype(np.uint64).view(np.float64)
    if kind == "e5m2":
        return (bits.astype(np.uint16) << 8).astype(np.uint16).view(np.float16).astype(np.float64)
    if kind == "e4m3":
        return np.vectorize(e4m3, otypes=[float])(bits.astype(int))
    width = BITS[kind]
    if kind[0] == "s":
        return np.vectorize(lambda x: (int(x) ^ 1 << width - 1) - (1 << width - 1), otypes=[object])(bits)
    return np.vectorize(int, otypes=[object])(bits)


def e4m3(bits):
    exponent, fraction = bits >> 3 & 15, bits & 7
    if bits & 0x7F == 0x7F:
        return float("nan")
    size = (1 + fraction / 8) * 2.0 ** (exponent - 7) if exponent else fraction / 8 * 2.0**-6
    return -size if bits & 0x80 else size


def multiply(kind, a, b, c, combine="mul", saturate=False):
    """A B + C of values: exact for whole numbers, in long double or f64 for floats (their products are exact there)."""
    if kind != "s32":
        with np.errstate(all="ignore"):
            return np.asarray(a, np.longdouble) @ np.asarray(b, np.longdouble) + c
    if combine == "mul":
        total = a.dot(b) + c
    else:
        how = np.bitwise_and if combine == "and" else np.bitwise_xor
        total = how(a.astype(int)[:, :, None], b.astype(int)[None, :, :]).sum(axis=1).astype(object) + c
    if saturate:
        return np.clip(total, -(1 << 31), (1 << 31) - 1)
    return np.vectorize(lambda x: (int(x) + (1 << 31)) % (1 << 32) - (1 << 31), otypes=[object])(total)


def agree(kind, found, wanted, scale):
    """Whether results are right: whole numbers exactly, floats within a few units in the last place of the largest term."""
    if kind == "s32":
        return bool((np.asarray(found, object) == np.asarray(wanted, object)).all())
    bound = {"f16": 2.0**-10, "f32": 2.0**-20, "f64": 2.0**-48}[kind]
    return bool(
        np.allclose(
            np.asarray(found, np.float64),
            np.asarray(wanted, np.float64),
            rtol=bound,
            atol=bound * scale,
            equal_nan=True,
        )
    )

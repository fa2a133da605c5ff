"""Sums as devices make them, in numpy: orders of summation, accumulators, and operands that break naive tolerances.

Arrays are (K, results): a step of a sum is one operation over all results. Nothing here is from the code that is tested.
"""

import numpy as np


def _accumulate(terms, add):
    total = np.zeros_like(terms[0])
    for term in terms:
        total = add(total, term)
    return total


def _float32(a, b):
    return np.float32(a + b)


def sequential(a, b):
    return _accumulate(a * b, np.add)


def fused(a, b):
    """Fused multiply-add: a product of two float32 is exact in float64, and rounding a float64 sum once more changes a result in 2^-29 of the cases."""
    total = np.zeros(a.shape[1], a.dtype)
    for x, y in zip(a.astype(np.float64), b.astype(np.float64)):
        total = (x * y + total).astype(a.dtype)
    return total


def backwards(a, b):
    return sequential(a[::-1], b[::-1])


def blocks(size):
    """A matrix unit's step: `size` exact products are added without rounding, then to the accumulator, which rounds."""

    def order(a, b):
        exact = a.astype(np.float64) * b
        total = np.zeros(a.shape[1], a.dtype)
        for start in range(0, len(a), size):
            total = (total + exact[start : start + size].sum(0)).astype(a.dtype)
        return total

    return order


def split(parts, size):
    """Split-K: parts are summed in steps of `size` by themselves, then together."""

    def order(a, b):
        pieces = [blocks(size)(x, y) for x, y in zip(np.array_split(a, parts), np.array_split(b, parts))]
        return _accumulate(pieces, np.add)

    return order


def tree(a, b):
    terms = a * b
    while len(terms) > 1:
        odd = terms[-1:] if len(terms) % 2 else terms[:0]
        terms = np.concatenate([terms[: len(terms) // 2 * 2 : 2] + terms[1::2], odd])
    return terms[0]


def truncating(size, bits=24):
    """An accumulator of `bits` that cuts: what a block brings is added and all below the accumulator's last bit falls away."""

    def order(a, b):
        exact = a.astype(np.float64) * b
        total = np.zeros(a.shape[1])
        for start in range(0, len(a), size):
            total = total + exact[start : start + size].sum(0)
            _, exponent = np.frexp(total)
            total = np.ldexp(np.trunc(np.ldexp(total, bits - exponent)), exponent - bits)
        return total.astype(np.float32)

    return order


ORDERS = {
    "sequential": sequential,
    "fused": fused,
    "backwards": backwards,
    "blocks of 4": blocks(4),
    "blocks of 16": blocks(16),
    "split-K": split(8, 16),
    "tree": tree,
}


def centred(rng, k, n):
    return rng.standard_normal((k, n)), rng.standard_normal((k, n))


def uniform(rng, k, n):
    return rng.uniform(-1, 1, (k, n)), rng.uniform(-1, 1, (k, n))


def same_sign(rng, k, n):
    a, b = centred(rng, k, n)
    return np.abs(a), np.abs(b)


def heavy_tails(rng, k, n):
    return rng.standard_t(2, (k, n)), rng.standard_normal((k, n))


def outliers(rng, k, n):
    a, b = centred(rng, k, n)
    return np.where(rng.random((k, n)) < 0.002, 100 * a, a), b


def cancelling(rng, k, n):
    """The second half takes away what the first has brought, all but a thousandth."""
    a, b = same_sign(rng, k, n)
    a[k // 2 :] = -a[: k - k // 2] * (1 + 1e-3 * rng.standard_normal((k - k // 2, n)))
    b[k // 2 :] = b[: k - k // 2]
    return a, b


def subnormal(rng, k, n):
    """Products and sums that lie around float32's smallest normal number."""
    a, b = centred(rng, k, n)
    return a * 2.0**-64, b * 2.0**-66


def ascending(rng, k, n):
    a, b = same_sign(rng, k, n)
    order = np.argsort(a * b, axis=0)
    return np.take_along_axis(a, order, 0), np.take_along_axis(b, order, 0)


OPERANDS = {
    f.__name__.replace("_", " "): f
    for f in (centred, uniform, heavy_tails, outliers, same_sign, cancelling, subnormal, ascending)
}
CENTRED = ("centred", "uniform", "heavy tails", "outliers")
"""Operands whose terms are independent and of mean zero: what the sharp bound is for."""

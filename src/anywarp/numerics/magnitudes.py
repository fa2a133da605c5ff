"""S for every kind of operation: what the rounding errors of one result scale with, in units of u (products: times sqrt(K) or K, `bounds.py`).

For a product S is |A||B|. For the others it is the sum of the absolute values of all terms and intermediate results that enter one result, by the function's
condition (Higham 2002, section 1.6; softmax and attention: Blanchard, Higham and Higham, IMA J. Numer. Anal. 41(4), 2021; the combination for
attention and for norms is ours).
"""

# pyright: basic
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def product(a: Array, b: Array, bias: Array | None = None) -> tuple[Array, Array]:
    """Return S and Q of a (..., M, K) times b (..., K, N), plus a bias."""
    a, b = np.abs(np.asarray(a, np.float64)), np.abs(np.asarray(b, np.float64))
    s, q = a @ b, (a * a) @ (b * b)
    if bias is not None:
        s, q = s + np.abs(bias), q + np.asarray(bias, np.float64) ** 2
    return s, np.sqrt(q)


def attention(weighted: Array, scores: Array, head: int, keys: int) -> Array:
    """Return S of softmax(q k^T) v from P|V| and the largest of scale * |q||k| over each query's keys (both broadcastable to the result).

    An error e of the scores changes each weight by the factor exp(+-2 e): the bound for a sum of `head` terms, twice, relative to that of `keys` terms.
    """
    return np.asarray(weighted) * (1 + 2 * math.sqrt(head / max(1, keys)) * np.asarray(scores))


def attention_of(q: Array, k: Array, v: Array, *, scale: float | None = None, mask: Array | None = None) -> Array:
    """Return S of attention over q (..., T, D), k (..., N, D), v (..., N, E); `mask` (broadcastable to (..., T, N)) is added to the scores."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = factor * (q @ np.swapaxes(k, -1, -2))
    sizes = abs(factor) * (np.abs(q) @ np.swapaxes(np.abs(k), -1, -2))
    if mask is not None:
        scores = scores + mask
        sizes = np.where(np.isneginf(scores), 0.0, sizes + np.where(np.isfinite(mask), np.abs(mask), 0.0))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return attention(weights @ np.abs(v), sizes.max(axis=-1, keepdims=True), q.shape[-1], k.shape[-2])


def softmax(x: Array, axis: int = -1, *, logarithm: bool = False) -> Array:
    """Return S of (log-)softmax along an axis: the rounding of x - max is an error of the exponent."""
    x = np.asarray(x, np.float64)
    distance = x.max(axis=axis, keepdims=True) - x
    with np.errstate(invalid="ignore"):
        distance = np.where(np.isfinite(distance), distance, 0.0)
    weights = np.exp(-distance)
    total = weights.sum(axis=axis, keepdims=True)
    return 1 + distance + np.abs(np.log(total)) if logarithm else weights / total * (1 + distance)


def norm(
    x: Array, weight: Array | None, bias: Array | None, count: int, *, centred: bool = True, epsilon: float = 1e-5
) -> Array:
    """Return S of a normalisation over the last `count` elements (`centred=False`: RMS norm): a variance as E[x^2] - E[x]^2 loses (rms / sigma)^2."""
    x = np.asarray(x, np.float64)
    rows = x.reshape(-1, count)
    mean = rows.mean(axis=1, keepdims=True) if centred else np.zeros((len(rows), 1))
    sigma = np.sqrt(np.square(rows - mean).mean(axis=1, keepdims=True) + epsilon)
    condition = np.sqrt(np.square(rows).mean(axis=1, keepdims=True) + epsilon) / sigma
    standard = np.abs(rows - mean) / sigma
    # x - mean is rounded by itself, the mean errs relative to rms, the variance by condition^2, halved by the root.
    size = standard * (1 + condition**2 / 2) + (condition if centred else 0.0)
    size = size.reshape(x.shape)
    if weight is not None:
        size = size * np.abs(weight)
    return size if bias is None else size + np.abs(bias)


def pointwise(value: Array, *inputs: Array | None) -> Array:
    """Return S of a pointwise function with derivative at most about 1 (activations, sums): |f(x)| plus the largest |x| that enters.

    The inputs are equal on both sides; |x| stands for intermediate results that cancel, as 1 + erf(x) in GELU.
    """
    size = np.abs(np.asarray(value, np.float64))
    for each in inputs:
        if each is not None:
            size = size + np.abs(np.asarray(each, np.float64))
    return size


CHUNK = 1 << 16
GROUP = 1 << 10
"""How many neighbouring results show a deviation: enough that one of them, however wrong, does not make it."""


def deviation(difference: Array, norm: Array, rounded: Array | float = 0.0) -> float | None:
    """Return the root mean square of |difference| / Q over neighbouring results that differ: the largest of any GROUP of them; None where fewer do.

    `rounded` is what rounding the results alone explains; where Q is 0 nothing is measured.
    """
    excess = np.maximum(np.abs(np.asarray(difference, np.float64)) - rounded, 0.0).reshape(-1)
    size = np.broadcast_to(norm, np.shape(difference)).reshape(-1)
    good = (excess > 0) & (size > 0) & np.isfinite(excess)
    with np.errstate(over="ignore"):
        squares = np.square(np.minimum(excess[good] / size[good], 1e100))
    groups = squares.size // GROUP
    if not groups:
        return None
    return math.sqrt(float(squares[: groups * GROUP].reshape(groups, GROUP).mean(1).max()))


def largest(values: Array) -> float:
    """Return the largest finite |x|, 0 where there is none."""
    flat = np.asarray(values).reshape(-1)
    top = 0.0
    for start in range(0, flat.size, CHUNK):
        part = flat[start : start + CHUNK]
        part = np.abs(part if np.iscomplexobj(part) else part.astype(np.float64))  # the least int8 has no counterpart
        part = part[np.isfinite(part)]
        if part.size:
            top = max(top, float(part.max()))
    return top

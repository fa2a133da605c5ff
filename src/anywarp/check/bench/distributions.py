"""Quantiles of the two distributions that intervals need, from their definitions: no SciPy for two functions."""

from __future__ import annotations

import math
from functools import lru_cache


@lru_cache(maxsize=4096)
def student_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t with a whole number of degrees of freedom, 0.5 < probability < 1, to 1e-10.

    The distribution function for whole degrees is a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4).
    """
    low, high = 0.0, 1.0
    while _student_central(high, freedom) < 2 * probability - 1:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _student_central(middle, freedom) < 2 * probability - 1 else (low, middle)
    return high


def _student_central(t: float, freedom: int) -> float:
    """Return the probability of |T| < t."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom % 2:
        term = total = cosine if freedom > 1 else 0.0
        for k in range(3, freedom - 1, 2):
            term *= cosine * cosine * (k - 1) / k
            total += term
        return 2 / math.pi * (angle + sine * total)
    term = total = 1.0
    for k in range(2, freedom - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    return sine * total


@lru_cache(maxsize=4096)
def binomial_tails(count: int, probability: float, tail: float) -> tuple[int, int]:
    """Return the largest `low` with P(X < low) <= tail, and the least `high` with P(X >= high) <= tail, for X binomial (count, probability).

    `low` is 0, and `high` count + 1, where no other number serves.
    """
    odds = math.log(probability) - math.log1p(-probability)
    log_mass = count * math.log1p(-probability)
    # Sums from below and from above, each over its own tail only: no cancellation.
    below, low = 0.0, 0
    for k in range(count + 1):
        below += math.exp(log_mass)
        if below > tail:
            break
        low = k + 1
        log_mass += math.log((count - k) / (k + 1)) + odds if k < count else 0.0
    above, high = 0.0, count + 1
    log_mass = count * math.log(probability)
    for k in range(count, -1, -1):
        above += math.exp(log_mass)
        if above > tail:
            break
        high = k
        log_mass += math.log(k / (count - k + 1)) - odds if k > 0 else 0.0
    return low, high

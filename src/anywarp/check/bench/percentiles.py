"""Percentiles of latencies with intervals that assume no distribution, also where one call's time hangs on the last one's.

An interval of order statistics holds its confidence for any distribution (David and Nagaraja, Order Statistics, 7.1): of n independent values
the number below the true percentile is binomial. Values of one process are not independent: n is divided by the time over which they hang
together, taken from the series itself (Geyer 1992, initial positive sequence).
"""

# pyright: basic
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anywarp.check.bench.distributions import binomial_tails, student_quantile

CONFIDENCE = 0.95
PERCENTILES = (50.0, 90.0, 95.0, 99.0)

Values = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Interval:
    """A measured value between two bounds; a bound is None where so few values give none."""

    value: float
    low: float | None
    high: float | None

    def as_json(self) -> dict[str, float | None]:
        """Return a JSON-ready mapping."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def map(self, factor: float) -> Interval:
        """Return the interval in another unit."""
        scaled = [None if x is None else x * factor for x in (self.value, self.low, self.high)]
        assert scaled[0] is not None
        return Interval(scaled[0], scaled[1], scaled[2])


def interval_from(value: Any) -> Interval:
    """Return the interval that `as_json` wrote down."""
    return Interval(float(value["value"]), value["low"], value["high"])


def correlation_time(values: Values) -> float:
    """Return over how many values one hangs on another: 1 where they are independent. Their count divided by it is what they are worth."""
    count = len(values)
    centred = values - values.mean()
    size = 1 << (2 * count - 1).bit_length()
    spectrum = np.fft.rfft(centred, size)
    covariance = np.fft.irfft(spectrum * spectrum.conj(), size)[:count]
    if count < 4 or covariance[0] <= 1e-300:
        return 1.0
    correlation = covariance / covariance[0]
    total = 0.0
    for k in range(0, count - 1, 2):  # sums of neighbours are positive until noise takes over
        pair = float(correlation[k] + correlation[k + 1])
        if pair <= 0:
            break
        total += pair
    return max(1.0, 2 * total - 1)


def percentile(values: Sequence[float] | Values, percent: float, confidence: float = CONFIDENCE) -> Interval:
    """Return a percentile of a series in the order in which it was measured, with its interval; 0 < percent < 100."""
    series = np.asarray(values, dtype=np.float64)
    share = percent / 100
    value = float(np.quantile(series, share))
    worth = int(len(series) / correlation_time((series <= value).astype(np.float64)))
    if worth < 1:
        return Interval(value, None, None)
    low, high = binomial_tails(worth, share, (1 - confidence) / 2)
    ordered = np.sort(series)
    stretch = (len(series) + 1) / (worth + 1)
    lower = max(1, math.floor(low * stretch)) if low >= 1 else 0
    upper = min(len(series), math.ceil(high * stretch)) if high <= worth else 0
    return Interval(value, float(ordered[lower - 1]) if lower else None, float(ordered[upper - 1]) if upper else None)


def mean(values: Sequence[float] | Values, confidence: float = CONFIDENCE) -> Interval:
    """Return the mean with its interval (Student's, over as many values as the series is worth)."""
    series = np.asarray(values, dtype=np.float64)
    value = float(series.mean())
    worth = len(series) / correlation_time(series)
    if worth < 2:
        return Interval(value, None, None)
    half = student_quantile((1 + confidence) / 2, int(worth) - 1) * float(series.std(ddof=1)) / math.sqrt(worth)
    return Interval(value, value - half, value + half)


def share(hits: int, count: int, confidence: float = CONFIDENCE) -> Interval:
    """Return a share with Wilson's interval (Wilson 1927), which stays within 0 and 1; requests are taken as independent."""
    if count <= 0:
        raise ValueError("a share of nothing")
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    value = hits / count
    middle = (value + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(value * (1 - value) / count + z * z / (4 * count * count))
    return Interval(value, max(0.0, middle - half), min(1.0, middle + half))

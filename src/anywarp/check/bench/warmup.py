"""Where warm-up ends: found in the times themselves, by change points, not assumed as a number of calls.

The series of logarithms is cut into stretches of one level each so that squared error and a price per cut are least (optimal partitioning:
Jackson et al. 2005; with pruning: Killick, Fearnhead and Eckley 2012). As in Barrett et al., Virtual Machine Warmup Blows Hot and Cold (2017),
the steady state is the last stretch with all before it that are at the same level, and there may be none.
"""

# pyright: basic
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

SAME = 0.02
"""Levels closer than this part are one level."""
SHORTEST = 5
"""Fewest values of a stretch: fewer are outliers."""
ENOUGH = 0.3
"""The least share of the series that must be steady."""
_MOST = 1500
_FENCE = 3.0

Kind = Literal["flat", "warm-up", "slowdown", "not steady"]

Values = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Steady:
    """From which value on the series is steady, and what came before it; `start` is also given where it is not."""

    start: int
    kind: Kind
    levels: tuple[tuple[int, float], ...]
    """The stretches: where each begins, and its level in the unit of the series."""


def find(times: Sequence[float]) -> Steady:
    """Return where the series is steady; it needs at least 2 * SHORTEST values, all positive."""
    if len(times) < 2 * SHORTEST:
        raise ValueError(f"a series of {len(times)} is too short")
    group = -(-len(times) // _MOST)
    whole = np.log(np.asarray(times, dtype=np.float64))
    count = len(whole) // group
    # A rest that fills no group is left out of the search only.
    logs = np.median(whole[: count * group].reshape(count, group), axis=1) if group > 1 else whole
    logs = _within_fences(logs)
    starts = _partition(logs, _price(logs))
    ends = [*starts[1:], len(logs)]
    levels = [float(np.mean(logs[a:b])) for a, b in zip(starts, ends, strict=True)]
    first = len(levels) - 1
    while first > 0 and abs(levels[first - 1] - levels[-1]) < math.log1p(SAME):
        first -= 1
    start = starts[first]
    kind: Kind = "flat"
    if len(logs) - start < max(ENOUGH * len(logs), SHORTEST):
        kind = "not steady"
    elif first > 0:
        before = np.average(levels[:first], weights=[b - a for a, b in zip(starts[:first], ends, strict=False)])
        kind = "warm-up" if before > levels[-1] else "slowdown"
    return Steady(
        start * group, kind, tuple((s * group, math.exp(level)) for s, level in zip(starts, levels, strict=True))
    )


def _within_fences(logs: Values) -> Values:
    """Pull outliers to the fences of a window around them: one long pause is no change of level."""
    window = 2 * SHORTEST + 1
    padded = np.pad(logs, window // 2, mode="reflect") if len(logs) > window // 2 else logs
    if padded is logs:
        return logs
    views = np.lib.stride_tricks.sliding_window_view(padded, window)
    low, middle, high = np.quantile(views, (0.25, 0.5, 0.75), axis=1)
    spread = np.maximum(high - low, 1e-9)
    return np.clip(logs, middle - _FENCE * spread, middle + _FENCE * spread)


def _price(logs: Values) -> float:
    """Return what a cut must save: a multiple of the noise's long-run variance, so that noise which hangs together makes no cuts.

    Noise is taken as a first-order autoregression; its two numbers come from medians of differences near and far, in which the few places
    where levels change do not count.
    """
    near, far = (_difference_variance(logs, lag) for lag in (1, max(1, min(10, len(logs) // 4))))
    variance = max(near, far, 1e-12)
    hangs = min(max(0.0, 1 - near / variance), 0.95)
    return variance * (1 + hangs) / (1 - hangs) * 3 * math.log(len(logs))


def _difference_variance(logs: Values, lag: int) -> float:
    """Return half the variance of differences over `lag` values, as if they were normal."""
    return float(np.median(np.abs(logs[lag:] - logs[:-lag])) / 0.6745) ** 2 / 2


def _partition(logs: Values, price: float) -> list[int]:
    """Return where stretches begin, by dynamic programming over the place of the last cut."""
    count = len(logs)
    sums = np.concatenate(([0.0], np.cumsum(logs)))
    squares = np.concatenate(([0.0], np.cumsum(logs * logs)))
    best = np.full(count + 1, np.inf)
    best[0] = -price
    last = np.zeros(count + 1, dtype=np.int64)
    candidates = np.array([0])
    for end in range(SHORTEST, count + 1):
        if end >= 2 * SHORTEST:
            candidates = np.append(candidates, end - SHORTEST)
        length = end - candidates
        total = sums[end] - sums[candidates]
        error = squares[end] - squares[candidates] - total * total / length
        cost = best[candidates] + np.maximum(error, 0.0)
        at = int(np.argmin(cost))
        best[end], last[end] = cost[at] + price, candidates[at]
        candidates = candidates[cost <= best[end] + 1e-12]
    starts: list[int] = []
    end = count
    while end > 0:
        end = int(last[end])
        starts.append(end)
    return starts[::-1]

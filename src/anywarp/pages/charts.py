"""Charts of intervals without scripts: what `charts.html` draws (its style is `charts.css`), and round scales."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One row of a chart of intervals, in percent of its width: where the interval begins and ends (None: open), and its value."""

    name: str
    text: str
    value: float
    low: float | None
    high: float | None
    kind: str = "one"


@dataclass(frozen=True)
class Scale:
    """A linear scale from `low` to `high`, with round ticks as (percent, text)."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        """Return where a value lies, in percent, within 0 and 100."""
        return round(min(100.0, max(0.0, 100 * (value - self.low) / (self.high - self.low))), 3)


def scale(values: Sequence[float], zero: bool = True) -> Scale:
    """Return a scale for these values, with 0 where `zero`."""
    low, high = min(values), max(values)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high <= low:
        low, high = low - abs(low) / 2 - 1e-9, high + abs(high) / 2 + 1e-9
    step = _round_step((high - low) / 4)
    first, last = int(low // step), int(-(-high // step))
    ticks = [n * step for n in range(first, last + 1)]
    span = ticks[-1] - ticks[0]
    return Scale(ticks[0], ticks[-1], tuple((round(100 * (t - ticks[0]) / span, 3), f"{t:g}") for t in ticks))


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(float(f"{m * power:.6g}") for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)

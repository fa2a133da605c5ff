"""How many times as long A takes as B, decided as early as the data allow, with an error that holds however early that is.

Each unit is one comparison in turns (A B B A, so that what drifts evenly falls out): the difference of mean logarithms. After so many units there
is a look; the k-th look has the confidence 1 - a/(k(k+1)), and as these shares add up to a (for any number of looks), the chance that any
interval ever shown misses the true ratio is at most a. Stopping when an interval is narrow is therefore allowed; looking on after each run is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from anywarp.check.bench.distributions import student_quantile
from anywarp.check.bench.percentiles import CONFIDENCE, Interval

FIRST_LOOK = 6
"""Units before the first look."""

DECIDED = 4.0
"""An effect so many times as large as the interval's half needs no narrower interval."""


def unit(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the difference of mean logarithms of A's and B's times in one unit; all positive, in any unit of time."""
    return math.fsum(map(math.log, first)) / len(first) - math.fsum(map(math.log, second)) / len(second)


def of_rounds(first: Sequence[float], second: Sequence[float], per_round: int = 2) -> float:
    """Return the difference of one unit of several rounds, of `per_round` times a side each: the median of the rounds' differences.

    What another program does to one round in some does not reach it; a mean would take all of it.
    """
    starts = range(0, len(first), per_round)
    rounds = sorted(unit(first[i : i + per_round], second[i : i + per_round]) for i in starts)
    middle = len(rounds) // 2
    return rounds[middle] if len(rounds) % 2 else (rounds[middle - 1] + rounds[middle]) / 2


@dataclass
class Sequential:
    """The rule: add units until it is `decided`; `precision` is the half of the interval that is wanted, as a part (0.01)."""

    precision: float = 0.01
    confidence: float = CONFIDENCE
    units: list[float] = field(default_factory=list[float])
    look: int = 0
    interval: Interval | None = None
    """The ratio A/B at the last look."""
    _next: int = FIRST_LOOK

    def add(self, difference: float) -> bool:
        """Add one unit; return whether it is decided."""
        if not math.isfinite(difference):
            raise ValueError("a time must be positive and finite")
        self.units.append(difference)
        if len(self.units) < self._next:
            return False
        self._take_look()
        return self.decided

    def finish(self) -> Interval:
        """Return the ratio A/B with its interval, at the last look or, where units came since, at one more."""
        if self.interval is None or len(self.units) > self._looked_at:
            self._take_look()
        assert self.interval is not None
        return self.interval

    _looked_at: int = 0

    def _take_look(self) -> None:
        self.look += 1
        self._looked_at = len(self.units)
        self._next = math.ceil(self._looked_at * 1.5)
        missed = (1 - self.confidence) / (self.look * (self.look + 1))
        centre = math.fsum(self.units) / len(self.units)
        half = _half(self.units, missed)
        self.interval = Interval(
            math.exp(centre), math.exp(centre - half) if half is not None else None,
            math.exp(centre + half) if half is not None else None,
        )  # fmt: skip

    @property
    def decided(self) -> bool:
        """Whether the last interval is as narrow as wanted, or as the effect needs."""
        found = self.interval
        if found is None or found.low is None or found.high is None:
            return False
        half = math.log(found.high / found.low) / 2
        return half <= math.log1p(self.precision) or half <= abs(math.log(found.value)) / DECIDED


def _half(units: Sequence[float], missed: float) -> float | None:
    """Return half the interval of the mean: Student's, of units or of pairs of units, whichever is wider.

    Neighbouring units may hang together through what drifts unevenly; pairs of them less. Taking the wider keeps the error at most what it is for one.
    """
    halves = [_student(units, missed)]
    if len(units) >= 2 * FIRST_LOOK:
        pairs = [(a + b) / 2 for a, b in zip(units[::2], units[1::2], strict=False)]
        halves.append(_student(pairs, missed))
    found = [half for half in halves if half is not None]
    return max(found) if found else None


def _student(values: Sequence[float], missed: float) -> float | None:
    count = len(values)
    if count < 2:
        return None
    centre = math.fsum(values) / count
    variance = math.fsum((x - centre) ** 2 for x in values) / (count - 1)
    return student_quantile(1 - missed / 2, count - 1) * math.sqrt(variance / count)

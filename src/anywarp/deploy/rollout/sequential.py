"""Evidence that may be looked at after every request: e-processes and the confidence sequences that follow from them.

An e-process for a hypothesis is a process that is never negative and whose mean is at most 1 at every stopping time while the hypothesis
holds; by Ville's inequality the chance that it ever reaches 1/alpha is at most alpha. What is not refuted is a confidence sequence: it holds
the truth at all times at once with chance 1 - alpha. All functions return natural logarithms of e-processes.

- Rates: mixtures over a Beta prior (Robbins 1970; Howard, Ramdas, McAuliffe, Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence
  sequences", Annals of Statistics 2021). Two sides: the product of both, the smallest over the parameter that is of no interest, as Turner
  and Grünwald do ("Exact anytime-valid confidence intervals for contingency tables and beyond", 2023).
- Quantiles: a quantile is where a rate has a given value (Howard and Ramdas, "Sequential estimation of quantiles", Bernoulli 2022).
- Bounded means: betting (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024).
- Ratios of unbounded means: the mixture of normals, asymptotic (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform central limit
  theory and asymptotic confidence sequences", Annals of Statistics 2024).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

RATE_PRIOR, QUANTILE_PRIORS = 200.0, (100.0, 1000.0)
"""Weights of the mixtures' priors in requests: they are narrowest after some times as many; any value is valid, and so is the mean over several."""
_TINY = 1e-12
_SHIFT = 10
_FEW = 200


def log_gamma(x: ArrayLike) -> Floats:
    """Return log Γ(x) for x > 0: Stirling's series behind a shift by ten, good to 1e-13 relative to the largest term."""
    x = np.asarray(x, dtype=np.float64)
    if x.size <= _FEW:  # where calling numpy costs more than computing
        return np.array([math.lgamma(one) for one in x.ravel().tolist()]).reshape(x.shape)  # pyright: ignore[reportUnknownMemberType]
    product = np.ones_like(x)
    for n in range(_SHIFT):
        product = product * (x + n)
    y = x + _SHIFT
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * y * y)) / (y * y)) / (y * y)) / y
    return (y - 0.5) * np.log(y) - y + 0.5 * math.log(2 * math.pi) + series - np.log(product)


def _within(x: Floats, low: ArrayLike, high: ArrayLike) -> Floats:
    return np.minimum(np.maximum(x, low), high)


def rate_evidence(successes: ArrayLike, trials: ArrayLike, rate: ArrayLike, weight: float = RATE_PRIOR) -> Floats:
    """Return the evidence against "each trial succeeds with chance `rate`, whatever came before".

    The prior is Beta about the rate in question; counts need not be whole (see `design_effect`).
    """
    if isinstance(successes, float | int) and isinstance(trials, float | int) and isinstance(rate, float | int):
        return np.float64(_one_rate_evidence(successes, trials, min(max(rate, _TINY), 1 - _TINY), weight))  # pyright: ignore[reportReturnType]
    p = _within(np.asarray(rate, dtype=np.float64), _TINY, 1 - _TINY)
    s, trials = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    a, b = p * weight + 0.5, (1 - p) * weight + 0.5
    likelihood = s * np.log(p) + (trials - s) * np.log1p(-p)
    mixture = log_gamma(a + s) + log_gamma(b + trials - s) - log_gamma(a + b + trials)
    return mixture - log_gamma(a) - log_gamma(b) + log_gamma(a + b) - likelihood


def _one_rate_evidence(s: float, n: float, p: float, weight: float) -> float:
    """Return the same for numbers, of which numpy would make arrays."""
    a, b, of = p * weight + 0.5, (1 - p) * weight + 0.5, math.lgamma
    mixture = of(a + s) + of(b + n - s) - of(a + b + n) - of(a) - of(b) + of(a + b)
    return mixture - s * math.log(p) - (n - s) * math.log1p(-p)


def quantile_evidence(ranks: ArrayLike, count: ArrayLike, p: float) -> Floats:
    """Return the evidence against "the quantile `p` has so many of the values at or below it"; the mean over two priors sees large differences soon, too."""
    narrow, wide = (rate_evidence(ranks, count, p, weight) for weight in QUANTILE_PRIORS)
    return np.logaddexp(narrow, wide) - math.log(2)


@dataclass(frozen=True)
class Rate:
    """How many of the requests on one side had something, such as an error."""

    successes: float
    trials: float

    @property
    def estimate(self) -> float:
        """The share; 0 without any request."""
        return self.successes / self.trials if self.trials else 0.0


def difference_evidence(source: Rate, target: Rate, difference: float) -> float:
    """Return the evidence against "the target's rate is the source's plus `difference`", the smallest over all rates of the source."""
    low, high = max(0.0, -difference), min(1.0, 1.0 - difference)
    if low > high:
        return math.inf

    def joint(p: Floats) -> Floats:
        return rate_evidence(source.successes, source.trials, p) + rate_evidence(
            target.successes, target.trials, p + difference
        )

    # each term is least near its own estimate, so the sum is between the two, or a little beside
    ends = sorted((source.estimate, target.estimate - difference))
    beside = 0.2 * (ends[1] - ends[0]) + 2 / (1 + min(source.trials, target.trials)) + 1e-6
    return _least(joint, max(low, ends[0] - beside), min(high, ends[1] + beside))


def _least(function: Callable[[Floats], Floats], low: float, high: float) -> float:
    """Return the least value of a function with one valley, by grids that close in on it."""
    low, high = min(low, high), max(low, high)
    best = math.inf
    for _ in range(4):
        points = np.linspace(low, high, 17)
        values = function(points)
        at = int(np.argmin(values))
        best = min(best, float(values[at]))
        low, high = float(points[max(at - 1, 0)]), float(points[min(at + 1, 16)])
    return best


def design_effect(events: NDArray[np.bool_], most: float = 50.0) -> float:
    """Return by how much the variance of a share is larger than that of independent events, from batch means; at least 1.

    Slow requests come in bursts; counts on both sides are divided by this, as for cluster samples (Kish 1965). An estimate: it makes tests
    careful, not exact.
    """
    n = events.size
    batches = min(int(math.sqrt(n)), 200)
    p = float(events.mean()) if n else 0.0
    if batches < 8 or p in (0.0, 1.0):
        return 1.0
    size = n // batches
    means = np.add.reduceat(events[: batches * size].astype(np.float64), np.arange(0, batches * size, size)) / size
    return min(max(float(size * means.var(ddof=1) / (p * (1 - p))), 1.0), most)


class Quantiles:
    """The values of one side, sorted, with the evidence against each being the quantile `p`."""

    def __init__(self, values: Floats, p: float, bursts: bool = False) -> None:
        """Sort; with `bursts`, counts are divided by their design effect. Of equal values each counts as a little larger than the one before."""
        self.values = np.sort(np.asarray(values, dtype=np.float64))
        self.p, self.effect = p, 1.0
        self._in_order = values if bursts else None
        self._plausible: dict[float, tuple[int, int]] = {}

    def divided(self, place: float) -> Quantiles:
        """Return the same with the design effect of "larger than `place`": about where the quantile would be if the target were at the limit."""
        if self._in_order is None:
            return self
        out = copy.copy(self)
        out.effect, out._plausible = design_effect(self._in_order > place), {}
        return out

    @property
    def estimate(self) -> float:
        """The quantile of the values seen; NaN without any."""
        if not self.values.size:
            return math.nan
        return float(self.values[min(int(self.p * self.values.size), self.values.size - 1)])

    def evidence(self, ranks: ArrayLike) -> Floats:
        """Return the evidence against "the quantile has so many of the values at or below it"."""
        return quantile_evidence(np.asarray(ranks) / self.effect, self.values.size / self.effect, self.p)

    def plausible(self, limit: float) -> tuple[int, int]:
        """Return the smallest and the largest rank whose evidence stays below `limit`."""
        if limit not in self._plausible:
            self._plausible[limit] = self._find_plausible(limit)
        return self._plausible[limit]

    def _find_plausible(self, limit: float) -> tuple[int, int]:
        n = self.values.size
        middle = round(self.p * n)

        def far(start: int, end: int) -> int:
            inside, outside = start, end
            while abs(outside - inside) > 1:
                between = (inside + outside) // 2
                if float(self.evidence(between)) < limit:
                    inside = between
                else:
                    outside = between
            return inside

        low = 0 if float(self.evidence(0)) < limit else far(middle, 0)
        high = n if float(self.evidence(n)) < limit else far(middle, n)
        return low, high


def quantile_ratio_evidence(
    source: Quantiles, target: Quantiles, ratio: float, limit: float = 40.0, enough: float = -math.inf
) -> float:
    """Return the evidence against "the target's quantile is `ratio` times the source's", at most `limit`.

    Where it is less than `enough`, the value may be larger than the evidence, but is less than `enough` too: one place is tried before all.
    """
    if not source.values.size or not target.values.size:
        return 0.0
    place = math.sqrt(max(source.estimate * ratio * target.estimate, 0.0))
    s_steps = source.values * ratio
    tried = source.evidence(np.searchsorted(s_steps, place, "right"))
    tried = float(tried + target.evidence(np.searchsorted(target.values, place, "right")))
    if tried < enough:
        return tried
    s_low, s_high = source.plausible(limit)
    t_low, t_high = target.plausible(limit)
    # the joint evidence changes only where a value of either side is passed
    steps = np.concatenate(
        [source.values[max(s_low - 1, 0) : s_high] * ratio, target.values[max(t_low - 1, 0) : t_high]]
    )
    best = limit
    for side in ("left", "right"):
        s_ranks = np.searchsorted(s_steps, steps, side=side)
        t_ranks = np.searchsorted(target.values, steps, side=side)
        good = (s_ranks >= s_low) & (s_ranks <= s_high) & (t_ranks >= t_low) & (t_ranks <= t_high)
        if good.any():
            joint = source.evidence(s_ranks[good]) + target.evidence(t_ranks[good])
            best = min(best, float(joint.min()))
    if s_low == 0 and t_low == 0:
        best = min(best, float(source.evidence(0) + target.evidence(0)))
    return best


def interval(
    evidence: Callable[[float, float], float], estimate: float, least: float, most: float, below: float, above: float
) -> tuple[float, float]:
    """Return the confidence sequence about an estimate: the values whose evidence is less than log(1 / level).

    `evidence` takes a value, and how much evidence is enough: less of it need not be exact.
    `below` and `above` are the levels of the lower and the upper bound, `least` and `most` the range of the parameter.
    """

    def edge(end: float, level: float) -> float:
        limit = math.log(1 / level)
        if evidence(end, limit) < limit:
            return end
        inside, outside = estimate, end
        for _ in range(40):
            between = (inside + outside) / 2
            if evidence(between, limit) < limit:
                inside = between
            else:
                outside = between
            if abs(outside - inside) <= 0.02 * abs(outside - estimate):
                break
        return outside

    return edge(least, below), edge(most, above)


class Betting:
    """The mean of values from 0 to 1, by betting against each value of a grid: capital for "larger" and for "smaller"."""

    def __init__(self, grid: ArrayLike) -> None:
        """Bet against every mean in the grid (growing, strictly between 0 and 1)."""
        self.grid = np.asarray(grid, dtype=np.float64)
        self.count, self.total, self.squares = 0, 0.0, 0.25
        self.above = np.zeros_like(self.grid)
        """Log capital of whoever bets that the mean is larger than the grid's value: evidence against smaller means."""
        self.below = np.zeros_like(self.grid)

    @property
    def mean(self) -> float:
        """The mean of what was seen."""
        return self.total / self.count if self.count else 0.0

    def add(self, values: ArrayLike) -> None:
        """Bet on further values, in their order; each bet knows only the values before it."""
        x = _within(np.asarray(values, dtype=np.float64), 0.0, 1.0)
        for start in range(0, x.size, 2048):
            self._bet(x[start : start + 2048])

    def _bet(self, x: Floats) -> None:
        above, below = self.gains(x)
        self.above += above.sum(axis=0)
        self.below += below.sum(axis=0)

    def gains(self, x: Floats) -> tuple[Floats, Floats]:
        """Take values in; return by how much each raises the log capital of either side, (values, grid), without adding it."""
        n = self.count + np.arange(x.size, dtype=np.float64)
        before = self.total + np.concatenate([[0.0], np.cumsum(x)[:-1]])
        means = (before + 0.5) / (n + 1)
        after = (before + x + 0.5) / (n + 2)
        deviations = (x - after) ** 2
        variances = (self.squares + np.concatenate([[0.0], np.cumsum(deviations)[:-1]])) / (n + 1)
        m = self.grid[None, :]
        gap = means[:, None] - m
        bet = gap / (
            variances[:, None] + gap * gap
        )  # the approximately growth-optimal bet (aGRAPA), cut off so that no bet can ruin
        stake = x[:, None] - m
        self.count += x.size
        self.total += float(x.sum())
        self.squares += float(deviations.sum())
        return np.log1p(_within(bet, 0.0, 0.75 / m) * stake), np.log1p(_within(bet, -0.75 / (1 - m), 0.0) * stake)

    def interval(self, below: float, above: float) -> tuple[float, float]:
        """Return the bounds of the mean at the levels `below` (lower bound) and `above` (upper bound), within 0 and 1."""
        low = np.flatnonzero(self.above >= math.log(1 / below))
        high = np.flatnonzero(self.below >= math.log(1 / above))
        return (
            float(self.grid[low[-1]]) if low.size else 0.0,
            float(self.grid[high[0]]) if high.size else 1.0,
        )


def ratio_interval(parts: Floats, wholes: Floats, below: float, above: float, least: int = 100) -> tuple[float, float]:
    """Return bounds of mean(parts) / mean(wholes), such as cost per token; asymptotic, so nothing is said before `least` pairs."""
    n = parts.size
    if n < least or not float(wholes.sum()) > 0:
        return 0.0, math.inf
    estimate = float(parts.sum() / wholes.sum())
    spread = float(np.std(parts - estimate * wholes, ddof=1) / wholes.mean())
    return estimate - spread * _radius(n, below), estimate + spread * _radius(n, above)


def _radius(n: int, level: float) -> float:
    """The radius of the normal mixture's confidence sequence, in standard deviations; narrowest near n = 2000."""
    weight = 1 / 200.0
    scale = n * weight + 1
    return math.sqrt(2 * scale / (n * n * weight) * (0.5 * math.log(scale) + math.log(1 / level)))

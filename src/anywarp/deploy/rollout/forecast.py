"""What a plan will lead to: how many requests each gate needs at each stage, how long that takes, what it costs to hold both pools.

The numbers come from the gates themselves, asked about traffic made up as evenly as possible: a target that is as good as the source. Real traffic
is uneven, so half of all rollouts take longer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from anywarp.deploy.rollout.finding import ERRORS, MOST, NOISE, SPREAD, counts, requests_to_find
from anywarp.deploy.rollout.gates import guards, name_of
from anywarp.deploy.rollout.plan import Agreement, Cost, Divergence, Errors, Gate, Kl, Latency, Plan, Power, Stage
from anywarp.deploy.rollout.sequential import (
    Betting,
    Floats,
    Quantiles,
    Rate,
    difference_evidence,
    quantile_ratio_evidence,
    rate_evidence,
    ratio_interval,
)


@dataclass(frozen=True)
class Forecast:
    """What one stage needs. Times are seconds; None where no number of requests decides."""

    stage: Stage
    needs: dict[str, float | None]
    """By gate: seconds until it can be decided."""
    lasts: float | None
    """Seconds that the stage is expected to last."""
    undecided: tuple[str, ...]
    """Gates that are not decided within `at_most`."""
    price: float
    """What both pools cost meanwhile, in the plan's currency."""
    finds: dict[str, tuple[float | None, float | None]]
    """By gate: requests after which a target that breaks the limit twice over is stopped (`finding.py`): all of it, or only the smallest class that must pass."""


def forecast(plan: Plan) -> list[Forecast]:
    """Return what each stage needs, at the plan's request rate."""
    return [_stage(plan, stage) for stage in plan.stages]


def _stage(plan: Plan, stage: Stage) -> Forecast:
    needs: dict[str, float | None] = {}
    for gate in plan.gates:
        if guards(plan, gate, stage):
            needs[name_of(gate)] = _seconds(plan, gate, stage)
    late = tuple(name for name, need in needs.items() if need is None or need > stage.at_most)
    longest = max((need for need in needs.values() if need is not None), default=0.0)
    lasts = None if any(need is None for need in needs.values()) else min(max(longest, stage.at_least), stage.at_most)
    hours = (stage.at_most if lasts is None else lasts) / 3600
    finds = {
        name_of(gate): (requests_to_find(plan, gate, stage), _to_find_in_a_class(plan, gate, stage))
        for gate in plan.gates
        if guards(plan, gate, stage)
    }
    return Forecast(stage, needs, lasts, late, hours * (plan.source.price + plan.target.price), finds)


def _to_find_in_a_class(plan: Plan, gate: Gate, stage: Stage) -> float | None:
    part = plan.endpoint.smallest_class
    return requests_to_find(plan, gate, stage, part) if 0 < part < 1 else None


def _seconds(plan: Plan, gate: Gate, stage: Stage) -> float | None:
    """Return the seconds until a gate is decided, by trying longer and longer times."""
    if isinstance(gate, Power):
        return 300.0  # a hundred intervals, or somewhat more
    low, high = 0.0, 16.0
    while not _decides(plan, gate, stage, high):
        low, high = high, high * 2
        if high * plan.endpoint.requests_per_second > MOST:
            return None
    while high / max(low, 1) > 1.1:
        between = (low + high) / 2
        low, high = (low, between) if _decides(plan, gate, stage, between) else (between, high)
    return high


def _decides(plan: Plan, gate: Gate, stage: Stage, seconds: float) -> bool:
    seen = counts(plan, stage, plan.endpoint.requests_per_second * seconds)
    replays, noise, answers, source = seen.replays, seen.noise, seen.answers, seen.source
    enough = math.log(1 / plan.confidence.missed)
    match gate:
        case Errors():
            return (
                difference_evidence(Rate(ERRORS * source, source), Rate(ERRORS * answers, answers), gate.more_at_most)
                >= enough
            )
        case Divergence() if plan.shadow.noise:
            return (
                difference_evidence(Rate(NOISE * noise, noise), Rate(NOISE * replays, replays), gate.at_most) >= enough
            )
        case Divergence():
            return gate.at_most > NOISE and float(rate_evidence(NOISE * replays, replays, gate.at_most)) >= enough
        case Latency():
            return _latency(gate, source, answers, enough)
        case Kl():
            return _mean(gate.at_most / gate.cap, replays, enough)
        case Agreement():
            return _mean(1 - gate.at_least, replays, enough)
        case Cost():
            limit = gate.ratio_at_most if gate.ratio_at_most is not None else 1.3
            _, high = ratio_interval(*_costs(answers), plan.confidence.false_alarm, plan.confidence.missed / 2)
            low, _ = ratio_interval(*_costs(source), plan.confidence.missed / 2, plan.confidence.false_alarm)
            return low > 0 and high / (1.0 if gate.at_most is not None else low) <= max(limit, 1.01)
        case _:
            return True


def _latency(gate: Latency, source: float, answers: float, enough: float) -> bool:
    pair = [Quantiles(_log_normal(n), gate.quantile) for n in (source, answers)]
    return quantile_ratio_evidence(pair[0], pair[1], gate.ratio_at_most) >= enough


def _log_normal(count: float) -> Floats:
    """Return values that are spread as evenly as the distribution has them; many are thinned about the tail's shape by symmetry of ranks."""
    n = min(int(count), 200_000)
    if n < 1:
        return np.empty(0)
    normal = NormalDist()
    grid = np.linspace(0.5 / 4096, 1 - 0.5 / 4096, 4096)
    table = np.array([normal.inv_cdf(float(p)) for p in grid])
    return np.exp(SPREAD * np.interp((np.arange(n) + 0.5) / n, grid, table))


def _mean(limit: float, count: float, enough: float) -> bool:
    """Say whether values whose mean is a third of the limit are told to be below it."""
    n = min(int(count), 200_000)
    if n < 1:
        return False
    rng = np.random.default_rng(7)
    bets = Betting([limit])
    bets.add(np.minimum(rng.exponential(limit / 3, n), 1.0))
    return float(bets.below[0]) >= enough


def _costs(count: float) -> tuple[Any, Any]:
    n = min(int(count), 200_000)
    tokens = np.exp(SPREAD * np.random.default_rng(3).standard_normal(n))
    return tokens * (0.9 + 0.2 * np.random.default_rng(4).random(n)), tokens

"""How many requests a gate needs to stop a target that breaks its limit twice over.

"Twice over": what the limit allows, two times: 4 % more errors where 2 % are allowed, a ratio of 1.1 where 1.05 is. What is seen is taken to be as much in
the target's favour as only `confidence.missed` of all rollouts see it (normal distribution about the truth), so the others stop sooner.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from anywarp.deploy.rollout.gates import levels, limit_of
from anywarp.deploy.rollout.ledger import ALL
from anywarp.deploy.rollout.plan import Agreement, Divergence, Errors, Gate, Kl, Latency, Plan, Stage
from anywarp.deploy.rollout.sequential import Betting, Rate, difference_evidence, quantile_evidence, rate_evidence

ERRORS, SPREAD, NOISE = 0.001, 0.5, 0.01
"""Assumed: one request in a thousand fails on either side; the logarithm of latency has this deviation; so many answers part by noise alone."""
MOST = 1 << 24
"""Requests beyond which nothing is said."""
_EFFECT = 1.1
"""By how much latency's counts are divided where requests are independent: the estimate is never below 1."""
_PATHS = 200
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Counts:
    """How many requests of each kind a stage has seen."""

    source: float
    answers: float
    """Of the target: callers, or replays in a shadow stage."""
    replays: float
    """On the other side, and compared."""
    noise: float
    """On the same side, and compared."""


def counts(plan: Plan, stage: Stage, requests: float) -> Counts:
    """Return what so many requests of callers come to in a stage; the source counts as full where it answered in the stage before."""
    share = stage.target_share
    compared = requests * (plan.shadow.sample if stage.compare is None else stage.compare)
    replays = compared * (1 - plan.shadow.noise)
    answers = replays if stage.kind == "shadow" else requests * share
    return Counts(requests * (1 - share) if share < 1 else requests, answers, replays, compared * plan.shadow.noise)


def twice_over(gate: Gate) -> float | None:
    """Return the truth for which `requests_to_find` speaks; None for gates of which nothing is said (cost, power)."""
    limit, _ = limit_of(gate)
    match gate:
        case Latency():
            return 1 + 2 * (limit - 1)
        case Agreement():
            return max(1 - 2 * (1 - limit), 0.0)
        case Errors() | Divergence() | Kl():
            return 2 * limit
        case _:
            return None


def requests_to_find(plan: Plan, gate: Gate, stage: Stage, part: float = 1.0) -> float | None:
    """Return after how many requests of callers the gate has failed in all but `confidence.missed` of rollouts; None where more than `MOST` are needed.

    `part` below 1: what is wrong is a class with this share of the requests, which must fail on its own.
    """
    if twice_over(gate) is None:
        return None
    false_alarm, missed = levels(plan, ALL if part == 1 else "class")
    enough, z = math.log(1 / false_alarm), _NORMAL.inv_cdf(1 - missed)
    if isinstance(gate, Kl | Agreement):
        answers = _answers_to_bet(gate, enough, missed)
        each = counts(plan, stage, 1.0).replays * part
        return answers / each if answers is not None and each > 0 and answers / each <= MOST else None
    return _least(lambda requests: _finds(plan, gate, counts(plan, stage, requests * part), enough, z))


def _least(finds: Callable[[float], bool]) -> float | None:
    low, high = 0.0, 64.0
    while not finds(high):
        low, high = high, high * 2
        if high > MOST:
            return None
    while high > 1.05 * low:
        between = (low + high) / 2
        low, high = (low, between) if finds(between) else (between, high)
    return high


def _finds(plan: Plan, gate: Gate, seen: Counts, enough: float, z: float) -> bool:
    limit, _ = limit_of(gate)
    match gate:
        case Errors():
            return _share_found(seen.source, ERRORS, seen.answers, min(ERRORS + 2 * limit, 1.0), limit, enough, z)
        case Divergence() if plan.shadow.noise:
            return _share_found(seen.noise, NOISE, seen.replays, min(NOISE + 2 * limit, 1.0), limit, enough, z)
        case Divergence():
            truth = min(2 * limit, 1.0)
            rate = truth - z * math.sqrt(truth * (1 - truth) / seen.replays)
            return rate > limit and float(rate_evidence(rate * seen.replays, seen.replays, limit)) >= enough
        case Latency():
            return _latency_found(gate, seen, enough, z)
        case _:
            return False


def _share_found(
    source: float, source_rate: float, target: float, target_rate: float, limit: float, enough: float, z: float
) -> bool:
    variances = source_rate * (1 - source_rate) / source, target_rate * (1 - target_rate) / target
    shift = z * math.sqrt(sum(variances))
    low = target_rate - shift * variances[1] / sum(variances)
    high = source_rate + shift * variances[0] / sum(variances)
    if low - high <= limit:
        return False
    return difference_evidence(Rate(high * source, source), Rate(low * target, target), limit) >= enough


def _latency_found(gate: Latency, seen: Counts, enough: float, z: float) -> bool:
    """Say the same of a quantile: latency as a normal distribution of its logarithm, the evidence least over where the quantile is."""
    p, place = gate.quantile, SPREAD * _NORMAL.inv_cdf(gate.quantile)
    density = _NORMAL.pdf(place / SPREAD) / SPREAD
    variances = [p * (1 - p) / (n / _EFFECT * density * density) for n in (seen.source, seen.answers)]
    shift = z * math.sqrt(sum(variances))
    source = shift * variances[0] / sum(variances) + math.log(gate.ratio_at_most)
    target = math.log(1 + 2 * (gate.ratio_at_most - 1)) - shift * variances[1] / sum(variances)
    if target <= source:
        return False
    places = np.linspace(place + source, place + target, 33)
    shares = [np.array([_NORMAL.cdf(x / SPREAD) for x in places - moved]) for moved in (source, target)]
    joint = sum(
        quantile_evidence(share * n / _EFFECT, n / _EFFECT, p) for share, n in zip(shares, (seen.source, seen.answers))
    )
    return float(np.min(joint)) >= enough


def _answers_to_bet(gate: Kl | Agreement, enough: float, missed: float) -> float | None:
    """Return after how many compared answers the bets on a mean have won in all but `missed` of made-up paths, whose values are exponential."""
    limit = gate.at_most / gate.cap if isinstance(gate, Kl) else 1 - gate.at_least
    rng, count = np.random.default_rng(7), 256
    while count <= 1 << 16:
        values = np.minimum(rng.exponential(2 * limit, (_PATHS, count)), 1.0)
        won = np.sort([_first_win(row, limit, enough) for row in values])
        at = won[min(math.ceil((1 - missed / 2) * _PATHS), _PATHS - 1)]
        if at <= count:
            return float(at)
        count *= 4
    return None


def _first_win(values: np.ndarray, limit: float, enough: float) -> int:
    above, _ = Betting([limit]).gains(values)
    won = np.flatnonzero(np.cumsum(above[:, 0]) >= enough)
    return int(won[0]) + 1 if won.size else 1 << 30

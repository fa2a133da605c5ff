"""The gates: what each has seen, between which bounds the truth lies, and whether that passes, fails, or is open.

A gate compares with a limit M that the plan states. It fails when the lower bound is above M, and passes when the upper bound is at or below
it; both bounds hold at all times at once (`sequential.py`), so it may be asked after every request.

The chance of a false alarm is divided over stages and gates, and within a gate half is kept for all requests and half for the classes. The chance to
pass what breaks a limit need not be divided: a stage passes only when every gate does, so the broken one must err itself
(an intersection-union test: Berger, Technometrics 1982).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from anywarp.deploy.rollout.ledger import ALL, MOST_ROUTES, Ledger, Scope, Side, numbers
from anywarp.deploy.rollout.plan import (
    Agreement,
    Cost,
    Divergence,
    Errors,
    Gate,
    Kl,
    Latency,
    Plan,
    Power,
    Stage,
    title,
)
from anywarp.deploy.rollout.sequential import (
    Floats,
    Quantiles,
    Rate,
    difference_evidence,
    interval,
    quantile_ratio_evidence,
    rate_evidence,
    ratio_interval,
)
from anywarp.deploy.rollout.units import percent

Result = Literal["pass", "fail", "open"]


@dataclass(frozen=True)
class Verdict:
    """What one gate says of all requests or of a class, with its evidence."""

    gate: int
    name: str
    scope: str
    result: Result
    source: int
    """How many requests of the source it rests on; `target` likewise."""
    target: int
    estimate: float
    lower: float
    upper: float
    limit: float
    unit: str
    false_alarm: float
    missed: float
    required: bool
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping; what is not finite is None."""
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in vars(self).items()}


def name_of(gate: Gate) -> str:
    """Return a gate's name for people."""
    if isinstance(gate, Latency):
        measure = "time to first token" if gate.measure == "first" else "latency"
        return f"{measure} p{100 * gate.quantile:g}"
    return {
        "divergence": "divergent answers",
        "kl": "KL per token",
        "agreement": "agreement of first choices",
        "errors": "errors",
        "cost": "cost per million tokens",
        "power": "energy per token",
    }[gate.kind]


def limit_of(gate: Gate) -> tuple[float, str]:
    """Return a gate's limit and its unit: what the bounds are compared with."""
    match gate:
        case Latency():
            return gate.ratio_at_most, "target / source"
        case Errors():
            return gate.more_at_most, "target - source"
        case Divergence():
            return gate.at_most, "share beyond the noise"
        case Kl():
            return gate.at_most, "nats"
        case Agreement():
            return gate.at_least, "share"
        case Cost():
            return (
                (gate.at_most, "per million tokens")
                if gate.at_most is not None
                else (gate.ratio_at_most or 0.0, "target / source")
            )
        case Power():
            return gate.joules_per_token_at_most, "J per token"


def show(value: float | None, unit: str) -> str:
    """Return a bound or limit for people."""
    if value is None or not math.isfinite(value):
        return "–"
    return percent(value) if "share" in unit or unit == "target - source" else f"{value:.4g}"


def guards(plan: Plan, gate: Gate, stage: Stage) -> bool:
    """Say whether a gate can be decided in a stage, and is meant to."""
    if gate.stages is not None and stage.title not in map(title, gate.stages):
        return False
    if isinstance(gate, Divergence | Kl | Agreement):
        return (plan.shadow.sample if stage.compare is None else stage.compare) > 0
    return stage.kind != "shadow" or isinstance(gate, Errors)


def levels(plan: Plan, scope: str) -> tuple[float, float]:
    """Return the levels of the lower bound (false alarms) and of the upper one (misses)."""
    tests = sum(guards(plan, gate, stage) for stage in plan.stages for gate in plan.gates)
    share = plan.confidence.false_alarm / max(tests, 1) / 2
    classes = len(plan.endpoint.length_classes) + 1 + MOST_ROUTES
    return (share if scope == ALL else share / classes), plan.confidence.missed


class Gates:
    """The gates of one stage over its ledger; what passed once has passed, unless it fails later."""

    def __init__(self, plan: Plan, stage: Stage, ledger: Ledger, reference: Ledger | None = None) -> None:
        """`reference` is the ledger of the last stage in which the source answered: its share of a stage with all traffic on the target."""
        self.plan, self.stage, self.ledger, self.reference = plan, stage, ledger, reference
        self.passed: set[tuple[int, str]] = set()
        self.power: list[tuple[float, float]] = []
        """Joules and tokens of each interval that was measured."""

    def judge(self, bounds: bool = True) -> list[Verdict]:
        """Return a verdict per gate and scope; without `bounds` only results, limits and counts are right, which is quicker."""
        out: list[Verdict] = []
        for n, gate in enumerate(self.plan.gates):
            if not guards(self.plan, gate, self.stage):
                continue
            for scope in [ALL] if isinstance(gate, Power) else list(self.ledger.scopes):
                out.append(self.verdict(n, gate, scope, bounds))
        return out

    def verdict(self, n: int, gate: Gate, scope: str, bounds: bool) -> Verdict:
        """Return what the n-th gate says of all requests or of a class."""
        false_alarm, missed = levels(self.plan, scope)
        limit, unit = limit_of(gate)
        look = self._look(n, gate, scope)
        result, lower, upper = look.decide(limit, false_alarm, missed, bounds)
        if result == "pass":
            self.passed.add((n, scope))
        elif result == "open" and (n, scope) in self.passed:
            result = "pass"
        required = scope == ALL or self.ledger.share(scope) >= self.plan.endpoint.smallest_class
        return Verdict(
            n, name_of(gate), scope, result, look.source, look.target, look.estimate, lower, upper, limit, unit,
            false_alarm, missed, required, look.note,
        )  # fmt: skip

    def _look(self, n: int, gate: Gate, scope: str) -> _Look:
        sides = self.ledger.scopes[scope].sides
        source, note = self._source(scope)
        answers = sides["shadow"] if self.stage.kind == "shadow" else sides["target"]
        match gate:
            case Errors():
                return _Difference(Rate(source.errors, source.count), Rate(answers.errors, answers.count), note)
            case Latency():
                a, b = (numbers(getattr(side, gate.measure)) for side in (source, answers))
                return _Ratio(a, b, gate.quantile, gate.ratio_at_most, note)
            case Divergence():
                noise = _share(sides["noise"], n)
                return _Difference(noise if self.plan.shadow.noise else None, _share(sides["shadow"], n), "")
            case Kl():
                return _Mean(self.ledger, scope, n, gate.at_most, gate.cap, False)
            case Agreement():
                return _Mean(self.ledger, scope, n, 1 - gate.at_least, 1.0, True)
            case Cost():
                return _PerToken(source if gate.ratio_at_most is not None else None, answers, note)
            case Power():
                return _Energy(self.power)

    def _source(self, scope: str) -> tuple[Side, str]:
        """Return the source's answers to compare with: of this stage, or of the last one in which it answered."""
        if self.stage.target_share < 1 or self.reference is None:
            return self.ledger.scopes[scope].sides["source"], ""
        place = self.reference.scopes.get(scope, Scope())
        return place.sides["source"], "the source as it answered in the last stage before"


class _Look:
    """What a gate has of one scope. Subclasses bring evidence against a value being the truth, or bounds themselves."""

    source = target = 0
    estimate = math.nan
    note = ""
    least, most = -1.0, 1.0

    def evidence(self, value: float, enough: float = -math.inf) -> float:
        """Return the evidence against a value; below `enough`, what is left of it need not be exact."""
        raise NotImplementedError

    def decide(self, limit: float, false_alarm: float, missed: float, bounds: bool) -> tuple[Result, float, float]:
        """Return the result with lower and upper bound."""
        if not self.target or math.isnan(self.estimate):
            return "open", self.least, self.most
        enough = math.log(1 / (false_alarm if self.estimate > limit else missed))
        result: Result = "open"
        if self.evidence(limit, enough) >= enough:
            result = "fail" if self.estimate > limit else "pass"
        if not bounds:
            return result, self.least, self.most
        return result, *interval(self.evidence, self.estimate, self.least, self.most, false_alarm, missed)


def _share(side: Side, gate: int) -> Rate:
    parted = side.parted.get(gate)
    return Rate(float(sum(parted)), len(parted)) if parted else Rate(0, 0)


class _Difference(_Look):
    """The target's share minus the source's; minus nothing where there is no source."""

    def __init__(self, source: Rate | None, target: Rate, note: str) -> None:
        self._rates = source, target
        self.source, self.target, self.note = int(source.trials) if source else 0, int(target.trials), note
        if target.trials and (source is None or source.trials):
            self.estimate = target.estimate - (source.estimate if source else 0.0)
        self.least = -1.0 if source else 0.0

    def evidence(self, value: float, enough: float = -math.inf) -> float:
        source, target = self._rates
        if source is None:
            return float(rate_evidence(target.successes, target.trials, value))
        return difference_evidence(source, target, value)


class _Ratio(_Look):
    """The target's quantile over the source's."""

    least, most = 0.02, 50.0

    def __init__(self, source: Floats, target: Floats, p: float, limit: float, note: str) -> None:
        self.source, self.target, self.note = source.size, target.size, note
        if not source.size or not target.size:
            return
        a, b = Quantiles(source, p, bursts=True), Quantiles(target, p, bursts=True)
        place = math.sqrt(max(a.estimate * limit * b.estimate, 0.0))
        self.source_values, self.target_values = a.divided(place / limit), b.divided(place)
        if a.estimate > 0:
            self.estimate = b.estimate / a.estimate
            self.least, self.most = min(self.least, self.estimate / 10), max(self.most, 10 * self.estimate)

    def evidence(self, value: float, enough: float = -math.inf) -> float:
        return quantile_ratio_evidence(self.source_values, self.target_values, value, enough=enough)


class _Bounded(_Look):
    """Bounds are known without a search."""

    least, most = 0.0, math.inf

    def bounds(self, false_alarm: float, missed: float) -> tuple[float, float]:
        raise NotImplementedError

    def decide(self, limit: float, false_alarm: float, missed: float, bounds: bool) -> tuple[Result, float, float]:
        lower, upper = self.bounds(false_alarm, missed)
        return ("fail" if lower > limit else "pass" if upper <= limit else "open"), lower, upper


class _Mean(_Bounded):
    """A mean of bounded values; `flipped` where more is better, so that the share of the opposite was bet on."""

    def __init__(self, ledger: Ledger, scope: str, gate: int, limit: float, cap: float, flipped: bool) -> None:
        self._bets = ledger.bet(scope, gate, limit / cap)
        self._limit, self._cap, self._flipped = limit / cap, cap, flipped
        self.target = self._bets.count
        if self.target:
            self.estimate = 1 - self._bets.mean if flipped else self._bets.mean * cap

    def decide(self, limit: float, false_alarm: float, missed: float, bounds: bool) -> tuple[Result, float, float]:
        at = int(np.searchsorted(self._bets.grid, self._limit * (1 - 1e-9)))
        result: Result = "open"
        if float(self._bets.above[at]) >= math.log(1 / false_alarm):
            result = "fail"
        elif float(self._bets.below[at]) >= math.log(1 / missed):
            result = "pass"
        lower, upper = self._bets.interval(false_alarm, missed)
        return (result, 1 - upper, 1 - lower) if self._flipped else (result, lower * self._cap, upper * self._cap)


class _PerToken(_Bounded):
    """Cost per million tokens of the target, or its ratio to the source's."""

    def __init__(self, source: Side | None, target: Side, note: str) -> None:
        self._sides = source, target
        self.source, self.target, self.note = len(source.cost) if source else 0, len(target.cost), note
        if target.cost and (source is None or sum(source.cost)):
            self.estimate = _unit_cost(target) / (_unit_cost(source) if source else 1.0)

    def bounds(self, false_alarm: float, missed: float) -> tuple[float, float]:
        source, target = self._sides
        if source is None:
            low, high = ratio_interval(numbers(target.cost), numbers(target.tokens), false_alarm, missed)
            return 1e6 * low, 1e6 * high
        low, high = ratio_interval(numbers(target.cost), numbers(target.tokens), false_alarm / 2, missed / 2)
        s_low, s_high = ratio_interval(numbers(source.cost), numbers(source.tokens), missed / 2, false_alarm / 2)
        return low / s_high if s_high > 0 else 0.0, high / s_low if s_low > 0 else math.inf


def _unit_cost(side: Side) -> float:
    return 1e6 * float(numbers(side.cost).sum()) / float(numbers(side.tokens).sum())


class _Energy(_Bounded):
    """Joules per token over intervals."""

    def __init__(self, measured: list[tuple[float, float]]) -> None:
        self._joules = np.asarray([joules for joules, _ in measured], dtype=np.float64)
        self._tokens = np.asarray([tokens for _, tokens in measured], dtype=np.float64)
        self.target = len(measured)
        if float(self._tokens.sum()) > 0:
            self.estimate = float(self._joules.sum() / self._tokens.sum())

    def bounds(self, false_alarm: float, missed: float) -> tuple[float, float]:
        return ratio_interval(self._joules, self._tokens, false_alarm, missed, least=30)


def decide(verdicts: list[Verdict]) -> tuple[Result, list[Verdict]]:
    """Return what the gates say of a stage together, with the verdicts that make it so: those that fail, or are open and required."""
    failed = [v for v in verdicts if v.result == "fail"]
    if failed:
        return "fail", failed
    waiting = [v for v in verdicts if v.result == "open" and v.required]
    return ("open", waiting) if waiting else ("pass", verdicts)

"""What a report tells, gathered from the durable state: stages over time, gates look by look, decisions, costs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from anywarp.deploy.rollout.gates import limit_of, name_of
from anywarp.deploy.rollout.observations import read_counts
from anywarp.deploy.rollout.plan import Plan
from anywarp.deploy.rollout.state import Event, Row, State

PHASES = {
    "new": "not begun", "moving": "moving", "watching": "watching", "asking": "asks a person", "held": "held", "reverting": "rolling back",
    "reverted": "rolled back", "done": "done",
}  # fmt: skip
_STEPS = ("watching", "reverted", "partly reverted")


@dataclass(frozen=True)
class Span:
    """A time in which the traffic was divided in one way."""

    title: str
    share: float
    start: float
    end: float


@dataclass
class Curve:
    """A gate over one set of requests: a point per look."""

    gate: int
    name: str
    scope: str
    unit: str
    limit: float
    points: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def failed(self) -> bool:
        """Whether it ever failed."""
        return any(p["result"] == "fail" for p in self.points)


@dataclass(frozen=True)
class Facts:
    """Everything in a report."""

    plan: Plan
    row: Row | None
    events: list[Event]
    spans: list[Span]
    curves: list[Curve]
    counts: dict[str, int]
    costs: list[tuple[str, float, float, float]]
    """Stage, hours, cost of the source pool, cost of the target pool."""

    @property
    def cause(self) -> dict[str, Any] | None:
        """What is known of the last failure."""
        for event in reversed(self.events):
            if event.says("cause"):
                found: dict[str, Any] = event.evidence["cause"]
                return found
        return None

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        return {
            "name": self.plan.name,
            "rollout": None if self.row is None else {k: v for k, v in vars(self.row).items() if k != "plan"},
            "spans": [vars(s) for s in self.spans],
            "gates": [vars(c) for c in self.curves],
            "events": [vars(e) for e in self.events],
            "counts": self.counts,
            "costs": [{"stage": s, "hours": h, "source": a, "target": b} for s, h, a, b in self.costs],
            "cause": self.cause,
        }


def facts(plan: Plan, state: State) -> Facts:
    """Gather what is known of a rollout."""
    row, events = state.row(), state.events()
    end = row.changed if row is not None and row.ended else time.time()
    spans = _spans(plan, events, end)
    costs = [
        (s.title, (s.end - s.start) / 3600, (s.end - s.start) / 3600 * plan.source.price, (s.end - s.start) / 3600 * plan.target.price)
        for s in spans
    ]  # fmt: skip
    return Facts(
        plan, row, events, spans, _curves(plan, state.looks()), read_counts(state.observations, plan.name), costs
    )


def _spans(plan: Plan, events: list[Event], end: float) -> list[Span]:
    shares = {stage.title: stage.target_share for stage in plan.stages}
    steps = [e for e in events if e.kind in _STEPS]
    out: list[Span] = []
    for n, event in enumerate(steps):
        until = steps[n + 1].time if n + 1 < len(steps) else max(end, event.time)
        share = shares.get(event.stage, 0.0) if event.kind == "watching" else 0.0
        title = event.stage if event.kind == "watching" else event.kind
        out.append(Span(title, share, event.time, max(until, event.time)))
    return out


def _curves(plan: Plan, looks: list[dict[str, Any]]) -> list[Curve]:
    found: dict[tuple[int, str], Curve] = {}
    for number, look in enumerate(looks):
        for verdict in look["verdicts"]:
            key = (int(verdict["gate"]), str(verdict["scope"]))
            if key not in found:
                gate = plan.gates[key[0]]
                limit, unit = limit_of(gate)
                found[key] = Curve(key[0], name_of(gate), key[1], unit, limit)
            found[key].points.append({"look": number, "stage": look["stage"], "watched": look["watched"], **verdict})
    return [found[key] for key in sorted(found, key=lambda key: (key[0], key[1] != "all", key[1]))]

"""What was seen in one stage, as the gates need it: streams of numbers per side, over all and per class of requests."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from anywarp.deploy.rollout.observations import Observation
from anywarp.deploy.rollout.plan import Agreement, Divergence, Kl, Plan, Pool
from anywarp.deploy.rollout.sequential import Betting, Floats

Stream = Literal["source", "target", "shadow", "noise"]
"""Answers to callers by either pool; replays on the other pool; replays on the same pool, whose partings are its own noise."""

ALL = "all"
MOST_ROUTES = 4
_REMEMBERED = 20_000


def numbers(values: array[float]) -> Floats:
    """Return an array of numbers without copying."""
    return np.frombuffer(values, dtype=np.float64) if values else np.empty(0)


@dataclass
class Side:
    """One stream of requests, in order."""

    count: int = 0
    errors: int = 0
    ids: array[int] = field(default_factory=lambda: array("q"))
    failed: array[float] = field(default_factory=lambda: array("d"))
    first: array[float] = field(default_factory=lambda: array("d"))
    total: array[float] = field(default_factory=lambda: array("d"))
    cost: array[float] = field(default_factory=lambda: array("d"))
    tokens: array[float] = field(default_factory=lambda: array("d"))
    compared_ids: array[int] = field(default_factory=lambda: array("q"))
    parted: dict[int, array[float]] = field(default_factory=dict[int, "array[float]"])
    """By gate: 1 for each compared answer that parted above the gate's margin, else 0."""


@dataclass
class Scope:
    """All requests, or a class of them."""

    sides: dict[str, Side] = field(default_factory=lambda: {s: Side() for s in ("source", "target", "shadow", "noise")})
    bets: dict[int, Betting] = field(default_factory=dict[int, Betting])
    values: dict[int, array[float]] = field(default_factory=dict[int, "array[float]"])
    """By gate of a mean: what waits to be bet on."""

    @property
    def callers(self) -> int:
        """How many callers were answered."""
        return self.sides["source"].count + self.sides["target"].count


class Ledger:
    """The observations of one stage; `add` them in their order."""

    def __init__(self, plan: Plan) -> None:
        """Begin with nothing seen."""
        self.plan = plan
        self.scopes: dict[str, Scope] = {ALL: Scope()}
        self.last = 0
        self.tokens_by_target = 0
        self._routes: set[str] = set()
        self._members = {m.url: pool for pool in (plan.source, plan.target) for m in pool.members}
        self._members |= {m.name: pool for pool in (plan.source, plan.target) for m in pool.members}
        self._concurrency = {
            key: m.concurrency for p in (plan.source, plan.target) for m in p.members for key in (m.url, m.name)
        }
        self._answered: OrderedDict[str, str] = OrderedDict()

    def classes(self) -> list[str]:
        """Return the classes seen, without `all`."""
        return [name for name in self.scopes if name != ALL]

    def share(self, scope: str) -> float:
        """Return a class's share of all callers that were answered."""
        every = self.scopes[ALL].callers
        return self.scopes[scope].callers / every if every else 0.0

    def add(self, number: int, seen: Observation) -> None:
        """Take in one observation; `number` is its id."""
        self.last = max(self.last, number)
        if seen.side == "shadow":
            stream: Stream = "noise" if self._same_pool(seen) else "shadow"
        else:
            stream = seen.side
            self._answered[seen.exchange] = seen.side
            if len(self._answered) > _REMEMBERED:
                self._answered.popitem(last=False)
            if stream == "target":
                self.tokens_by_target += (seen.tokens_in or 0) + (seen.tokens_out or 0)
        if (seen.error or "").startswith("client"):  # callers who left say nothing about either side
            return
        for name in self._names(seen):
            if name not in self.scopes:
                self.scopes[name] = Scope()
            self._add(self.scopes[name], stream, number, seen)

    def _names(self, seen: Observation) -> list[str]:
        names = [ALL]
        if seen.length:
            names.append(f"length {seen.length}")
        if seen.route and (seen.route in self._routes or len(self._routes) < MOST_ROUTES):
            self._routes.add(seen.route)
            names.append(f"route {seen.route}")
        return names

    def _same_pool(self, seen: Observation) -> bool:
        pool = self._members.get(seen.member)
        return pool is (self.plan.target if self._answered.get(seen.exchange) == "target" else self.plan.source)

    def _add(self, scope: Scope, stream: Stream, number: int, seen: Observation) -> None:
        side = scope.sides[stream]
        failed = seen.error is not None or seen.status is None or seen.status >= 400
        side.count += 1
        side.errors += failed
        side.ids.append(number)
        side.failed.append(float(failed))
        if not failed:
            if seen.first_ms is not None:
                side.first.append(seen.first_ms)
            if seen.total_ms is not None:
                side.total.append(seen.total_ms)
            self._add_cost(side, stream, seen)
        if stream in ("shadow", "noise") and seen.comparison != "none":
            self._compare(scope, side, stream, number, seen)

    def _add_cost(self, side: Side, stream: Stream, seen: Observation) -> None:
        tokens = (seen.tokens_in or 0) + (seen.tokens_out or 0)
        cost = seen.cost
        if cost is None and seen.total_ms is not None and stream in ("source", "target"):
            pool: Pool = self.plan.source if stream == "source" else self.plan.target
            cost = (
                pool.price_per_hour
                / 3600
                * seen.total_ms
                / 1000
                / self._concurrency.get(seen.member, pool.members[0].concurrency)
            )
        if tokens and cost is not None:
            side.cost.append(cost)
            side.tokens.append(float(tokens))

    def _compare(self, scope: Scope, side: Side, stream: Stream, number: int, seen: Observation) -> None:
        side.compared_ids.append(number)
        for n, gate in enumerate(self.plan.gates):
            if isinstance(gate, Divergence):
                parted = seen.divergence is not None and (seen.margin is None or seen.margin >= gate.margin)
                side.parted.setdefault(n, array("d")).append(float(parted))
            elif isinstance(gate, Kl | Agreement) and stream == "shadow":
                value = seen.kl if isinstance(gate, Kl) else seen.agree
                if value is not None:
                    scaled = value / gate.cap if isinstance(gate, Kl) else 1 - value
                    scope.values.setdefault(n, array("d")).append(min(max(scaled, 0.0), 1.0))

    def bet(self, scope: str, gate: int, limit: float) -> Betting:
        """Return the bets on a gate's mean, brought up to date; `limit` is in the grid."""
        place = self.scopes[scope]
        if gate not in place.bets:
            around = np.geomspace(max(limit / 50, 1e-6), min(limit * 50, 0.99), 49)
            place.bets[gate] = Betting(np.unique(np.append(around, limit)))
        waiting = place.values.get(gate)
        if waiting:
            place.bets[gate].add(list(waiting))
            place.values[gate] = array("d")
        return place.bets[gate]

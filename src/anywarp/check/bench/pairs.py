"""Two sides in turns: A B B A, again and again, until the ratio of their times is known as exactly as was asked.

What changes with time (clocks, heat, other programs) meets both sides alike. For commands a unit is four runs. For models it is a pair of fresh
processes, alive together, that are called in turns: what differs from process to process (where memory lies) is part of the interval, too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anywarp.check.bench import energy, likeness, paired, percentiles, single, summary
from anywarp.check.bench.cell import Cell
from anywarp.check.bench.session import Session
from anywarp.check.bench.single import Step
from anywarp.check.store import Run

MOST_UNITS = 200
ROUNDS, MOST_ROUNDS = 5, 41
"""How often A B B A is called within a pair of processes: at least, and at most."""
SHARE = 0.5
"""How long a pair is called, as a part of the time that starting it took: a pair is dear, and what it shows is to be worth that."""
STRETCH = 0.05
"""Seconds of calls before it is the other's turn."""


@dataclass
class _Side:
    """One side: what it is, and all its counted times in seconds."""

    cell: Cell
    times: list[float] = field(default_factory=list[float])
    per_unit: list[float] = field(default_factory=list[float])
    first: float = 0.0
    warm: int = 0
    about: dict[str, Any] = field(default_factory=dict[str, Any])

    def as_json(self) -> dict[str, Any]:
        latencies = {
            f"p{p:g}": percentiles.percentile(self.times, p).map(1e3).as_json() for p in percentiles.PERCENTILES
        }
        return {
            "side": self.cell.side(), "cell": self.cell.as_json(), "first_s": self.first, "calls": len(self.times),
            "latency_ms": latencies, "units_ms": [x * 1e3 for x in self.per_unit],
            "device_name": self.about.get("device_name", ""), "versions": self.about.get("versions", {}),
        }  # fmt: skip


def compare(first: Cell, second: Cell, precision: float, budget: float, anyway: bool, step: Step) -> Run:
    """Compare two cells in turns for at most `budget` seconds; return the result. AnywarpError (V033) where they are not alike."""
    a, b = _Side(first), _Side(second)
    rule = paired.Sequential(precision)
    until = time.monotonic() + budget
    if first.form == "model":
        unlike = _models(a, b, rule, until, anyway, step)
    else:
        unlike = likeness.require(_alike(first), _alike(second), anyway)
        _commands(a, b, rule, until, step)
    ratio = rule.finish()
    return _result(a, b, rule, ratio, unlike)


def _alike(cell: Cell) -> dict[str, Any]:
    return {"form": "command", "command": cell.content()}


def _result(a: _Side, b: _Side, rule: paired.Sequential, ratio: percentiles.Interval, unlike: list[str]) -> Run:
    marks = [f"not alike: {text}" for text in unlike]
    if not rule.decided:
        marks.append(f"time was up before the ratio was known to {rule.precision:.1%}")
    result: dict[str, Any] = {
        "form": "pair", "a": a.as_json(), "b": b.as_json(), "ratio": ratio.as_json(), "confidence": rule.confidence,
        "precision": rule.precision, "decided": rule.decided, "looks": rule.look, "units": rule.units, "marks": marks,
        "alike": _alike(a.cell) if a.cell.form == "command" else single.alike(a.cell, a.about),
        "energy": {"joules_per_item": {}, "not_read": {"pairs": "counters do not tell one side from the other"}},
    }  # fmt: skip
    run = single.as_run(a.cell, result, a.about)
    return replace(run, device=f"{a.cell.side()} : {b.cell.side()}", key="")


def _commands(a: _Side, b: _Side, rule: paired.Sequential, until: float, step: Step) -> None:
    """Time two commands in turns; the first run of each, which may compile and fill caches, is told apart."""
    for side in (a, b):
        side.first, _ = single.run_once([*side.cell.words(), *side.cell.command])
    while len(rule.units) < MOST_UNITS and (len(rule.units) < paired.FIRST_LOOK or time.monotonic() < until):
        order = (a, b, b, a) if len(rule.units) % 2 == 0 else (b, a, a, b)
        taken: dict[int, list[float]] = {id(a): [], id(b): []}
        for side in order:
            taken[id(side)].append(single.run_once([*side.cell.words(), *side.cell.command])[0])
        if _counted(a, b, taken, rule, step):
            return


def _counted(a: _Side, b: _Side, taken: Mapping[int, list[float]], rule: paired.Sequential, step: Step) -> bool:
    """Count a unit; return whether it is decided."""
    for side in (a, b):
        side.per_unit.append(sum(taken[id(side)]) / len(taken[id(side)]))
        if side.cell.form == "command":
            side.times += taken[id(side)]
    decided = rule.add(paired.of_rounds(taken[id(a)], taken[id(b)]))
    shown = rule.interval
    text = f", ratio {shown.value:.3f} in [{shown.low:.3f}, {shown.high:.3f}]" if shown and shown.low and shown.high else ""  # fmt: skip
    step(f"{a.cell.side()} : {b.cell.side()}: {len(rule.units)} pairs{text}")
    return decided


def _models(a: _Side, b: _Side, rule: paired.Sequential, until: float, anyway: bool, step: Step) -> list[str]:
    """Call two models in turns, a pair of processes a unit; return what is not alike of them."""
    unlike: list[str] = []
    while len(rule.units) < MOST_UNITS and (len(rule.units) < paired.FIRST_LOOK or time.monotonic() < until):
        step(f"{a.cell.side()} : {b.cell.side()}: starting pair {len(rule.units) + 1}")
        order = (a, b) if len(rule.units) % 2 == 0 else (b, a)
        with (
            Session(order[0].cell.spec(), order[0].cell.words(), order[0].cell.ranks) as one,
            Session(order[1].cell.spec(), order[1].cell.words(), order[1].cell.ranks) as two,
        ):
            sessions = {id(order[0]): one, id(order[1]): two}
            if not rule.units:
                for side in order:
                    side.about, side.first = sessions[id(side)].about, sessions[id(side)].first_ns / 1e9
                unlike = likeness.require(single.alike(a.cell, a.about), single.alike(b.cell, b.about), anyway)
            _warm(order, sessions, step)
            taken = _in_turns(order, sessions, SHARE * (one.ready_seconds + two.ready_seconds))
        if _counted(a, b, taken, rule, step):
            break
    return unlike


def _warm(order: tuple[_Side, _Side], sessions: Mapping[int, Session], step: Step) -> None:
    """Call each until it is warm: found in the first pair, and half as many calls again in all further ones."""
    for side in order:
        session = sessions[id(side)]
        if side.warm:
            session.calls(side.warm)
            continue
        series = single.calls_until_steady(session, energy.Meters(), side.cell, step)
        side.warm = max(5, series.start * 3 // 2)


def _in_turns(order: tuple[_Side, _Side], sessions: Mapping[int, Session], seconds: float) -> dict[int, list[float]]:
    """Return per side the medians of its stretches, two in each round; rounds go on for so many seconds."""
    taken: dict[int, list[float]] = {id(side): [] for side in order}
    counts: dict[int, int] = {}
    for side in order:
        series = summary.Series()
        single.add(series, sessions[id(side)].calls(3))
        counts[id(side)] = max(5, min(2000, int(STRETCH / max(min(series.times), 1e-7))))
    until = time.monotonic() + seconds
    for number in range(MOST_ROUNDS):
        if number >= ROUNDS and time.monotonic() > until:
            break
        first, second = order if number % 2 == 0 else order[::-1]
        for side in (first, second, second, first):
            series = summary.Series()
            single.add(series, sessions[id(side)].calls(counts[id(side)]))
            side.times += series.times
            taken[id(side)].append(percentiles.percentile(series.times, 50).value)
    return taken

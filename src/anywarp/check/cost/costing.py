"""Costs for the same work on both sides, the saving, when it has paid for the move, and what that hangs on most.

    cost of an item = (price (1 - discount) + power PUE price of power) / (3600 throughput utilisation)

Intervals come from those of the measured throughputs alone, both at their worst for each end: where each holds at 95 %, both do at 90 % or more.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anywarp.check.bench import likeness
from anywarp.check.bench.problems import ASKED
from anywarp.check.bench.problems import problem as bench_problem
from anywarp.check.cost import level as levels
from anywarp.check.cost.level import Limit
from anywarp.check.cost.prices import Prices, Quantity, Side
from anywarp.check.store import Run

SIDES = ("source", "target")
FREE = ("sizes batch", "load", "rate", "concurrency")
"""What may differ at one service level: how many are served together, and how much load is offered."""
HORIZON = 3650.0
"""Days beyond which a break-even is none."""
SCALES = {"tokens": (1_000_000, "million tokens"), "inferences": (1000, "thousand inferences"), "runs": (1000, "thousand runs")}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """All quantities by name (`source.price_per_hour`, `target.throughput`, `migration.hours` ...) and the dates."""

    quantities: Mapping[str, Quantity]
    start: datetime.date
    committed_until: datetime.date | None

    def value(self, name: str, default: float = 0.0) -> float:
        """Return a quantity's value; `default` where there is none."""
        found = self.quantities.get(name)
        return found.value if found is not None else default

    def per_item(self, side: str) -> float:
        """Return the cost of one item on a side."""
        price = self.value(f"{side}.price_per_hour") * (1 - self.value(f"{side}.discount"))
        power = self.value(f"{side}.power_watts") / 1000 * self.value("power.pue", 1.0)
        hour = price + power * self.value("power.price_per_kwh")
        joules = self.value(f"{side}.joules_per_item") if f"{side}.power_watts" not in self.quantities else 0.0
        energy = joules / 3.6e6 * self.value("power.pue", 1.0) * self.value("power.price_per_kwh")
        return hour / (3600 * self.value(f"{side}.throughput") * self.value(f"{side}.utilisation")) + energy

    def per_day(self, side: str) -> float:
        """Return what a side costs a day."""
        return self.value("demand") * self.per_item(side)

    def saving_per_day(self) -> float:
        """Return what the target saves a day, once the source is not paid any more."""
        return self.per_day("source") - self.per_day("target")

    def move(self) -> float:
        """Return what the move costs once: work, what is bought, and days on which both sides run."""
        work = self.value("migration.hours") * self.value("migration.rate_per_hour")
        return work + self.value("migration.one_off") + self.value("migration.overlap_days") * self.per_day("target")

    def break_even_days(self) -> float | None:
        """Return after how many days from the start the saving has paid for the move; None where it never does (within ten years)."""
        saving = self.saving_per_day()
        if saving <= 0:
            return None
        committed = max(0, (self.committed_until - self.start).days) if self.committed_until else 0
        owed = self.move() + committed * self.per_day("target")  # until then the source is paid, too
        days = committed + owed / saving
        return days if days <= HORIZON else None

    def with_value(self, **changed: float) -> Model:
        """Return the model with other values of quantities."""
        found = {n.replace("__", "."): v for n, v in changed.items()}
        return replace(self, quantities={n: replace(q, value=found.get(n, q.value)) for n, q in self.quantities.items()})  # fmt: skip


def compare(
    source: Sequence[Run], target: Sequence[Run], prices: Prices, level: Sequence[Limit], anyway: bool, today: datetime.date
) -> dict[str, Any]:  # fmt: skip
    """Return the comparison of two sides, each with one or more results, as JSON.

    AnywarpError: V033 where what was measured is not alike, V036 where a result cannot be costed, V043 where no result holds the level.
    """
    for run in (*source, *target):
        if run.kind != "bench" or not (run.result.get("throughput") or run.result.get("tokens_per_s")):
            raise bench_problem(ASKED, f"{run.id} says nothing of how much is done in a second", "give results of `anywarp bench` of a model, a command or an endpoint")  # fmt: skip
    chosen = {"source": levels.best(source, level, "source"), "target": levels.best(target, level, "target")}
    marks = _alike(chosen, bool(level), anyway)
    model = _model(chosen, prices, today)
    unit = levels.unit(chosen["source"])
    if len(level) == 0:
        marks.append("no service level: the costs are of work that nobody waits for")
    for side, run in chosen.items():
        marks += [f"{side}: {mark}" for mark in run.result.get("marks", ())]
    return _result(model, chosen, prices, level, unit, marks + _left_out(model, prices))


def _alike(chosen: Mapping[str, Run], leveled: bool, anyway: bool) -> list[str]:
    a, b = (run.result["alike"] for run in chosen.values())
    found = [d for d in likeness.differences(a, b) if not (leveled and d.name in FREE)]
    unlike = [each.text() for each in found]
    limits = [run.result.get("goodput", {}).get("limits") for run in chosen.values()]
    if limits[0] and limits[1] and limits[0] != limits[1]:
        unlike.append(f"service levels: {limits[0]} and {limits[1]}")
    if unlike and not anyway:
        raise likeness.refusal(unlike, f"{chosen['source'].id} (source) and {chosen['target'].id} (target)")
    return [f"not alike: {text}" for text in unlike]


def _model(chosen: Mapping[str, Run], prices: Prices, today: datetime.date) -> Model:
    quantities: dict[str, Quantity] = {n: q for n, q in prices.shared.items() if not n.startswith("demand.")}
    sides: dict[str, Side] = {"source": prices.source, "target": prices.target}
    for side, run in chosen.items():
        quantities |= {f"{side}.{name}": q for name, q in sides[side].quantities.items()}
        done = levels.throughput(run)
        if done.low is None or done.high is None or done.low <= 0:
            raise bench_problem(ASKED, f"{run.id} has no interval of how much is done in a second", "measure longer")
        origin = f"result {run.id}: {levels.unit(run)} per second"
        quantities[f"{side}.throughput"] = Quantity(done.value, done.low, done.high, origin, "measured")
        joules = sum(run.result.get("energy", {}).get("joules_per_item", {}).values())
        if joules:
            quantities[f"{side}.joules_per_item"] = Quantity(joules, joules, joules, f"result {run.id}: energy", "measured")  # fmt: skip
    unit = levels.unit(chosen["source"])
    stated = prices.shared.get(f"demand.{unit}_per_day")
    if stated is None and (others := [name for name in prices.shared if name.startswith("demand.")]):
        text = f"the results are of {unit}, and {prices.file} has {others[0]}"
        raise bench_problem(ASKED, text, f"state demand.{unit}_per_day")
    if stated is None:
        served = quantities["source.throughput"].value * quantities["source.utilisation"].value * 86400
        origin = "what the source does in a day at its utilisation"
        stated = Quantity(served, served * 0.8, served * 1.2, origin, "no demand is in the price file", stated=False)
    quantities["demand"] = stated
    return Model(quantities, prices.start or today, prices.source.committed_until)


def _left_out(model: Model, prices: Prices) -> list[str]:
    found: list[str] = []
    for side in SIDES:
        powered = f"{side}.power_watts" in model.quantities or f"{side}.joules_per_item" in model.quantities
        if "power.price_per_kwh" in prices.shared and not powered:
            found.append(f"power of the {side} is not part of its costs: neither power_watts nor a measured energy")
    if "migration.hours" not in prices.shared and "migration.one_off" not in prices.shared:
        found.append(
            f"the move itself costs nothing here: {prices.file} has no migration.hours and no migration.one_off"
        )
    if not any(name.startswith("demand.") for name in prices.shared):
        found.append(f"the demand is taken to be {model.quantities['demand'].origin}")
    return found


def _result(
    model: Model, chosen: Mapping[str, Run], prices: Prices, level: Sequence[Limit], unit: str, marks: list[str]
) -> dict[str, Any]:
    scale, words = SCALES[unit]
    names = {"source": prices.source.name, "target": prices.target.name}
    low, high = _extremes(model)
    sides = {
        side: {
            "name": names[side], "result": run.id, "device": run.device, "cost": _ends(side, model, scale),
            "cost_per_day": model.per_day(side), "of": words, "cell": run.result.get("cell") or run.result.get("load"),
        }
        for side, run in chosen.items()
    }  # fmt: skip
    days = [m.break_even_days() for m in (model, high, low)]
    return {
        "currency": prices.currency, "level": [each.text() for each in level] or [levels.NONE], "unit": unit,
        "per": scale, "sides": sides, "start": model.start.isoformat(), "move": model.move(),
        "saving_per_day": {"value": model.saving_per_day(), "low": low.saving_per_day(), "high": high.saving_per_day()},
        "saving_share": {
            "value": _share(model), "low": _share(low), "high": _share(high),
        },
        "break_even": {
            "days": days[0], "earliest_days": days[1], "latest_days": days[2],
            "date": _date(model.start, days[0]), "earliest": _date(model.start, days[1]),
            "latest": _date(model.start, days[2]),
        },
        "sensitivity": sensitivity(model),
        "quantities": {name: q.as_json() for name, q in model.quantities.items()},
        "marks": marks,
    }  # fmt: skip


def _extremes(model: Model) -> tuple[Model, Model]:
    """Return the model with both measured throughputs at their worst and at their best for the target."""
    s, t = model.quantities["source.throughput"], model.quantities["target.throughput"]
    return (
        model.with_value(source__throughput=s.high, target__throughput=t.low),
        model.with_value(source__throughput=s.low, target__throughput=t.high),
    )


def _ends(side: str, model: Model, scale: int) -> dict[str, float]:
    q = model.quantities[f"{side}.throughput"]
    name = f"{side}__throughput"
    low, high = (model.with_value(**{name: x}).per_item(side) * scale for x in (q.high, q.low))
    return {"value": model.per_item(side) * scale, "low": low, "high": high}


def _share(model: Model) -> float | None:
    cost = model.per_day("source")
    return model.saving_per_day() / cost if cost else None


def _date(start: datetime.date, days: float | None) -> str | None:
    return (start + datetime.timedelta(days=math.ceil(days))).isoformat() if days is not None else None


def sensitivity(model: Model) -> list[dict[str, Any]]:
    """Return, for each quantity alone at the ends of its range, the saving a day and the break-even; what moves the saving most first, what moves nothing not at all."""
    found: list[dict[str, Any]] = []
    for name, q in model.quantities.items():
        ends = [model.with_value(**{name.replace(".", "__"): end}) for end in (q.low, q.high)]
        savings = [each.saving_per_day() for each in ends]
        days = [each.break_even_days() for each in ends]
        found.append(
            {"name": name, "low": q.low, "high": q.high, "saving_per_day": savings, "break_even_days": days, "from": q.origin, "range": "stated" if q.stated else "assumed"}
        )  # fmt: skip
    return sorted((row for row in found if any(_swing(row))), key=_swing, reverse=True)


def _swing(row: Mapping[str, Any]) -> tuple[float, float]:
    a, b = row["saving_per_day"]
    c, d = (HORIZON if x is None else x for x in row["break_even_days"])
    return abs(a - b), abs(c - d)

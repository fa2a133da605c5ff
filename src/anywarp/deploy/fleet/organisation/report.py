"""An organisation's report: rows in the order in which things move, each with its reasons in words, and what changed since the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anywarp import __version__
from anywarp.deploy.fleet.organisation.order import Group, order
from anywarp.deploy.fleet.organisation.units import Told, Unit, outside, units_of
from anywarp.migrate.effort import Days

VERSION = 1
_SHOWN = 3
_THINGS = {"image": "its image", "package": "its package", "repository": "its sources", "workload": "it is declared there", "list": "as the list says"}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A place in the order: what moves, and why there."""

    number: int
    group: Group
    units: tuple[Unit, ...]
    reasons: tuple[str, ...]

    @property
    def days(self) -> Days:
        """The work."""
        return Days(sum(unit.days[0] for unit in self.units), sum(unit.days[1] for unit in self.units))

    @property
    def risk(self) -> str:
        """The greatest risk of its parts."""
        return max(self.units, key=lambda unit: unit.risk).risk_word

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        days = self.days
        return {
            "number": self.number, "units": [unit.name for unit in self.units], "kinds": [unit.kind for unit in self.units], "circle": len(self.units) > 1,
            "needs": list(self.group.needs), "needed_by": list(self.group.users), "gpus": self.group.gpus, "gpus_behind": self.group.behind,
            "person_days": [round(days.low, 2), round(days.high, 2)], "value": self.group.value, "risk": self.risk, "stuck": self.group.stuck,
            "reasons": list(self.reasons), "blockers": [{**each, "unit": unit.name} for unit in self.units for each in unit.blockers],
        }  # fmt: skip


@dataclass(frozen=True)
class Report:
    """All of it; `lost` are members that could not be assessed, with why; `changes` what differs from the last report, None where there was none."""

    name: str
    target: str
    rows: tuple[Row, ...]
    outside: tuple[tuple[str, int], ...]
    lost: tuple[tuple[str, str], ...]
    changes: tuple[str, ...] | None = None

    @property
    def days(self) -> Days:
        """The work of all."""
        return sum((row.days for row in self.rows), Days())

    @property
    def gpus(self) -> int:
        """The GPUs that become free when all has moved."""
        return sum(row.group.gpus for row in self.rows)

    @property
    def stuck(self) -> int:
        """How many rows wait for something that has no path."""
        return sum(row.group.stuck for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping; `version` is raised when something changes its meaning."""
        return {
            "format": "anywarp-organisation", "version": VERSION, "tool": f"anywarp {__version__}", "name": self.name, "target": self.target,
            "gpus": self.gpus, "person_days": [round(self.days.low, 2), round(self.days.high, 2)], "stuck": self.stuck,
            "rows": [row.as_json() for row in self.rows], "not_listed": [{"image": name, "wanted_by": n} for name, n in self.outside],
            "not_assessed": [{"name": name, "why": why} for name, why in self.lost], "changes": None if self.changes is None else list(self.changes),
        }  # fmt: skip


def report(
    name: str, target: str, told: Mapping[str, Told], needs: Mapping[str, Sequence[str]], lost: Mapping[str, str]
) -> Report:
    """Return the report of what was told of members."""
    units = {unit.name: unit for unit in units_of(told, needs)}
    groups = order(unit.node() for unit in units.values())
    places = {each: number for number, group in enumerate(groups, 1) for each in group.names}
    rows = [
        Row(number, group, tuple(units[each] for each in group.names), tuple(_reasons(group, units, places)))
        for number, group in enumerate(groups, 1)
    ]
    return Report(name, target, tuple(rows), tuple(outside(list(units.values()))[:50]), tuple(sorted(lost.items())))


def _reasons(group: Group, units: Mapping[str, Unit], places: Mapping[str, int]) -> list[str]:
    own = [units[name] for name in group.names]
    found: list[str] = []
    if len(own) > 1:
        found.append(f"{len(own)} that need each other in a circle move together")
    if group.users:
        found.append(
            f"before {_listed([f'{name} (row {places[name]})' for name in group.users])}, which {'needs' if len(group.users) == 1 else 'need'} it"
        )
    if group.needs:
        things = {name: thing for unit in own for name, thing in unit.needs}
        needed = [f"{name} (row {places[name]}: {_THINGS[things[name].partition(':')[0]]})" for name in group.needs]
        found.append(f"after {_listed(needed)}")
    found.append(_worth(group))
    found += _hindered(group, own, units)
    return found


def _worth(group: Group) -> str:
    if group.gpus:
        rest = group.behind - group.gpus
        return f"frees {_gpus(group.gpus)}" + (f", and {rest} more wait for it" if rest else "")
    return (
        f"{_gpus(group.behind)} of what needs it wait{'s' if group.behind == 1 else ''} for it"
        if group.behind
        else "frees no GPU that is known"
    )


def _gpus(count: int) -> str:
    return f"{count:,} GPU{'' if count == 1 else 's'}"


def _hindered(group: Group, own: Sequence[Unit], units: Mapping[str, Unit]) -> list[str]:
    stays = [each for unit in own for each in unit.stays]
    if stays:
        where = stays[0]
        return [
            f"comes late, for it has no path yet: {_listed([each['name'] for each in stays])} ({where['path']}:{where['line']})"
        ]
    if group.stuck:
        stuck = [name for name in group.needs if units[name].stays] or list(group.needs)
        return [f"comes late, for what it needs has no path yet: {_listed(stuck)}"]
    unread = sum(unit.unread for unit in own)
    if unread:
        return [f"risk is high: {unread} file{'' if unread == 1 else 's'} could not be read"]
    if replaced := [each["name"] for unit in own for each in unit.blockers if each["answer"] == "replace"]:
        return [f"risk is middling: a person replaces {_listed(replaced)}"]
    return []


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def changes(before: Mapping[str, Any], now: Report) -> tuple[str, ...]:
    """Return what differs from an earlier report (its rows as JSON): what came and went, new blockers, and those that are gone."""
    old, new = _blockers(before["rows"]), _blockers([row.as_json() for row in now.rows])
    had, has = {name for name, _ in old} | _units(before["rows"]), _units([row.as_json() for row in now.rows])
    found = [f"new in the list: {name}" for name in sorted(has - had)]
    found += [f"no longer in the list: {name}" for name in sorted(had - has)]
    both = had & has
    found += [
        f"new blocker in {unit}: {new[unit, which]}" for unit, which in sorted(new.keys() - old.keys()) if unit in both
    ]
    found += [
        f"gone from {unit}: {old[unit, which]}" for unit, which in sorted(old.keys() - new.keys()) if unit in both
    ]
    return tuple(found)


def _units(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    return {str(name) for row in rows for name in row["units"]}


def _blockers(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    return {
        (str(each["unit"]), str(each["id"])): f"{each['name']} ({each['answer']}, {each['path']}:{each['line']})"
        for row in rows
        for each in row["blockers"]
    }

"""What moves on its own, made of what was told of members: repositories, images, workloads of namespaces; and who needs whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anywarp.deploy.fleet.organisation.order import Node

_RISKS = ("low", "middling", "high")
Told = Mapping[str, Any]


@dataclass(frozen=True)
class Unit:
    """One of them; `days` from and to, `wants` and `offers` names of things, `needs` those of units with the thing, `also` declared elsewhere."""

    name: str
    kind: str
    member: str
    gpus: int
    days: tuple[float, float]
    answers: tuple[str, ...]
    blockers: tuple[Mapping[str, Any], ...]
    unread: int
    offers: frozenset[str]
    wants: frozenset[str]
    needs: tuple[tuple[str, str], ...] = ()

    @property
    def stays(self) -> tuple[Mapping[str, Any], ...]:
        """What has no path."""
        return tuple(each for each in self.blockers if each["answer"] == "no-path")

    @property
    def risk(self) -> int:
        """0 where everything is converted, rebuilt or taken from elsewhere; 1 where something is replaced; 2 where something has no path, or was not read."""
        if self.stays or self.unread:
            return 2
        return int(any(each["answer"] == "replace" for each in self.blockers))

    @property
    def risk_word(self) -> str:
        """The risk in a word."""
        return _RISKS[self.risk]

    def node(self) -> Node:
        """Return what the order must know of it."""
        needs = frozenset(name for name, _ in self.needs)
        return Node(self.name, needs, self.gpus, round(sum(self.days) / 2, 4), self.risk, bool(self.stays))


def units_of(told: Mapping[str, Told], needs: Mapping[str, Sequence[str]]) -> list[Unit]:
    """Return the units of all members, in order of their names, with what each needs."""
    made = [unit for name in sorted(told) for unit in _units(name, told[name])]
    live = {f"workload:{unit.name.partition('/')[2]}" for unit in made if unit.kind == "workload"}
    made = [replace(unit, gpus=_gpus(told[unit.member], live)) if unit.kind == "repository" else unit for unit in made]
    return _connected(made, needs)


def _units(name: str, told: Told) -> list[Unit]:
    if told["kind"] != "namespace":
        every = frozenset(told["wants"]) | {want for one in told["workloads"] for want in one["wants"]}
        return [_unit(name, told["kind"], name, told, 0, frozenset(told["offers"]), every - frozenset(told["offers"]))]
    made = [
        _unit(f"{name}/{one['id']}", "workload", name, one | {"answers": {one["worst"]: 1}, "unread": 0}, one["gpus"], frozenset[str](),
              frozenset({*one["wants"], f"workload:{one['id']}"}))
        for one in told["workloads"]
    ]  # fmt: skip
    rest = told["rest"]
    if rest["findings"] or not made:
        made.append(_unit(name, "namespace", name, rest | {"answers": {}, "unread": told["unread"]}, 0, frozenset[str](), frozenset[str]()))  # fmt: skip
    return made


def _unit(
    name: str, kind: str, member: str, of: Told, gpus: int, offers: frozenset[str], wants: frozenset[str]
) -> Unit:
    low, high = of["days"]
    return Unit(name, kind, member, gpus, (float(low), float(high)), tuple(of["answers"]), tuple(of["blockers"]), int(of["unread"]), offers, wants)  # fmt: skip


def _gpus(told: Told, live: set[str]) -> int:
    """Return the GPUs of workloads that a repository declares, without those that run in a namespace of the list: these count there."""
    return sum(int(one["gpus"]) for one in told["workloads"] if f"workload:{one['id']}" not in live)


def _connected(units: Sequence[Unit], listed: Mapping[str, Sequence[str]]) -> list[Unit]:
    offering: dict[str, list[str]] = {}
    members: dict[str, list[str]] = {}
    for unit in units:
        members.setdefault(unit.member, []).append(unit.name)
        for name in unit.offers:
            offering.setdefault(name, []).append(unit.name)
    return [replace(unit, needs=tuple(sorted(_needs(unit, offering, members, listed)))) for unit in units]


def _needs(
    unit: Unit, offering: Mapping[str, Sequence[str]], members: Mapping[str, Sequence[str]], listed: Mapping[str, Sequence[str]]
) -> Iterable[tuple[str, str]]:  # fmt: skip
    found: dict[str, str] = {}
    for want in sorted(unit.wants):
        for name in _offered(want, offering):
            found.setdefault(name, want)
    for each in (*listed.get(unit.member, ()), *listed.get(unit.name, ())):
        for name in members.get(each, (each,)):
            found.setdefault(name, "list")
    found.pop(unit.name, None)
    return found.items()


def _offered(want: str, offering: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return who offers a thing; an image that nobody says to build, by the only folder of that name with a Dockerfile."""
    if want in offering:
        return offering[want]
    kind, _, name = want.partition(":")
    near = offering.get(f"guess:{name.rpartition('/')[2]}", ()) if kind == "image" and "/" in name else ()
    return near if len(near) == 1 else ()


def outside(units: Sequence[Unit]) -> list[tuple[str, int]]:
    """Return the images that several units want and nobody in the list offers, with how many, the most wanted first."""
    offering: dict[str, list[str]] = {}
    for unit in units:
        for name in unit.offers:
            offering.setdefault(name, []).append(unit.name)
    counts: dict[str, int] = {}
    for unit in units:
        for want in unit.wants:
            if want.startswith("image:") and not _offered(want, offering):
                counts[want] = counts.get(want, 0) + 1
    return sorted(
        ((name.partition(":")[2], n) for name, n in counts.items() if n > 1), key=lambda one: (-one[1], one[0])
    )

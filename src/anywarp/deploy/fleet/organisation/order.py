"""The order in which things move: what others need before its users, and of what may be next, the most value for the work.

The rule, in full: things that need each other in a circle move together, as a group. A group is *stuck* where something in it has no path, or
where it needs what is stuck; what is stuck comes last. Among the groups whose needs have all moved, the next is the one with the most
GPUs behind it (its own, and those of all that need it, however far) per person-day of its work; then the one with less risk, then by name.
Only sums and names are compared, so the order in which things are given does not matter.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

LEAST_DAYS = 0.25
"""Person-days that everything takes, at least: somebody has to look at it."""


@dataclass(frozen=True)
class Node:
    """What moves: what it needs (others' names), its GPUs, its work in person-days, its risk (0 is the least), and whether it has no path."""

    name: str
    needs: frozenset[str] = frozenset()
    gpus: int = 0
    days: float = 0.0
    risk: int = 0
    blocked: bool = False


@dataclass(frozen=True)
class Group:
    """What moves together, by name: one thing, or a circle. `behind`: GPUs that become free by it or wait for it; `value`: per person-day."""

    names: tuple[str, ...]
    needs: tuple[str, ...]
    users: tuple[str, ...]
    gpus: int
    behind: int
    days: float
    value: float
    stuck: bool


@dataclass
class _Group:
    names: tuple[str, ...]
    needs: set[int] = field(default_factory=set[int])
    users: set[int] = field(default_factory=set[int])


def order(nodes: Iterable[Node]) -> list[Group]:
    """Return all groups in order. Needs that name nothing that is here are left out; ValueError where two have one name."""
    by_name: dict[str, Node] = {}
    for node in nodes:
        if node.name in by_name:
            raise ValueError(f"two are called {node.name}")
        by_name[node.name] = node
    groups = _grouped(by_name)
    behind = _behind(groups, by_name)
    made: dict[int, Group] = {}
    stuck: set[int] = set()
    for number in _topological(groups):
        members = [by_name[name] for name in groups[number].names]
        if any(node.blocked for node in members) or groups[number].needs & stuck:
            stuck.add(number)
        made[number] = _made(number, groups, members, behind[number], number in stuck)
    risk = {number: max(by_name[name].risk for name in group.names) for number, group in enumerate(groups)}
    return [made[number] for number in _chosen(groups, made, risk)]


def _grouped(by_name: Mapping[str, Node]) -> list[_Group]:
    """Return the circles, each thing in one group, with what groups need of each other; by name."""
    needs = {
        name: sorted(need for need in node.needs if need in by_name and need != name)
        for name, node in sorted(by_name.items())
    }
    groups = [_Group(tuple(sorted(names))) for names in circles(needs)]
    groups.sort(key=lambda group: group.names)
    of = {name: number for number, group in enumerate(groups) for name in group.names}
    for name, needed in needs.items():
        for other in needed:
            if of[other] != of[name]:
                groups[of[name]].needs.add(of[other])
                groups[of[other]].users.add(of[name])
    return groups


def circles(needs: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the strongly connected parts of a graph (R. Tarjan, Depth-first search and linear graph algorithms, 1972), without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on: set[str] = set()
    stack: list[str] = []
    found: list[list[str]] = []
    for start in needs:
        waiting = [(start, 0)] if start not in index else []
        while waiting:
            name, at = waiting.pop()
            if at == 0:
                index[name] = low[name] = len(index)
                stack.append(name)
                on.add(name)
            else:
                low[name] = min(low[name], low[needs[name][at - 1]])
            at = _next(needs[name], at, name, index, on, low)
            if at < len(needs[name]):
                waiting += [(name, at + 1), (needs[name][at], 0)]
            elif low[name] == index[name]:
                place = stack.index(name)
                found.append(stack[place:])
                on.difference_update(stack[place:])
                del stack[place:]
    return found


def _next(needs: Sequence[str], at: int, name: str, index: Mapping[str, int], on: set[str], low: dict[str, int]) -> int:
    """Return the place of the first need, from `at` on, that was not seen; those on the stack bring what is reached from here down."""
    while at < len(needs) and needs[at] in index:
        if needs[at] in on:
            low[name] = min(low[name], index[needs[at]])
        at += 1
    return at


def _topological(groups: Sequence[_Group]) -> list[int]:
    left = [len(group.needs) for group in groups]
    ready = [number for number, count in enumerate(left) if not count]
    for number in ready:  # it grows
        for user in sorted(groups[number].users):
            left[user] -= 1
            if not left[user]:
                ready.append(user)
    return ready


def _behind(groups: Sequence[_Group], by_name: Mapping[str, Node]) -> list[int]:
    """Return the GPUs of each group and of all that need it: sets of groups are the bits of a number."""
    own = [sum(by_name[name].gpus for name in group.names) for group in groups]
    with_gpus = {number: bit for bit, number in enumerate(n for n, gpus in enumerate(own) if gpus)}
    amounts = [own[number] for number in with_gpus]
    sets = [0] * len(groups)
    for number in reversed(_topological(groups)):
        sets[number] = 1 << with_gpus[number] if number in with_gpus else 0
        for user in groups[number].users:
            sets[number] |= sets[user]
    return [sum(amounts[bit] for bit, text in enumerate(reversed(bin(one)[2:])) if text == "1") for one in sets]


def _made(number: int, groups: Sequence[_Group], members: Sequence[Node], behind: int, stuck: bool) -> Group:
    group = groups[number]
    days = round(sum(node.days for node in members), 4)
    needs = sorted(name for other in group.needs for name in groups[other].names)
    users = sorted(name for other in group.users for name in groups[other].names)
    gpus = sum(node.gpus for node in members)
    return Group(
        group.names, tuple(needs), tuple(users), gpus, behind, days, round(behind / max(days, LEAST_DAYS), 6), stuck
    )


def _chosen(groups: Sequence[_Group], made: Mapping[int, Group], risk: Mapping[int, int]) -> list[int]:
    def rank(number: int) -> tuple[bool, float, int, int]:
        return made[number].stuck, -made[number].value, risk[number], number  # groups are numbered by their names

    left = [len(group.needs) for group in groups]
    ready = [rank(number) for number, count in enumerate(left) if not count]
    heapq.heapify(ready)
    found: list[int] = []
    while ready:
        number = heapq.heappop(ready)[-1]
        found.append(number)
        for user in groups[number].users:
            left[user] -= 1
            if not left[user]:
                heapq.heappush(ready, rank(user))
    return found

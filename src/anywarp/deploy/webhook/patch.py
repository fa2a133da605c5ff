"""The difference of two objects of JSON as a JSON Patch (RFC 6902): additions, removals and replacements, no moves.

Lists are compared from both ends, for entries of a pod's lists are taken out or changed where they stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from anywarp.deploy.webhook.pod_text import step

Operation = dict[str, Any]


def difference(old: Any, new: Any, pointer: str = "") -> Iterator[Operation]:
    """Yield the operations that, done in order, make `new` of `old`."""
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _maps(cast(dict[str, Any], old), cast(dict[str, Any], new), pointer)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(cast(list[Any], old), cast(list[Any], new), pointer)
    elif not same(old, new):
        yield {"op": "replace", "path": pointer, "value": new}


def same(old: Any, new: Any) -> bool:
    """Tell whether two values are the same to JSON, in which true is not 1."""
    if isinstance(old, dict) and isinstance(new, dict):
        one, other = cast(dict[str, Any], old), cast(dict[str, Any], new)
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(old, list) and isinstance(new, list):
        a, b = cast(list[Any], old), cast(list[Any], new)
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(old, bool) == isinstance(new, bool) and old == new


def _maps(old: dict[str, Any], new: dict[str, Any], pointer: str) -> Iterator[Operation]:
    for key in old:
        if key not in new:
            yield {"op": "remove", "path": step(pointer, key)}
    for key, value in new.items():
        if key in old:
            yield from difference(old[key], value, step(pointer, key))
        else:
            yield {"op": "add", "path": step(pointer, key), "value": value}


def _lists(old: list[Any], new: list[Any], pointer: str) -> Iterator[Operation]:
    if len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new)):
            yield from difference(one, other, step(pointer, number))
        return
    first = 0
    while first < min(len(old), len(new)) and same(old[first], new[first]):
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and same(old[-1 - last], new[-1 - last]):
        last += 1
    gone, come = old[first : len(old) - last], new[first : len(new) - last]
    if not come and len(gone) == len(old):
        yield {"op": "replace", "path": pointer, "value": []}
        return
    kept = _kept(gone, come)
    for number in reversed(range(len(gone))):
        if number not in kept:
            yield {"op": "remove", "path": step(pointer, first + number)}
    pairs = {kept_as: gone[number] for number, kept_as in kept.items()}
    for number, value in enumerate(come):
        if number in pairs:
            yield from difference(pairs[number], value, step(pointer, first + number))
        else:
            yield {"op": "add", "path": step(pointer, first + number), "value": value}


def _kept(gone: list[Any], come: list[Any]) -> dict[int, int]:
    """Pair entries that go by the same name, in order; entries without a name are paired where they are the same."""
    pairs: dict[int, int] = {}
    place = 0
    for number, entry in enumerate(gone):
        for candidate in range(place, min(len(come), place + 64)):
            if _alike(entry, come[candidate]):
                pairs[number] = candidate
                place = candidate + 1
                break
    return pairs


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict) and "name" in one:
        return cast(dict[str, Any], one)["name"] == cast(dict[str, Any], other).get("name")
    return same(one, other)

"""Whether two runs have the same parameters: as digests, and, where ranks have shares of them, as sums over all ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

Models = Mapping[int, Mapping[str, Any]]
"""By rank, what a manifest says under `models`."""
Described = dict[str, Any]


def parameters(models: Mapping[str, Any], root: str) -> dict[str, Described]:
    """Return what a recording says of an outermost module's parameters; what is no description is left out."""
    model = models.get(root)
    found = cast("dict[str, Any]", model).get("parameters") if isinstance(model, dict) else None
    items = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return {name: cast(Described, each) for name, each in items.items() if isinstance(each, dict)}


def differing(recorded: Mapping[str, Described], here: Mapping[str, Described]) -> dict[str, str]:
    """Return the parameters of a process's model that are not the recorded ones, each with the reason in words."""
    out = dict[str, str]()
    for name in [*recorded, *(name for name in here if name not in recorded)]:
        why = _why(recorded.get(name), here.get(name))
        if why is not None:
            out[name] = why
    return out


def _why(one: Described | None, other: Described | None) -> str | None:
    if one is None or other is None:
        return "it is not in the recording" if one is None else "it is not in the program"
    for what in ("shape", "dtype"):
        if what in one and what in other and one[what] != other[what]:
            return f"recorded {one[what]}, here {other[what]}"
    alike = one.get("start") == other.get("start") and one.get("local") == other.get("local")
    for what in ("digest", "sum"):
        if what in one and what in other and alike:
            return None if one[what] == other[what] else "its values are others"
    return None


def laid_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a rank has the same parts of the same parameters in two runs of an outermost module, given what manifests say of it."""
    theirs, ours = (parameters({"": each}, "") for each in (one, other))
    said = ("shape", "start", "local")
    return all([theirs[n].get(w) for w in said] == [ours[n].get(w) for w in said] for n in theirs if n in ours)


def between(theirs: Models, ours: Models) -> dict[str, dict[str, str]]:
    """Return the parameters that differ between two runs on any numbers of ranks, per outermost module that both have."""
    roots = dict.fromkeys(root for each in theirs.values() for root in each)
    out: dict[str, dict[str, str]] = {}
    for root in roots:
        one, other = _of_all(theirs, root), _of_all(ours, root)
        if not one or not other:
            continue
        found = {name: _whole_differs(one.get(name), other.get(name)) for name in dict.fromkeys([*one, *other])}
        if differ := {name: why for name, why in found.items() if why is not None}:
            out[root] = differ
    return out


def _of_all(models: Models, root: str) -> dict[str, dict[int, Described]]:
    """Return, by parameter, what each rank says of it."""
    found: dict[str, dict[int, Described]] = {}
    for rank in sorted(models):
        for name, each in parameters(models[rank], root).items():
            found.setdefault(name, {})[rank] = each
    return found


def _whole_differs(one: dict[int, Described] | None, other: dict[int, Described] | None) -> str | None:
    if one is None or other is None:
        return _why(None if one is None else {}, None if other is None else {})
    if _by_hand(one) or _by_hand(other) or (_shapes(one) != _shapes(other) and max(len(one), len(other)) > 1):
        return None  # parts that the program keeps as tensors of their own: nobody knows their places
    first, second = _summed(one), _summed(other)
    if first is None or second is None:
        return None  # not all of it was recorded
    whole = [_why(first, each) for each in _whole_ones(other).values()] or [_why(first, second)]
    whole += [_why(each, second) for each in _whole_ones(one).values()]
    ranks = [rank for rank, each in _whole_ones(other).items() if _why(first, each) is not None]
    why = next((each for each in whole if each is not None), None)
    if why is not None and len(other) > 1 and 0 < len(ranks) < len(other):
        return f"on rank {', '.join(map(str, ranks))} {why}"
    return why


def _whole_ones(each: dict[int, Described]) -> dict[int, Described]:
    """Return what ranks say that have all of a parameter."""
    return {rank: described for rank, described in each.items() if "start" not in described}


def _shapes(each: dict[int, Described]) -> set[str]:
    return {str(described.get("shape")) for described in each.values()}


def _by_hand(each: dict[int, Described]) -> bool:
    return len(_shapes(each)) > 1


def _summed(each: dict[int, Described]) -> Described | None:
    """Return a description of the whole: the sum of the ranks' distinct boxes, where they fill it."""
    first = next(iter(each.values()))
    if "start" not in first:
        return first
    boxes = {(str(d.get("start")), str(d.get("local"))): d for d in each.values()}
    try:
        volume = sum(math.prod(d["local"]) for d in boxes.values())
        if volume != math.prod(first["shape"]):
            return None
        sums = [str(d["sum"]) for d in boxes.values()]
        lanes = [sum(int(text[i : i + 16], 16) for text in sums) % (1 << 64) for i in (0, 16)]
    except (KeyError, TypeError, ValueError):
        return None
    return {"shape": first.get("shape"), "dtype": first.get("dtype"), "sum": "".join(f"{lane:016x}" for lane in lanes)}

"""A run on several ranks put together, to be held against one on another number of them.

Modules are matched by path. What a stage of a pipeline has not, another one has: of the outermost module the first stage has the inputs, the last one the outputs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from anywarp.check.bundle import Bundle, Entry, limits
from anywarp.check.bundle import blob as blobs
from anywarp.check.bundle.recording import Recording
from anywarp.check.record.kept import Array, array
from anywarp.check.replay import meshes, pieces, weights
from anywarp.check.replay.pieces import Join, Piece, Shape
from anywarp.check.replay.shares import SLOT as SHARE

Place = tuple[str, int, int, str, str, str]
"""Name, call, visit, side (input, output, ...), slot and run."""
SIDES = {"tokens": "input", "logits": "output"}
_SIZES = ("magnitude", "norm")
"""Runs whose values are not near those of the other side."""
_APART = 2.0
"""How many times farther from the other side than the nearest rank's a value is, if it is that rank's doing."""


def ranks(bundle: Bundle) -> list[str]:
    """Return the names of a recording's ranks in their order; none where it is of one process."""
    found = [name for name in bundle.parts if name.startswith("rank-") and name[5:].isdecimal()]
    return sorted(found, key=lambda name: int(name[5:]))


class Side:
    """What the processes of one side have, by place; one process is a side of one rank."""

    def __init__(self, bundle: Bundle) -> None:
        names = ranks(bundle)
        self.bundles = {int(name[5:]): bundle.part(name) for name in names} if names else {0: bundle}
        self.models = {rank: each.mapping("models") for rank, each in self.bundles.items()}
        self.places: dict[Place, list[Piece]] = {}
        stages = self._stages()
        for rank, each in self.bundles.items():
            for entry in each.entries:
                if entry.slot == SHARE:
                    continue  # of one rank, and compared by itself
                side = SIDES.get(entry.role, entry.role)
                first, last = stages.get((entry.name, rank), (True, True))
                if (side == "input" and not first) or (side == "output" and not last):
                    continue
                place = (entry.name, entry.call, entry.visit, side, entry.slot, entry.run)
                group = self.places.setdefault(place, [])
                if not group or group[-1].rank != rank:
                    group.append(Piece(rank, entry, each))

    def fold(self, other: Side) -> dict[str, str]:
        """Have calls that took a batch in parts (microbatches of a pipeline) stand for those of the other side that took it at once.

        Return, by outermost module, why its calls cannot be put together.
        """
        refused: dict[str, str] = {}
        for root in {root for each in self.models.values() for root in each}:
            times = self._times(root, other)
            if times is None:
                continue
            within = {place: group for place, group in self.places.items() if _is_in(place, root)}
            calls = {place[1] for place in within if place[0] == root}
            whole = len(calls) // times
            if any(len(group) > 1 for place, group in within.items() if place[3] in ("input", "output")):
                refused[root] = (
                    "several ranks compute it for each part of a batch, and do not say how these belong together"
                )
            elif not whole:
                refused[root] = (
                    f"a call takes 1/{times} of a batch, and {len(calls)} calls were recorded: --calls {times}"
                )
            else:
                self._fold(root, times, whole)
        return refused

    def _times(self, root: str, other: Side) -> int | None:
        """Return how many calls of an outermost module here are one of the other side's, given the inputs of the first; None where it is one."""
        for place, group in self.places.items():
            if place[:2] != (root, 0) or place[3] != "input" or not (theirs := other.places.get(place)):
                continue
            if len({each.entry.blob for each in theirs}) > 1:
                continue
            one, whole = group[0].entry.shape, theirs[0].entry.shape
            apart = [(n, m) for n, m in zip(one, whole) if n != m]
            if len(one) == len(whole) and len(apart) == 1 and apart[0][0] and apart[0][1] % apart[0][0] == 0:
                times = apart[0][1] // apart[0][0]
                if times > len({each.entry.blob for each in group}):  # else other ranks have the other parts
                    return times
        return None

    def _fold(self, root: str, times: int, whole: int) -> None:
        folded: dict[Place, list[Piece]] = {}
        for place, group in self.places.items():
            name, call, visit, side, slot, run = place
            if _is_in(place, root):
                call //= times
                if call >= whole:
                    continue
            folded.setdefault((name, call, visit, side, slot, run), []).extend(group)
        self.places = {place: sorted(group, key=lambda p: (p.entry.call, p.rank)) for place, group in folded.items()}

    def _stages(self) -> dict[tuple[str, int], tuple[bool, bool]]:
        """Return, for outermost modules that are stages of a pipeline (other ranks have other parameters of it), whether each rank's is the first one and the last."""
        out: dict[tuple[str, int], tuple[bool, bool]] = {}
        for root in {root for each in self.models.values() for root in each}:
            having = {
                rank: frozenset(weights.parameters(each, root)) for rank, each in self.models.items() if root in each
            }
            order = list(dict.fromkeys(having[rank] for rank in sorted(having)))
            if len(order) > 1:
                out |= {(root, rank): (has == order[0], has == order[-1]) for rank, has in having.items()}
        return out


def _is_in(place: Place, root: str) -> bool:
    return place[0] == root or place[0].startswith(f"{root}.")


@dataclass(frozen=True)
class _Whole:
    join: Join
    rank: int | None
    """The rank whose value stands for all, where these differ and it is the one that is off."""


class Assembled(Recording):
    """One side as if it had been one process. `notes` says what could not be put together, and why."""

    def __init__(self, side: Side, other: Side, refused: Mapping[str, str] | None = None) -> None:
        """`refused`: outermost modules whose calls are not those of the other side, and why."""
        self._side, self._other = side, other
        self._joins: dict[int, _Whole] = {}
        self.notes: list[str] = [note for each in side.bundles.values() for note in each.notes]
        self._missing: dict[str, None] = {}
        self.entries: list[Entry] = []
        for place, group in side.places.items():
            root = next((root for root in refused or () if _is_in(place, root)), None)
            whole = self._whole(place, group) if root is None else self._not(root, (refused or {})[root])
            if whole is None:
                continue
            first = whole.join.pieces[0].entry
            role = next(
                (e.role for e in (first, *(p.entry for p in other.places.get(place, []))) if e.role in SIDES),
                first.role,
            )
            blob = _digest(whole.join) if place[3] == "input" and place[0] in self._roots() else first.blob
            entry = replace(
                first, index=len(self.entries), call=place[1], role=role, shape=whole.join.shape, dtype=whole.join.dtype, blob=blob, placement=None, layout=None
            )  # fmt: skip
            self._joins[entry.index] = whole
            self.entries.append(entry)
        self.unjoined = ""
        """What could not be put together, in words."""
        if self._missing:
            some = ", ".join(list(self._missing)[:5]) + (" ..." if len(self._missing) > 5 else "")
            self.unjoined = f"{len(self._missing)} values of several ranks could not be put together: {some}"
            self.notes.append(self.unjoined)
        self.manifest: dict[str, Any] = self._described()

    def read(self, entry: Entry) -> memoryview:
        """Return the whole's bytes; AnywarpError: V002, V003."""
        return memoryview(self._joins[entry.index].join.values())

    def owner(self, entry: Entry, places: Sequence[Sequence[int]]) -> str:
        """Return the rank that all these elements come from, in words; nothing where that is not known, or one process had everything."""
        if len(self._side.bundles) == 1:
            return ""
        whole = self._joins[entry.index]
        if whole.rank is not None:
            return f"rank-{whole.rank}"
        found = {whole.join.owner(at) for at in places}
        if len(whole.join.pieces) == 1 and len(self._side.places[_place(entry)]) == 1:
            found = {whole.join.pieces[0].rank}  # a stage that only this rank has
        only = found.pop() if len(found) == 1 else None
        return "" if only is None else f"rank-{only}"

    def _roots(self) -> set[str]:
        return {root for each in self._side.models.values() for root in each}

    def processes(self) -> dict[str, Bundle]:
        """Return the ranks' own recordings by name."""
        return {f"rank-{rank}": each for rank, each in self._side.bundles.items()}

    def _whole(self, place: Place, group: list[Piece]) -> _Whole | None:
        theirs = self._other.places.get(place) or self._other.places.get((*place[:5], "propagated"), [])
        if len(group) == 1 and not group[0].entry.placement:
            return _Whole(pieces.alone(group[0]), None)
        if all(each.entry.placement for each in group) and all(each.entry.blob for each in group):
            found = pieces.placed(group)
            if isinstance(found, str):
                return self._not(place[0], found)
            if place[5] == "norm":
                found = [replace(each, rooted=each.added) for each in found]
            return self._farthest(found, theirs)
        in_parts = len({each.rank for each in group}) < len(group)
        shapes = _shapes(theirs) if theirs else [group[0].entry.shape]
        same = len({each.entry.blob for each in group}) == 1 and group[0].entry.blob
        if same and (not in_parts or shapes == [group[0].entry.shape]):
            return _Whole(pieces.alone(group[0]), None)
        if not all(each.entry.blob for each in group):
            return self._not(place[0], "their values were not recorded")
        axes = pieces.axes_of([each.entry.shape for each in group], shapes) if theirs else None
        if axes is not None and axes[0] is not None:
            return _Whole(pieces.one_after_another(group, axes[0]), None)
        if in_parts:
            return self._not(place[0], "what it makes of parts of a batch does not follow one another")
        return self._in_a_mesh(place, group, theirs)

    def _in_a_mesh(self, place: Place, group: list[Piece], theirs: list[Piece]) -> _Whole | None:
        """Return the way in which the ranks' values lie nearest to the other side's: as they are, added up, or over a mesh of two axes."""
        found = [pieces.alone(each) for each in group]
        like = _values(theirs)
        if like is None:
            alike = len({each.entry.shape for each in (*group, *theirs)}) == 1
            why = "the ranks of both sides have other parts, and do not say of what"
            return self._farthest(found, theirs) if alike or not theirs else self._not(place[0], why)
        apart = min(_distance(each, like) for each in found)
        ways = list(meshes.ways(group, like.shape)) if place[5] not in _SIZES else []
        distances = [min(_distance(each, like) for each in way) for way in ways]
        if ways and 10 * min(distances) < apart:
            return self._farthest(ways[distances.index(min(distances))], theirs)
        if apart == float("inf"):
            has = ", ".join(dict.fromkeys(str(list(each.entry.shape)) for each in group))
            return self._not(place[0], f"nobody says how {has} on {len(group)} ranks make {list(like.shape)}")
        return self._farthest(found, theirs, added=group)

    def _not(self, name: str, why: str) -> None:
        self._missing[f"{name}: {why}"] = None

    def _farthest(self, found: list[Join], theirs: list[Piece], added: list[Piece] | None = None) -> _Whole:
        """Return, of values that should be the same, the one that lies farthest from the other side's; their sum where that is what the other side has."""
        like = _values(theirs)
        if len(found) == 1 or like is None:
            return _Whole(found[0], None)
        apart = [_distance(each, like) for each in found]
        if added is not None and _addable(added):
            summed = pieces.total(added)
            if 10 * _distance(summed, like) < min(apart):
                return _Whole(summed, None)
        worst = max(range(len(found)), key=lambda i: apart[i])
        off = apart[worst] > _APART * min(apart)
        return _Whole(found[worst], _rank_that_differs(found, worst) if off else None)

    def _described(self) -> dict[str, Any]:
        """Return what is known of the run: of the first rank, with the models of all."""
        first = next(iter(self._side.bundles.values()))
        told = list(dict.fromkeys(note for each in self._side.bundles.values() for note in each.texts("notes")))
        models: dict[str, Any] = {}
        for each in self._side.models.values():
            for root, model in each.items():
                models.setdefault(root, model)
        return {**first.manifest, "notes": told, "models": models}


def _digest(join: Join) -> str | None:
    """Return the digest that a recording of the whole would have."""
    if join.pieces[0].entry.blob is None or len(join.pieces) == 1:
        return join.pieces[0].entry.blob
    return hashlib.sha256(blobs.head(join.dtype, join.shape) + join.values()).hexdigest()


def _place(entry: Entry) -> Place:
    return (entry.name, entry.call, entry.visit, SIDES.get(entry.role, entry.role), entry.slot, entry.run)


def _shapes(group: list[Piece]) -> list[Shape]:
    """Return the shapes of the other side's pieces; of one, where that is the whole."""
    found = [_whole_shape(each) for each in group]
    same = all(each.entry.placement for each in group) or len({each.entry.blob for each in group}) == 1
    return found[:1] if same else found


def _whole_shape(piece: Piece) -> Shape:
    found = (piece.entry.placement or {}).get("shape")
    items = cast("list[Any]", found) if isinstance(found, list) else []
    return tuple(items) if items and all(type(n) is int for n in items) else piece.entry.shape


def _values(group: list[Piece]) -> Array | None:
    """Return the other side's value, where one rank has it, or all have the same."""
    if not group or len({each.entry.blob for each in group}) != 1 or not group[0].entry.blob:
        return None
    return array(group[0].bundle, group[0].entry)


def _addable(group: list[Piece]) -> bool:
    small = group[0].entry.size * 4 <= limits.TENSOR_BYTES
    return (
        small
        and group[0].entry.dtype in ("float16", "bfloat16", "float32", "float64")
        and len({e.entry.shape for e in group}) == 1
    )


def _distance(join: Join, like: Array) -> float:
    if join.shape != like.shape:
        return float("inf")
    entry = replace(join.pieces[0].entry, shape=join.shape, dtype=join.dtype)
    found = array(_Bytes(join.values()), entry)
    if not found.size or not np.issubdtype(like.dtype, np.number):
        return 0.0
    with np.errstate(all="ignore"):
        apart = float(np.sqrt(np.mean(np.square(np.subtract(found, like, dtype=np.float64)))))
    return apart if np.isfinite(apart) else float("inf")


def _rank_that_differs(found: list[Join], worst: int) -> int | None:
    others = [join for i, join in enumerate(found) if i != worst]
    own = [p.rank for p in found[worst].pieces if not any(p is other for join in others for other in join.pieces)]
    return own[0] if len(own) == 1 else None


@dataclass
class _Bytes:
    """Bytes that are read as if they were a recording's."""

    content: bytes

    def read(self, entry: Entry) -> memoryview:
        return memoryview(self.content)


def both(reference: Bundle, observed: Bundle, null: Bundle | None) -> tuple[Recording, Recording, Recording | None]:
    """Return the sides of a comparison as if each had been one process."""
    one, other = Side(reference), Side(observed)
    of_one, of_other = one.fold(other), other.fold(one)
    whole, here = Assembled(one, other, of_one), Assembled(other, one, of_other)
    if null is None:
        return whole, here, None
    noise = Side(null)
    return whole, here, Assembled(noise, one, noise.fold(one))


def laid_alike(reference: Bundle, observed: Bundle) -> bool:
    """Whether each rank has the same parts of the parameters on both sides, where there are as many ranks."""
    one, other = Side(reference).models, Side(observed).models
    return all(
        weights.laid_alike(one[rank][root], other[rank][root])
        for rank in one
        for root in one[rank]
        if root in other.get(rank, {})
    )


def differing_weights(reference: Bundle, observed: Bundle) -> Mapping[str, Mapping[str, str]]:
    """Return the parameters that are not alike on both sides, per outermost module, each with the reason in words."""
    return weights.between(Side(reference).models, Side(observed).models)

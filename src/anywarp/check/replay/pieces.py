"""The pieces of one value that several ranks have, and how they make the whole.

Where the program says how a tensor lies over its ranks (DTensor), that decides. Else the shapes do: what is the same on all ranks is the whole; what is shorter along one axis
than the other side's, so that all pieces together are as long, follows one after another (a batch in parts, columns by hand).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from anywarp.check.bundle import Bundle, Entry
from anywarp.check.record.kept import Array, array

Shape = tuple[int, ...]
FLOATS = ("float16", "bfloat16", "float32", "float64")


@dataclass(frozen=True)
class Piece:
    """What one rank has of a value."""

    rank: int
    entry: Entry
    bundle: Bundle


@dataclass(frozen=True)
class Join:
    """A whole value: pieces, where each begins in it, and whether pieces in one place are added."""

    shape: Shape
    pieces: tuple[Piece, ...]
    starts: tuple[Shape, ...]
    added: bool = False
    rooted: bool = False
    """Whether what is added are squares, and the whole is the root."""

    @property
    def dtype(self) -> str:
        """Return the dtype of the whole: sums of narrow floats are kept wider."""
        kind = self.pieces[0].entry.dtype
        return "float32" if self.added and kind in ("float16", "bfloat16") else kind

    def owner(self, at: Sequence[int]) -> int | None:
        """Return the only rank of which the element comes, None where several made it or have it."""
        if len(self.pieces) == 1 or self.added:
            return None
        found = [p.rank for p, start in zip(self.pieces, self.starts) if _holds(p.entry.shape, start, at)]
        return found[0] if len(found) == 1 else None

    def values(self) -> bytes:
        """Return the whole's bytes, little-endian, contiguous; AnywarpError: V002, V003."""
        if len(self.pieces) == 1:
            return bytes(self.pieces[0].bundle.read(self.pieces[0].entry))
        raw = f"V{self.pieces[0].entry.size // max(math.prod(self.pieces[0].entry.shape), 1) or 1}"
        whole: Array = np.zeros(self.shape, self.dtype if self.added else raw)
        for piece, start in zip(self.pieces, self.starts):
            at = tuple(slice(b, b + n) for b, n in zip(start, piece.entry.shape))
            if self.added:
                part = array(piece.bundle, piece.entry)
                whole[at] += np.square(part) if self.rooted else part
            else:
                whole[at] = np.reshape(np.frombuffer(piece.bundle.read(piece.entry), raw), piece.entry.shape)
        return (np.sqrt(whole) if self.rooted else whole).tobytes()


def _holds(shape: Shape, start: Shape, at: Sequence[int]) -> bool:
    return all(begin <= i < begin + extent for begin, extent, i in zip(start, shape, at))


def placed(pieces: Sequence[Piece]) -> list[Join] | str:
    """Return what pieces with placements make: one whole, or several where ranks that should have the same differ. A text says why there is none.

    Parts of a sum are added in their own type, float32 at least.
    """
    found = [_placement(each) for each in pieces]
    if any(each is None for each in found):
        return "their places in the whole are not known"
    known = [each for each in found if each is not None]
    shape = known[0].shape
    if any(each.shape != shape for each in known):
        return "they are of wholes of different shapes"
    boxes: dict[tuple[Shape, Shape], list[Piece]] = {}
    for piece, each in zip(pieces, known):
        boxes.setdefault((each.start, each.share), []).append(piece)
    added = len({share for _, share in boxes}) > 1
    if added and pieces[0].entry.dtype not in FLOATS:
        return f"sums of {pieces[0].entry.dtype} are not made"
    if added and any(each.reduced != "partial" for each in known):
        return f"they are parts of {known[0].reduced}, which is no sum"
    if not _tile(shape, [(start, group[0].entry.shape) for (start, _), group in boxes.items()], added):
        return "they are not the whole"
    starts = tuple(start for start, _ in boxes)
    first = Join(shape, tuple(group[0] for group in boxes.values()), starts, added)
    others = [p for group in boxes.values() for p in group[1:] if p.entry.blob != group[0].entry.blob]
    return [first, *(_with(first, list(boxes.values()), each) for each in others)]


def _with(join: Join, groups: list[list[Piece]], other: Piece) -> Join:
    return replace(join, pieces=tuple(other if other in group else group[0] for group in groups))


@dataclass(frozen=True)
class _Placement:
    shape: Shape
    start: Shape
    share: Shape
    """The rank's place along the axes of the mesh on which values are parts of a sum."""
    reduced: str


def _placement(piece: Piece) -> _Placement | None:
    """Read a placement; None where it says too little, or something that cannot be."""
    found = piece.entry.placement or {}
    shape, start, at = (_counts(found.get(name)) for name in ("shape", "start", "at"))
    kinds = cast("list[Any]", found.get("placements")) if isinstance(found.get("placements"), list) else []
    local = piece.entry.shape
    if (
        shape is None
        or start is None
        or at is None
        or len(at) != len(kinds)
        or not len(shape) == len(start) == len(local)
    ):
        return None
    if any(begin + extent > whole for begin, extent, whole in zip(start, local, shape)):
        return None
    parts = [(i, str(kind)) for i, kind in enumerate(kinds) if str(kind).startswith("partial")]
    return _Placement(
        shape, start, tuple(at[i] for i, _ in parts), next((kind for _, kind in parts if kind != "partial"), "partial")
    )


def _counts(found: Any) -> Shape | None:
    if not isinstance(found, list):
        return None
    items = cast("list[Any]", found)
    return tuple(items) if all(type(n) is int and 0 <= n < 1 << 48 for n in items) else None


def _tile(shape: Shape, boxes: list[tuple[Shape, Shape]], added: bool) -> bool:
    """Whether boxes fill the whole; those of different parts of a sum lie over each other."""
    distinct = set(boxes) if added else boxes
    volume = sum(math.prod(extents) for _, extents in distinct)
    return volume == math.prod(shape)


def one_after_another(pieces: Sequence[Piece], axis: int) -> Join:
    """Return pieces along one axis, in the order of their ranks."""
    extents = [each.entry.shape[axis] for each in pieces]
    begins = [sum(extents[:i]) for i in range(len(extents))]
    first = pieces[0].entry.shape
    starts = tuple(tuple(b if i == axis else 0 for i in range(len(first))) for b in begins)
    return Join(tuple(sum(extents) if i == axis else n for i, n in enumerate(first)), tuple(pieces), starts)


def axes_of(ours: Sequence[Shape], theirs: Sequence[Shape]) -> tuple[int | None, int | None] | None:
    """Return the axes along which the pieces of both sides follow one another so that they make wholes of one shape; None for a side of one piece."""
    for one, whole in _wholes(ours):
        for other, their_whole in _wholes(theirs):
            if whole == their_whole:
                return one, other
    return None


def _wholes(shapes: Sequence[Shape]) -> list[tuple[int | None, Shape]]:
    if len(shapes) == 1:
        return [(None, shapes[0])]
    found: list[tuple[int | None, Shape]] = []
    for axis in range(min(map(len, shapes))):
        rest = {(len(shape), shape[:axis], shape[axis + 1 :]) for shape in shapes}
        if len(rest) == 1:
            found.append((axis, (*shapes[0][:axis], sum(shape[axis] for shape in shapes), *shapes[0][axis + 1 :])))
    return found


def alone(piece: Piece) -> Join:
    """Return a value that one rank has, as it is."""
    return Join(piece.entry.shape, (piece,), ((0,) * len(piece.entry.shape),))


def total(pieces: Sequence[Piece]) -> Join:
    """Return the sum of what the ranks have."""
    return Join(
        pieces[0].entry.shape, tuple(pieces), tuple(((0,) * len(pieces[0].entry.shape),) * len(pieces)), added=True
    )

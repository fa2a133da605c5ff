"""What ranks make that keep plain tensors and lie in a mesh of two axes: the program does not say which axis does what, so every way that fits in shape is looked at.

A mesh of 2 x 2 may divide the batch along one of its axes and columns along the other, in either order, or add along one. Which way it is, shows by the values
(`assembled.py`): in another one they lie nowhere near the other side's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from anywarp.check.replay import pieces
from anywarp.check.replay.pieces import FLOATS, Join, Piece, Shape

_REPLICATE, _PARTIAL = "replicate", "partial"


def ways(group: Sequence[Piece], shape: Shape) -> Iterator[list[Join]]:
    """Yield what the ranks' equally large parts make of a whole of this shape, each way as `pieces.placed` does: several wholes where ranks that should have the same differ."""
    local = group[0].entry.shape
    if any(each.entry.shape != local for each in group) or len(local) != len(shape):
        return
    kinds = [_REPLICATE, *range(len(shape)), *([_PARTIAL] if group[0].entry.dtype in FLOATS else [])]
    for rows in range(2, len(group) // 2 + 1):
        sizes = rows, len(group) // rows
        if len(group) % rows:
            continue
        for chosen in itertools.product(kinds, repeat=2):
            parts = [_parts(sizes, chosen, axis) for axis in range(len(shape))]
            alike = chosen[0] == chosen[1]  # one axis would do, and has been looked at
            if not alike and all(part * extent == whole for part, extent, whole in zip(parts, local, shape)):
                found = pieces.placed([_at(each, divmod(i, sizes[1]), sizes, chosen, shape) for i, each in enumerate(group)])  # fmt: skip
                if not isinstance(found, str):
                    yield found


def _parts(sizes: tuple[int, int], chosen: Sequence[int | str], axis: int) -> int:
    out = 1
    for size, kind in zip(sizes, chosen):
        out *= size if kind == axis else 1
    return out


def _at(
    piece: Piece, at: tuple[int, int], sizes: tuple[int, int], chosen: Sequence[int | str], shape: Shape
) -> Piece:  # fmt: skip
    """Return a rank's part with the placement that a DTensor would have there."""
    local = piece.entry.shape
    start = [sum(i * local[axis] for i, kind in zip(at, chosen) if kind == axis) for axis in range(len(shape))]
    words = [f"shard({kind})" if isinstance(kind, int) else kind for kind in chosen]
    placement: dict[str, Any] = {"shape": list(shape), "mesh": list(sizes), "at": list(at), "placements": words, "start": start}  # fmt: skip
    return replace(piece, entry=replace(piece.entry, placement=placement))

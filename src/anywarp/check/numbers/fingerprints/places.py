"""Differences that lie together: rectangles and tiles."""

# pyright: basic
from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.fingerprints.trials import percent
from anywarp.check.numbers.results import Fingerprint

Array = NDArray[Any]


def varies(values: Array, axis: int) -> bool:
    """Whether values differ along an axis."""
    return bool(np.any(np.diff(values, axis=axis) != 0))


def tile(v: Evidence) -> Fingerprint | None:
    """Find a rectangle or whole tiles in which all lies that strikes."""
    if v.r.ndim < 2 or v.r.shape[-1] < 8 or not v.beyond.any():
        return None
    table = v.striking.reshape(-1, v.r.shape[-1])
    share = float(table.mean())
    if not 0 < share < 0.5 or table.sum() < 8:
        return None
    rows, columns = np.flatnonzero(table.mean(1) > 0.02 * table.mean(1).max()), np.flatnonzero(table.any(0))
    box = table[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    inside = box.sum() / table.sum()
    if box.mean() > 0.6 and inside > 0.98 and box.size < 0.6 * table.size and box.size >= 16:
        whole_rows, whole_columns = len(box) == len(table), box.shape[1] == table.shape[1]
        if whole_columns and len(rows) == 1:
            return None  # one row is no tile
        parts = []
        before = v.skipped * (len(table) // len(v.r))
        if not whole_rows or not v.whole:
            parts.append(f"rows {before + rows[0]} to {before + rows[-1]}")
        if not whole_columns:
            parts.append(f"columns {columns[0]} to {columns[-1]}")
        said = f"{percent(float(inside))} of the striking differences lie in {len(box)} x {box.shape[1]} of {len(table)} x {table.shape[1]} elements"
        said += "" if v.whole else " that were looked at"
        corner = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        moved = _moved(v.r.reshape(table.shape), v.o.reshape(table.shape), corner)
        aligned = (
            any(rows[0] % t == columns[0] % t == 0 for t in (8, 16, 32, 64))
            and (whole_rows or len(box) % 8 == 0)
            and (whole_columns or box.shape[1] % 8 == 0)
        )
        return Fingerprint(
            "tile", said + moved, 0.95 if moved else 0.92 if aligned and len(box) > 1 else 0.8, ", ".join(parts)
        )
    for size in (256, 128, 64, 32, 16, 8):
        found = _tiles(table, size)
        if found is not None:
            bad, count, first = found
            row = first[0] * size + v.skipped * (len(table) // len(v.r))
            return Fingerprint("tile", f"{bad} of {count} tiles of {size} x {size} hold the striking differences, the others next to none", 0.92, f"first at row {row}, column {first[1] * size}")  # fmt: skip
    return None


def _moved(r: Array, o: Array, corner: Any) -> str:
    """Return words if the values of a tile are their neighbours'."""
    part = o[corner]
    change = part - r[corner]
    energy = float(np.vdot(change, change))
    for axis, by in itertools.product((0, 1), (1, -1)):
        near = np.roll(r, by, axis)[corner]
        left = part - near
        if energy and np.vdot(left, left) < 0.2 * energy:
            return f"; its values are those of one {'row' if axis == 0 else 'column'} {'before' if by > 0 else 'after'}"
    return ""


def _tiles(table: Array, size: int) -> tuple[int, int, tuple[int, int]] | None:
    rows, columns = table.shape[0] // size, table.shape[1] // size
    if rows * columns < 4 or not rows or not columns:
        return None
    means = table[: rows * size, : columns * size].reshape(rows, size, columns, size).mean(axis=(1, 3))
    bad = means > 0.6
    if not bad.any() or bad.mean() > 0.5 or float(means[~bad].max(initial=0.0)) > 0.02:
        return None
    first = np.argwhere(bad)[0]
    return int(bad.sum()), bad.size, (int(first[0]), int(first[1]))

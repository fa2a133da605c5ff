"""Positions and caches: rotary embeddings, masks, what stays from a call before."""

# pyright: basic
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.fingerprints.trials import EXPLAINED, percent
from anywarp.check.numbers.results import Fingerprint

Array = NDArray[Any]


def _by_position(v: Evidence) -> tuple[int, Array] | None:
    """Return the position axis and the relative rms of the differences at each position."""
    axis = v.axis("position")
    if axis is None or (axis == 0 and not v.whole) or v.r.shape[axis] < 3 or v.r.size < 4 * v.r.shape[axis]:
        return None
    others = tuple(x for x in range(v.r.ndim) if x != axis)
    size = math.sqrt(float(np.mean(v.r**2)))
    if not size:
        return None
    return axis, np.sqrt(np.mean(v.d**2, axis=others)) / size


def positions(v: Evidence) -> Fingerprint | None:
    """Find what only the last position has, what grows with the position, and turned pairs of channels."""
    found = _by_position(v)
    if found is None:
        return None
    axis, errors = found
    top = float(errors.max())
    if top < 1e-3:
        return None
    right = errors < 0.02 * top
    wrong = np.flatnonzero(~right)
    turned = _turned(v, axis)
    order = np.arange(len(errors))
    ranks = np.argsort(np.argsort(errors))
    growing = float(np.corrcoef(order, ranks)[0, 1])
    if turned is not None:
        if right[0] and (growing > 0.3 or len(wrong) > 1):
            return Fingerprint(
                "rotary",
                f"position 0 is right, later ones are wrong by up to {percent(top)}, and {turned} keep their length",
                0.97,
            )
        return Fingerprint("rotary", f"{turned} keep their length, but are turned", 0.9)
    if right[-1] and v.operation.kind in ("attention", "composite", "softmax") and not right[:-1].any():
        return Fingerprint(
            "mask",
            f"only the last of {len(errors)} positions is right: others see what they should not, or less than they should",
            0.85,
        )
    repeated = _repeated(v, axis)
    if repeated is not None:
        return repeated
    if right[0] and growing > 0.8 and len(errors) >= 6 and errors[-1] > 3 * errors[max(1, len(errors) // 8)]:
        return Fingerprint(
            "position",
            f"position 0 is right, and differences grow with the position (rank correlation {growing:.2g})",
            0.7,
        )
    if right[0] and len(wrong) and right[: wrong[0]].all() and not right[wrong[0] :].any():
        return Fingerprint(
            "stale-cache",
            f"positions before {wrong[0]} are right, all later ones wrong",
            0.65,
            f"from position {wrong[0]}",
        )
    return None


def _turned(v: Evidence, axis: int) -> str | None:
    """Return words if pairs of channels keep their length though they differ: halves of a head, or neighbours."""
    grouping = v.by_head()
    shape = v.r.shape if grouping is None else tuple(grouping[0])
    if axis == v.r.ndim - 1 or shape[-1] % 2 or v.r.ndim < 2:
        return None
    sizes = [shape] + [
        (*v.r.shape[:-1], v.r.shape[-1] // size, size)
        for size in (32, 64, 80, 96, 128, 256)
        if v.r.shape[-1] % size == 0
    ]
    for split in dict.fromkeys(sizes):
        half = split[-1] // 2
        pairs = {"halves": (*split[:-1], 2, half), "neighbours": (*split[:-1], half, 2)}
        for words, parts in pairs.items():
            axis_of_pair = -2 if words == "halves" else -1
            was, now = (np.linalg.norm(x.reshape(parts), axis=axis_of_pair) for x in (v.r, v.o))
            off, size = math.sqrt(float(np.mean((was - now) ** 2))), math.sqrt(float(np.mean(v.d**2)))
            if off < 0.02 * size and float(np.std(now)) > 0:
                return f"pairs of {words} in heads of {split[-1]}"
    return None


def _repeated(v: Evidence, axis: int) -> Fingerprint | None:
    """Positions that repeat the one before though the reference's do not."""
    o, r = np.moveaxis(v.o, axis, 0), np.moveaxis(v.r, axis, 0)
    step, moved = np.abs(np.diff(o, axis=0)), np.abs(np.diff(r, axis=0))
    same = step.reshape(len(step), -1).max(1) == 0
    if same.any() and not (moved.reshape(len(moved), -1).max(1) == 0).any():
        first = int(np.flatnonzero(same)[0]) + 1
        return Fingerprint(
            "stale-cache", f"{int(same.sum())} positions repeat the one before", 0.93, f"from position {first}"
        )
    return None


def earlier(v: Evidence) -> Fingerprint | None:
    """Find the values of the call before."""
    if v.earlier is None or np.shape(v.earlier) != v.reference.shape:
        return None
    before = v.look(v.earlier)
    share = v.explained(np.where(np.isfinite(before), before, 0.0))
    if share >= EXPLAINED:
        return Fingerprint(
            "stale-cache", f"the values are those of the call before ({percent(share)} of the differences)", 0.97
        )
    return None

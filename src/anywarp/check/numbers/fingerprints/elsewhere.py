"""The same values in other places."""

# pyright: basic
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.fingerprints.places import varies
from anywarp.check.numbers.fingerprints.trials import EXPLAINED, percent, slight
from anywarp.check.numbers.results import Fingerprint
from anywarp.numerics import bounds

Array = NDArray[Any]


def layout(v: Evidence) -> Fingerprint | None:
    """Find another arrangement of the axes, heads, positions or channels."""
    if v.r.size > 1 << 21 or v.r.size < 4 or slight(v):
        return None
    total, other = float(np.abs(v.r).sum()), float(np.abs(v.o).sum())
    if abs(total - other) > 1e-2 * max(total, other):
        return None
    slack = float(np.median(v.allowed)) + 4 * bounds.roundoff(v.operation.output) * np.abs(np.sort(v.r, axis=None))
    if np.mean(np.abs(np.sort(v.r, axis=None) - np.sort(v.o, axis=None)) <= 2 * slack) < 0.999:
        return None
    for words, candidate in _arrangements(v):
        if v.explained(candidate) >= EXPLAINED:
            return Fingerprint(
                "layout",
                f"{words} explains {percent(v.explained(candidate))} of the differences; the values are the same",
                0.98,
            )
    if float(np.count_nonzero(v.beyond)) < 0.01 * v.r.size or len(np.unique(v.r)) < 8:
        return None
    return Fingerprint("layout", "both hold the same values, in other places", 0.85)


def _arrangements(v: Evidence) -> Iterator[tuple[str, Array]]:
    r, shape = v.r, v.r.shape
    for axis in range(r.ndim):
        yield f"axis {axis} backwards", np.flip(r, axis)
    if 2 <= r.ndim <= 4:
        for order in itertools.permutations(range(r.ndim)):
            if order != tuple(range(r.ndim)):
                yield f"the order {order} of the axes", r.transpose(order).reshape(shape)
                if tuple(shape[x] for x in order) != shape:  # written in one order, read in the other
                    yield (
                        f"a copy in the order {order} of the axes",
                        r.reshape([shape[x] for x in order]).transpose(np.argsort(order)),
                    )
    channels = shape[-1]
    known = v.operation.heads
    for heads in ([known] if known > 1 else []) + [h for h in (2, 4, 8, 12, 16, 32, 64, 128) if h != known]:
        if channels % heads or heads == channels:
            continue
        each = r.reshape(*shape[:-1], heads, channels // heads)
        yield f"heads and channels swapped (at {heads} heads)", np.swapaxes(each, -1, -2).reshape(shape)
        yield (
            f"heads and channels swapped (at {channels // heads} heads)",
            np.swapaxes(r.reshape(*shape[:-1], channels // heads, heads), -1, -2).reshape(shape),
        )
        yield f"the heads backwards (of {heads})", each[..., ::-1, :].reshape(shape)
        if r.ndim >= 2:
            yield f"heads and positions swapped (at {heads} heads)", np.swapaxes(each, -2, -3).reshape(shape)
            wrong = np.swapaxes(r.reshape(*shape[:-2], heads, shape[-2], channels // heads), -2, -3)
            yield f"heads and positions swapped (at {heads} heads)", wrong.reshape(shape)
        size = channels // heads
        if size % 2 == 0:
            yield (
                f"halves and pairs swapped (at {heads} heads)",
                np.swapaxes(each.reshape(*shape[:-1], heads, 2, size // 2), -1, -2).reshape(shape),
            )
            yield (
                f"halves and pairs swapped (at {heads} heads)",
                np.swapaxes(each.reshape(*shape[:-1], heads, size // 2, 2), -1, -2).reshape(shape),
            )
    for axis in range(r.ndim):
        if shape[axis] % 2 == 0 and shape[axis] > 2:
            yield f"the halves of axis {axis} swapped", np.roll(r, shape[axis] // 2, axis)


def shifted(v: Evidence) -> Fingerprint | None:
    """Find values that stand beside their places."""
    r, o = v.r, v.o
    if slight(v):
        return None
    for axis in range(r.ndim):
        for by in (1, -1, 2, -2, 4, -4, 8, -8, 16, -16):
            if r.shape[axis] < 2 * abs(by) + 2:
                continue
            before, after = [slice(None)] * r.ndim, [slice(None)] * r.ndim
            before[axis], after[axis] = (
                (slice(None, -by), slice(by, None)) if by > 0 else (slice(-by, None), slice(None, by))
            )
            was, now = r[tuple(before)], o[tuple(after)]
            change = now - r[tuple(after)]
            energy = float(np.vdot(change, change))
            left = now - was
            if energy and float(np.vdot(left, left)) < (1 - EXPLAINED) * energy and varies(was, axis):
                return Fingerprint(
                    "shifted",
                    f"the values are those of {abs(by)} {'before' if by > 0 else 'after'} along axis {axis}",
                    0.97,
                )
    return None

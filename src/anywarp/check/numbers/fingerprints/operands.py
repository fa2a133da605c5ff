"""Operands rounded or flushed before they were multiplied: tried out."""

# pyright: basic
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.fingerprints.trials import EXPLAINED, percent
from anywarp.check.numbers.results import Fingerprint
from anywarp.numerics import formats

Array = NDArray[Any]


def flushed(v: Evidence) -> Fingerprint | None:
    """Find results below the smallest normal number that became zero."""
    name = v.operation.output
    form = formats.format_of(name)
    if form is None or form.name == "float64":
        return None
    for r, o, side in ((v.r, v.o, ""), (v.o, v.r, " in the reference, which the target keeps")):
        small = (r != 0) & (np.abs(r) < form.normal)
        gone = small & (o == 0)
        count = int(gone.sum())
        if (
            not count
            or count < 0.9 * small.sum()
            or (gone & v.beyond).sum() < 0.25 * count
            or (v.beyond & ~small).any()
        ):
            continue
        if not (small & ~gone & (np.abs(r) > form.normal / 4)).any():
            said = f"{count} of {int(small.sum())} numbers below {form.normal:.3g}, {name}'s smallest normal one, are zero{side}"
            return Fingerprint("flushed-subnormals", said, 0.96 if count >= 8 else 0.7)
    return None


def operands(v: Evidence) -> Fingerprint | None:
    """Try other operands out on some results of a product."""
    if v.operation.kind != "product" or len(v.inputs) < 2 or v.inputs[0] is None or v.inputs[1] is None:
        return None
    a, b = np.asarray(v.inputs[0], np.float64), np.asarray(v.inputs[1], np.float64)
    if b.ndim != 2 or a.ndim < 1 or a.shape[-1] != b.shape[0] or (*a.shape[:-1], b.shape[1]) != v.reference.shape:
        return None
    flat = a.reshape(-1, a.shape[-1])
    most = max(1, min(64, (1 << 24) // max(1, b.shape[0]) // 64))
    rows = np.unique(np.linspace(0, len(flat) - 1, most).astype(int))
    columns = np.unique(np.linspace(0, b.shape[1] - 1, 64).astype(int))
    r, o = (np.asarray(x, np.float64).reshape(-1, b.shape[1])[np.ix_(rows, columns)] for x in (v.reference, v.observed))
    d = o - r
    energy = float(np.vdot(d, d))
    if not energy or not math.isfinite(energy):
        return None
    left, right = flat[rows], b[:, columns]
    exact = left @ right
    best: tuple[float, str, str] = (0.0, "", "")
    if b.shape[0] == b.shape[1]:
        bias = r - exact
        off = o - bias - left @ b.T[:, columns]
        if 1 - float(np.vdot(off, off)) / energy > EXPLAINED:
            return Fingerprint(
                "transposed-weight", "the product with the transposed weight explains the differences", 0.97
            )
    for name, words, change in _CHANGES:
        for which, pair in (("both operands", (change(left), change(right))), ("the first operand", (change(left), right)), ("the second operand", (left, change(right)))):  # fmt: skip
            effect = pair[0] @ pair[1] - exact
            for sign, side in ((1, "the target's"), (-1, "the reference's")):
                off = d - sign * effect
                share = 1 - float(np.vdot(off, off)) / energy
                if share > best[0] + 1e-3:
                    best = (
                        share,
                        name,
                        f"{words} of {which} on {side} side explains {percent(share)} of the differences",
                    )
    if best[0] < 0.8:
        return None
    return Fingerprint(best[1], best[2], 0.5 + 0.48 * best[0])


def _without_subnormals(name: str) -> Callable[[Array], Array]:
    normal = formats.FORMATS[name].normal
    return lambda x: np.where(np.abs(x) < normal, 0.0, x)


_CHANGES: list[tuple[str, str, Callable[[Array], Array]]] = [
    ("tf32", "rounding to TF32", lambda x: formats.round_to(x, "tf32")),
    ("tf32", "cutting to TF32", lambda x: formats.truncate_to(x, "tf32")),
    ("narrow-operands", "rounding to bfloat16", lambda x: formats.round_to(x, "bfloat16")),
    ("narrow-operands", "rounding to float8_e4m3", lambda x: formats.round_to(x, "float8_e4m3fn", saturate=True)),
    ("narrow-operands", "rounding to float8_e5m2", lambda x: formats.round_to(x, "float8_e5m2", saturate=True)),
    ("narrow-operands", "rounding to float16", lambda x: formats.round_to(x, "float16")),
    ("flushed-subnormals", "flushing float16's subnormals", _without_subnormals("float16")),
    ("flushed-subnormals", "flushing float32's subnormals", _without_subnormals("float32")),
]
"""What may become of operands. TF32 comes first: rounding to float16 does the same to numbers of ordinary size."""

"""One factor for everything or for a part, and one constant for each channel."""

# pyright: basic
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.fingerprints.trials import (
    EXPLAINED,
    best_factor,
    eight_bits,
    figure,
    numbered,
    percent,
    settled,
)
from anywarp.check.numbers.results import Fingerprint

Array = NDArray[Any]


def scale(v: Evidence) -> Fingerprint | None:
    """Find one factor, for everything, a head, a channel or a position."""
    a, share = best_factor(v.r, v.o)
    if share >= EXPLAINED and abs(a - 1) > 1e-3 and v.r.size >= 8:
        return _scaled(v, a, share, "", 0.96 if share > 0.9999 or settled(v, a * v.r) else 0.8)
    groupings = [("head", v.by_head()), ("channel", (v.r.shape, v.r.ndim - 1))]
    position = v.axis("position")
    if position is not None:
        groupings.append(("position", (v.r.shape, position)))
    if v.r.ndim > 2:
        groupings.append(("index 1 =", (v.r.shape, 1)))
    for name, grouping in groupings:
        if grouping is None or grouping[0][grouping[1]] < 2:
            continue
        r, o, d, beyond = (
            np.moveaxis(x.reshape(grouping[0]), grouping[1], 0).reshape(grouping[0][grouping[1]], -1)
            for x in (v.r, v.o, v.d, v.beyond)
        )
        if r.shape[1] < 8:
            continue
        rr = np.square(r).sum(1)
        factors = np.divide((r * o).sum(1), rr, out=np.ones(len(r)), where=rr > 0)
        energy, left = np.square(d).sum(1), np.square(o - factors[:, None] * r).sum(1)
        wrong = (energy > 0) & (np.abs(factors - 1) > 1e-2) & beyond.any(1)
        if (
            not wrong.any()
            or left[wrong].sum() > (1 - EXPLAINED) * energy[wrong].sum()
            or energy[wrong].sum() < EXPLAINED * v.energy
        ):
            continue
        which = np.flatnonzero(wrong) + (v.skipped if grouping[1] == 0 else 0)
        place = f"{name} {numbered(which)}"
        low, high = factors[wrong].min(), factors[wrong].max()
        said = 1 - float(left[wrong].sum() / energy[wrong].sum())
        if high - low < 1e-3 * abs(high):
            return _scaled(v, float(factors[wrong].mean()), said, place)
        return Fingerprint(
            "scale",
            f"factors from {figure(low)} to {figure(high)} explain {percent(said)} of the differences",
            0.9,
            place,
        )
    return None


def _scaled(v: Evidence, a: float, share: float, place: str, confidence: float = 0.96) -> Fingerprint:
    said = f"a factor of {figure(a)} explains {percent(share)} of the differences"
    if eight_bits(v) and any(abs(a / power - 1) < 0.02 for power in (0.25, 0.5, 2.0, 4.0)):
        return Fingerprint(
            "fp8-flavour", f"{said}: the same bits mean twice as much in OCP's flavour as in FNUZ", 0.97, place
        )
    return Fingerprint("scale", said, confidence, place)


def offset(v: Evidence) -> Fingerprint | None:
    """Find one constant for each channel."""
    if v.r.ndim < 2 or v.r.shape[-1] < 2 or v.r.size < 4 * v.r.shape[-1]:
        return None
    for axis in {v.r.ndim - 1, 1 if v.r.ndim == 4 else v.r.ndim - 1}:
        others = tuple(x for x in range(v.r.ndim) if x != axis)
        middle = v.d.mean(axis=others, keepdims=True)
        share, largest = v.explained(v.r + middle), float(np.abs(middle).max())
        if share >= EXPLAINED and largest > 4 * float(np.median(v.rounding)):
            said = (
                f"one constant per channel, {figure(largest)} at the most, explains {percent(share)} of the differences"
            )
            return Fingerprint("offset", said, 0.93 if settled(v, v.r + middle) else 0.7)
    return None

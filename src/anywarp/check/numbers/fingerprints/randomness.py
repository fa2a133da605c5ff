"""Numbers that were drawn."""

# pyright: basic
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.fingerprints.trials import EXPLAINED, best_factor, figure, percent
from anywarp.check.numbers.results import Fingerprint

Array = NDArray[Any]


def dropout(v: Evidence) -> Fingerprint | None:
    """Find zeros with the rest larger in proportion, and two runs that differ."""
    zero = (v.o == 0) & (v.r != 0)
    p = float(zero.mean())
    if 0.005 < p < 0.97 and zero.sum() >= 8:
        rest = ~zero & v.finite
        a, share = best_factor(v.r[rest], v.o[rest])
        if share >= EXPLAINED and abs(a * (1 - p) - 1) < max(0.05, 4 * math.sqrt(p / zero.size)):
            return Fingerprint(
                "dropout",
                f"{percent(p)} of the values are zero and the others {figure(a)} times the reference's, 1 / (1 - {1 - 1 / a:.3g})",
                0.98,
            )
    if v.again is None:
        return None
    twice = v.look(v.again)
    between = np.abs(np.where(np.isfinite(twice), twice, 0) - v.o)
    if float(np.mean(between > v.allowed)) < 0.01:
        return None
    size = math.sqrt(float(np.mean(between**2)) / max(float(np.mean(v.r**2)), 1e-300))
    apart = math.sqrt(float(np.mean(between**2)) / max(float(np.mean(v.d**2)), 1e-300))
    if size > 0.02 and 0.5 < apart < 2.5:
        return Fingerprint(
            "dropout",
            f"two runs on the target differ by {percent(size)} of the values' size, as much as from the reference",
            0.9,
        )
    return Fingerprint("not-repeatable", f"two runs on the target differ by {percent(size)} of the values' size", 0.7)

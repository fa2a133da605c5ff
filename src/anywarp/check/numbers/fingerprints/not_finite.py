"""Values that are NaN or infinite on one side only, and what clips."""

# pyright: basic
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.fingerprints.trials import eight_bits, figure
from anywarp.check.numbers.results import Fingerprint
from anywarp.numerics import formats

Array = NDArray[Any]


def unlike(v: Evidence) -> Fingerprint | None:
    """Find what makes NaN and infinities: the other flavour of FP8, overflow."""
    r, o = v.raw
    lost, gained = np.isnan(o) & np.isfinite(r), np.isnan(r) & np.isfinite(o)
    eight = eight_bits(v)
    if lost.any() and eight and np.all(r[lost] == 0):
        return Fingerprint(
            "fp8-flavour",
            f"{int(lost.sum())} zeros became NaN: 0x80 is a zero of OCP's flavour and the NaN of FNUZ",
            0.97,
        )
    if gained.any() and eight and np.all(np.abs(o[gained]) == 240):
        return Fingerprint(
            "fp8-flavour", f"{int(gained.sum())} NaN became 240: 0x7f is a NaN of OCP's flavour and 240 of FNUZ", 0.99
        )
    infinite = ~np.isfinite(o) & np.isfinite(r)
    if infinite.any():
        smallest, others = float(np.abs(r[infinite]).min()), np.abs(r[np.isfinite(r) & np.isfinite(o)])
        for name in ("float16", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz"):
            top = formats.FORMATS[name].largest
            if (
                smallest >= 0.99 * top
                and (others.max(initial=0.0) <= 1.01 * top)
                and formats.FORMATS[name].precision <= 11
            ):
                return Fingerprint(
                    "overflow",
                    f"all {int(infinite.sum())} values beyond {top:g}, the largest of {name}, are infinite or NaN",
                    0.95,
                )
    return None


def saturated(v: Evidence) -> Fingerprint | None:
    """Find the largest number at which values are clipped."""
    top = float(np.abs(v.o).max())
    at_top = np.abs(v.o) == top
    over = np.abs(v.r) > top
    if at_top.sum() < 3 or not over.any() or not np.all(at_top[over]):
        return None
    clipped = np.clip(v.r, -top, top)
    share = v.explained(clipped)
    if share < 0.9:
        return None
    known = {
        240.0: "float8_e4m3fnuz",
        448.0: "float8_e4m3fn",
        65504.0: "float16",
        57344.0: "float8_e5m2",
        224.0: "a margin below FNUZ's 240",
    }
    name = known.get(top)
    return Fingerprint("saturated", f"{int(over.sum())} values are clipped at {figure(top)}" + (f", the largest of {name}" if name else ""), 0.95 if name else 0.85)  # fmt: skip

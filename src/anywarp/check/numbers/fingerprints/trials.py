"""What searches for causes have in common: how much of a difference a trial explains, and figures in words."""

# pyright: basic
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence

Array = NDArray[Any]

EXPLAINED = 0.98
"""Which share of the differences' squares a trial has to explain."""


def figure(x: float) -> str:
    """Return a number in words."""
    return f"{x:.4g}"


def percent(x: float) -> str:
    """Return a share in words."""
    return f"{100 * x:.3g} %"


def eight_bits(v: Evidence) -> bool:
    """Whether 8-bit floats are multiplied, or the result."""
    return any(name.startswith("float8") for name in (v.operation.output, v.operation.operands))


def best_factor(r: Array, o: Array) -> tuple[float, float]:
    """Return the best factor a of o = a r, and which share of the differences' squares it explains."""
    rr, d = float(np.vdot(r, r)), o - r
    energy = float(np.vdot(d, d))
    if rr == 0 or energy == 0:
        return 1.0, 0.0
    a = float(np.vdot(r, o)) / rr
    left = o - a * r
    return a, 1 - float(np.vdot(left, left)) / energy


def settled(v: Evidence, candidate: Array) -> bool:
    """Return whether nothing is left to explain if the reference is replaced by `candidate`."""
    return float(np.mean(np.abs(v.o - candidate) <= v.allowed + v.rounding)) > 0.99


def numbered(which: Array) -> str:
    """Return numbers in words: "3", "2 to 5", "1, 4 and 6 more"."""
    if len(which) > 1 and np.all(np.diff(which) == 1):
        return f"{which[0]} to {which[-1]}"
    head = ", ".join(str(x) for x in which[:3])
    return head + (f" and {len(which) - 3} more" if len(which) > 3 else "")


def slight(v: Evidence) -> bool:
    """Return whether differences are too small for values that stand elsewhere."""
    return v.energy < 1e-4 * float(np.vdot(v.r, v.r))

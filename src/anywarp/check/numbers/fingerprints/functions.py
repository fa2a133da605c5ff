"""Another function, and nothing in common at all."""

# pyright: basic
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.fingerprints.trials import EXPLAINED, figure
from anywarp.check.numbers.results import Fingerprint

Array = NDArray[Any]


def other_function(v: Evidence) -> Fingerprint | None:
    """Find another pointwise function that gives the observed values."""
    if (
        v.operation.kind != "pointwise"
        or not v.inputs
        or v.inputs[0] is None
        or np.shape(v.inputs[0]) != v.reference.shape
    ):
        return None
    x = v.look(v.inputs[0])
    near = np.clip(x, -40, 40)
    formulas = {
        "GELU by tanh": 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        "GELU by a sigmoid of 1.702 x": x / (1 + np.exp(-1.702 * near)),
        "SiLU": x / (1 + np.exp(-near)),
        "ReLU": np.maximum(x, 0),
        "tanh": np.tanh(x),
        "a sigmoid": 1 / (1 + np.exp(-near)),
        "nothing": x,
    }
    for name, values in formulas.items():
        if v.explained(values) >= EXPLAINED:
            return Fingerprint("other-function", f"{name} gives the observed values", 0.97)
    return None


def unrelated(v: Evidence) -> Fingerprint | None:
    """Say that the two have nothing in common."""
    rr, oo = float(np.vdot(v.r, v.r)), float(np.vdot(v.o, v.o))
    if v.r.size < 64 or not rr or not oo:
        return None
    cosine, ratio = float(np.vdot(v.r, v.o)) / math.sqrt(rr * oo), math.sqrt(oo / rr)
    if abs(cosine) < 0.3 and 0.5 < ratio < 2:
        return Fingerprint(
            "other-values", f"their cosine is {cosine:.2g}, their sizes are alike ({figure(ratio)} to 1)", 0.4
        )
    return None

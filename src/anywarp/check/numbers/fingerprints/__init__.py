"""What a difference looks like tells where it comes from.

Each search returns a cause with what was seen and how well it explains it. What can be tried out exactly (another layout, a factor, operands rounded otherwise)
is believed more than what figures suggest (an error of the size that TF32 makes). None fires on legitimate differences: other orders of
summation, split-K, fused multiply-add; tests hold them to it.
"""

# pyright: basic
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.fingerprints.elsewhere import layout, shifted
from anywarp.check.numbers.fingerprints.factors import offset, scale
from anywarp.check.numbers.fingerprints.functions import other_function, unrelated
from anywarp.check.numbers.fingerprints.not_finite import saturated, unlike
from anywarp.check.numbers.fingerprints.operands import flushed, operands
from anywarp.check.numbers.fingerprints.places import tile
from anywarp.check.numbers.fingerprints.positions import earlier, positions
from anywarp.check.numbers.fingerprints.randomness import dropout
from anywarp.check.numbers.fingerprints.sizes import narrow_result, sizes, truncated
from anywarp.check.numbers.results import Fingerprint

Array = NDArray[Any]

HARMLESS = frozenset({"not-repeatable", "accumulated"})
MOST = 4


def search(evidence: Evidence) -> tuple[Fingerprint, ...]:
    """Return the likely causes, the likeliest first."""
    best: dict[str, Fingerprint] = {}
    with np.errstate(all="ignore"):
        if evidence.r.ndim == 0 or not (evidence.energy > 0 or evidence.beyond.any()):
            return ()
        for look in _SEARCHES:
            found = look(evidence)
            if found is not None and (found.name not in best or found.confidence > best[found.name].confidence):
                best[found.name] = found
    return tuple(sorted(best.values(), key=lambda f: -f.confidence)[:MOST])


def of_shapes(reference: Array, observed: Array) -> tuple[Fingerprint, ...]:
    """Return the cause of another shape, if it is a permutation of the axes."""
    if reference.ndim != observed.ndim or not 2 <= reference.ndim <= 4 or reference.size > 1 << 22:
        return ()
    for order in itertools.permutations(range(reference.ndim)):
        turned = reference.transpose(order)
        if turned.shape == observed.shape and np.allclose(turned, observed, rtol=1e-2, atol=1e-6, equal_nan=True):
            return (Fingerprint("layout", f"its axes in the order {order} make it the observed tensor", 0.99),)
    return ()


_SEARCHES: tuple[Callable[[Evidence], Fingerprint | None], ...] = (
    unlike, saturated, scale, offset, layout, shifted, tile, flushed, operands, sizes, narrow_result, truncated,
    dropout, positions, earlier, other_function, unrelated,
)  # fmt: skip

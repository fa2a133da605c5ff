"""Formats of operands, sums and results, by the sizes and the signs of the differences."""

# pyright: basic
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.fingerprints.trials import best_factor, percent
from anywarp.check.numbers.results import Fingerprint
from anywarp.numerics import bounds, formats

Array = NDArray[Any]

_SIZES = [
    ("tf32", "TF32 on one side makes", 0.6, "tf32", False),
    ("tf32", "cutting to TF32 on one side makes", 1.59, "tf32", True),
    ("narrow-operands", "operands in bfloat16 on one side make", 0.6, "bfloat16", False),
    ("narrow-operands", "operands in float8_e4m3 on one side make", 0.6, "float8_e4m3fn", False),
]
"""The rms of difference / Q, in units of u, that rounding both operands makes, whatever K: 0.6, and 1.59 where it cuts (mean and spread of what is
cut off), which draws the results to zero."""


def sizes(v: Evidence) -> Fingerprint | None:
    """Judge a product's differences by their size relative to Q."""
    op = v.operation
    if v.q is None or op.kind != "product" or v.r.size < 64:
        return None
    good = v.q > 0
    if float(np.median(v.e[good])) <= 2 * float(np.median(v.rounding[good])):
        return None
    ratio = v.d[good] / v.q[good]
    rms = math.sqrt(float(np.mean(np.square(ratio))))
    spread = float(np.mean(ratio**4)) / rms**4 if rms else math.inf
    if not 2 <= spread <= 6:  # a normal distribution has 3; what sits in a few places has more
        return None
    own = bounds.roundoff(op.operands)
    accumulating = 0.11 * math.sqrt(op.reduction) * 2.0**-11
    towards = abs(_towards_zero(v))
    candidates: list[tuple[float, Fingerprint]] = []
    for name, words, times, dtype, cuts in _SIZES:
        u = formats.FORMATS[dtype].rounding
        size = times * u
        if own >= u or (towards > 0.5) != cuts:
            continue
        away = abs(math.log2(rms / size))
        if away < 0.3:
            said = f"rms of difference / Q is {rms:.3g}; {words} {size:.3g}, whatever the length of the sums"
            candidates.append((away, Fingerprint(name, said, 0.84 - away)))
    if op.accumulator != "float16" and op.reduction >= 8 and 0.4 < rms / accumulating < 2.5 and towards < 0.5:
        away = abs(math.log2(rms / accumulating)) / 2
        said = f"rms of difference / Q is {rms:.3g}; sums of {op.reduction} terms in float16 lose about {accumulating:.3g}, as sqrt(K)"
        candidates.append((away, Fingerprint("float16-accumulation", said, 0.84 - away / 2)))
    if not candidates:
        return None
    best = min(candidates, key=lambda c: c[0])[1]
    if len({f.name for _, f in candidates}) > 1:  # two explain it: neither is sure
        return Fingerprint(best.name, best.evidence + "; another cause fits, too", min(best.confidence, 0.6))
    return best


def _towards_zero(v: Evidence) -> float:
    """Return the mean difference in the direction of the reference over the mean size of differences: -1 where all results are drawn to zero."""
    size = float(np.mean(v.e))
    return float(np.mean(np.sign(v.r) * v.d)) / size if size else 0.0


def narrow_result(v: Evidence) -> Fingerprint | None:
    """Find results that are all numbers of a narrower type."""
    own = formats.format_of(v.operation.output)
    if own is None or v.r.size < 32:
        return None
    used = v.finite & (v.o != 0)
    if used.sum() < 32:
        return None
    r, o = v.r[used], v.o[used]
    for name in ("float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "tf32"):
        form = formats.FORMATS[name]
        if form.precision >= own.precision:
            continue
        fits = float(np.mean(formats.round_to(o, name) == o))
        natural = float(np.mean(formats.round_to(r, name) == r))
        if fits > 0.999 and natural < 0.5:
            sums = v.operation.reduction >= 64 and v.operation.kind in ("product", "attention")
            step = np.abs(o) * 2 * form.rounding
            if sums and float(np.median(np.abs(o - r) / step)) > 0.5:  # rounding once errs by a quarter of a step
                return Fingerprint("float16-accumulation" if name in ("float16", "tf32") else "narrow-result", f"all results are numbers of {name}, and {float(np.median(np.abs(o - r) / step)):.3g} steps of it off: the sums are kept in it", 0.93)  # fmt: skip
            return Fingerprint("narrow-result", f"all results are numbers of {name}, the reference's are not", 0.93)
    return None


def truncated(v: Evidence) -> Fingerprint | None:
    """Find results that are drawn towards zero."""
    if (
        v.operation.kind not in ("product", "attention")
        or v.r.size < 64
        or v.operation.accumulator.endswith(bounds.TRUNCATED)
    ):
        return None
    if float(np.median(v.e)) <= float(np.median(v.rounding)):
        return None
    towards = _towards_zero(v)
    a, _ = best_factor(v.r, v.o)
    if (
        abs(towards) < 0.6
        or not 0 < abs(a - 1) < min(1e-2, v.operation.reduction * _SHORTEST)
        or v.explained(a * v.r) > 0.9999
    ):
        return None
    if bounds.roundoff(v.operation.operands) < 2.0**-11 and 0.85 < abs(a - 1) / (1.47 * 2.0**-11) < 1.15:
        return None  # what cutting both operands to TF32 does
    u, _ = bounds.accumulation(v.operation)
    side = "" if towards < 0 else " of the reference"
    said = (
        f"results{side} are drawn to zero: the mean signed difference is {percent(abs(towards))} of the mean size, "
        f"a factor of 1 - {abs(a - 1):.3g}, as {abs(a - 1) / u:.3g} roundings one way"
    )
    return Fingerprint("truncated-accumulation", said, min(0.9, 0.4 + 0.5 * abs(towards)))


_SHORTEST = 2.0**-14
"""What one step loses in the shortest accumulators in use, those of 8-bit products on Hopper (DeepSeek-V3 technical report, section 3.3.2: about 14 bits)."""

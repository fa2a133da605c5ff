"""Statistics that stand for a tensor, and what can be concluded from two of them."""

# pyright: basic
from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.results import Comparison, Fingerprint
from anywarp.numerics import bounds, formats
from anywarp.numerics.operation import Operation

LEVELS = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
"""The quantiles of the values that statistics hold."""
CHUNK = 1 << 16
LANES = 64
"""The length of a sketch."""


@dataclass(frozen=True)
class Statistics:
    """What is kept of a tensor: figures of its finite elements, counts of the others, and a sketch.

    The sketch is a linear map, so that the sketch of a difference is the difference of the sketches: `sketch[j]` is the sum over the sketched elements i with
    i % LANES == j of sign(i) * value(i), in float64 (NaN and infinity count as 0). Element i is taken from the flattened tensor at `i // run * stride + i % run`;
    `sketched` of them were taken. sign(i) is +1 or -1 by `statistics.signs(sketched, seed)`. The sum of its squares estimates the sum of squares of what was sketched, with a
    relative standard deviation of sqrt(2 / LANES).
    `quantiles` are the values at LEVELS, of all elements or of an even sample. `noise`: the standard deviation of the sketch's own arithmetic per lane, 0 for float64.
    """

    count: int
    mean: float
    rms: float
    minimum: float
    maximum: float
    quantiles: tuple[float, ...]
    zeros: int
    nan: int
    infinite: int
    subnormal: int
    sketch: tuple[float, ...] = ()
    sketched: int = 0
    stride: int = 1
    seed: int = 0
    noise: float = 0.0
    run: int = 1


def signs(count: int, seed: int) -> NDArray[np.int8]:
    """Return the signs of a sketch's elements: the same on every machine.

    The sign of element i is the lowest bit of splitmix64's output (Steele, Lea and Flood, OOPSLA 2014) for the state `seed * 2^32 + i + 1`: 0 is +1, 1 is -1.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        z: NDArray[np.uint64] = np.arange(1, count + 1, dtype=np.uint64) + (np.uint64(seed) << np.uint64(32))
        z *= np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return np.where(z & np.uint64(1), -1, 1).astype(np.int8)


def measure(values: NDArray[Any], dtype: str, *, seed: int = 0, most: int = 1 << 20) -> Statistics:
    """Return the statistics of a tensor; of larger ones than `most` elements an even sample is sketched. `dtype` decides what is subnormal."""
    flat = np.ascontiguousarray(values).reshape(-1)
    form = formats.format_of(dtype)
    total = square = 0.0
    least, greatest = math.inf, -math.inf
    zeros = nan = infinite = subnormal = finite = 0
    for start in range(0, flat.size, CHUNK):
        part = np.asarray(flat[start : start + CHUNK], np.float64)
        good = part[np.isfinite(part)]
        nan += int(np.isnan(part).sum())
        infinite += int(np.isinf(part).sum())
        zeros += int((good == 0).sum())
        if form is not None:
            subnormal += int(((good != 0) & (np.abs(good) < form.normal)).sum())
        if good.size:
            with np.errstate(over="ignore", invalid="ignore"):
                total, square, finite = total + float(good.sum()), square + float(good @ good), finite + good.size
            least, greatest = min(least, float(good.min())), max(greatest, float(good.max()))
    if not finite:
        least = greatest = 0.0
    mean, rms = (total / finite, math.sqrt(square / finite)) if finite else (0.0, 0.0)
    if not math.isfinite(square) or not math.isfinite(total):  # beyond what squares of float64 hold
        mean, rms = least / 2 + greatest / 2, max(abs(least), abs(greatest))
    stride = max(1, -(-flat.size // most))
    taken = np.asarray(flat[::stride], np.float64)
    good = taken[np.isfinite(taken)]
    quantiles = tuple(float(x) for x in np.quantile(good, LEVELS)) if good.size else (0.0,) * len(LEVELS)
    return Statistics(
        flat.size, mean, rms, least, greatest, quantiles,
        zeros, nan, infinite, subnormal, sketch(taken, seed), taken.size, stride, seed,
    )  # fmt: skip


def sketch(values: NDArray[Any], seed: int) -> tuple[float, ...]:
    """Return the sketch of flat values, of which none are left out: LANES sums with random signs."""
    signed = np.clip(np.where(np.isfinite(values), values, 0.0), -1e150, 1e150) * signs(
        values.size, seed
    )  # squares stay finite
    padded = np.zeros(-(-values.size // LANES) * LANES)
    padded[: values.size] = signed
    return tuple(float(x) for x in padded.reshape(-1, LANES).sum(axis=0))


def compare_statistics(
    reference: Statistics, observed: Statistics, operation: Operation, *, shape: tuple[int, ...] = (), depth: int = 0
) -> Comparison:
    """Compare two tensors by their statistics; `estimated` is set, and figures that cannot be told are absent.

    The rms of the difference comes from the sketches: its square has a relative deviation of sqrt(2 / LANES), 18 %. The rounding that is allowed
    for is of terms of mean zero, sqrt(K) u per unit of the result, since nothing is known of the terms: within it passes, ten times beyond it fails. What a few
    elements do cannot be told from this.
    """
    r, o = reference, observed
    base = Comparison(
        "pass",
        "",
        "sketch",
        operation.output,
        shape,
        r.count,
        scale=max(abs(r.minimum), abs(r.maximum)),
        estimated=True,
    )
    if r.count != o.count:
        return replace(base, grade="fail", reason=f"there are {o.count:,} elements, not {r.count:,}", bound="shape")
    if not r.count:
        return replace(base, reason="no elements", bound="exact")
    unlike = max(abs(r.nan - o.nan), abs(r.infinite - o.infinite))
    if unlike:
        words = f"{o.nan:,} NaN and {o.infinite:,} infinities, against {r.nan:,} and {r.infinite:,}"
        return replace(base, grade="fail", reason=words, unlike=unlike)
    if (r.sketched, r.stride, r.run, r.seed, len(r.sketch)) != (
        o.sketched,
        o.stride,
        o.run,
        o.seed,
        len(o.sketch),
    ) or not r.sketch:
        apart = max((abs(x - y) for x, y in zip(r.quantiles, o.quantiles)), default=0.0)
        grade, words = ("pass", "equal figures") if r == o else ("warn", f"quantiles differ by up to {apart:.3g}")
        return replace(
            base,
            grade=grade,
            reason=words + "; without comparable sketches differences of elements cannot be told",
            bound="figures",
        )
    squares = sum((x - y) ** 2 for x, y in zip(r.sketch, o.sketch))
    noise = len(r.sketch) * (r.noise**2 + o.noise**2)
    rms = math.sqrt(max(0.0, squares - noise) / r.sketched)
    if rms == 0:
        exact = squares == 0
        return replace(
            base,
            reason="the sketches are equal" if exact else "the sketches differ by their own rounding only",
            cosine=1.0,
        )
    allowed = rms_allowed(operation, depth) * r.rms
    low = rms * math.sqrt(max(0.0, 1 - 2 * math.sqrt(2 / len(r.sketch))))
    cosine = _cosine(r.rms, o.rms, rms)
    times = rms / allowed if allowed else 1e300
    grade = "pass" if low <= allowed else "warn" if low <= 10 * allowed else "fail"
    words = (
        f"differences of rms {rms:.3g} (give or take 18 %), {times:.3g} times what rounding makes of terms of mean zero"
    )
    if operation.kind in ("embedding", "copy") and not depth and grade != "pass":
        words = f"differences of rms {rms:.3g} where nothing is rounded"
    causes = () if grade == "pass" else _causes(r, o, operation, rms)
    return replace(base, grade=grade, reason=words, rms=rms, relative=times, cosine=cosine, fingerprints=causes)


def _cosine(one: float, other: float, between: float) -> float:
    """Return the cosine of two vectors from their lengths and that of their difference (law of cosines)."""
    if not one or not other:
        return 0.0
    ratio = between / one
    return max(-1.0, min(1.0, (one / other + other / one - ratio * (between / other)) / 2))


def rms_allowed(operation: Operation, depth: int = 0) -> float:
    """Return the rms of two sides' difference relative to the result's rms, for terms of mean zero."""
    if operation.kind in ("embedding", "copy") and not depth:
        return 0.0
    if operation.kind == "quantised":
        return 2.0**-6
    u, growth = bounds.accumulation(operation)
    terms = max(1, operation.reduction * operation.composed)
    each = (
        bounds.roundoff(operation.output)
        + math.sqrt(terms) * u
        + (terms * u if growth > 1 else 0.0)
        + bounds.input_rounding(operation)
    )
    return 2 * each * math.sqrt(max(1, depth))


def _causes(r: Statistics, o: Statistics, operation: Operation, rms: float) -> tuple[Fingerprint, ...]:
    found: list[Fingerprint] = []
    more = o.zeros - r.zeros
    if r.subnormal and not o.subnormal and 0.9 * r.subnormal <= more <= 1.1 * r.subnormal:
        found.append(
            Fingerprint(
                "flushed-subnormals",
                f"{r.subnormal:,} subnormal numbers are gone and there are {more:,} more zeros",
                0.85,
            )
        )
    share = more / r.count
    ratio = o.rms / r.rms if r.rms else 1.0
    if share > 0.01 and abs(ratio**2 * (1 - share) - 1) < 0.05:
        found.append(
            Fingerprint("dropout", f"{100 * share:.3g} % more zeros, and the others larger in proportion", 0.75)
        )
    same = all(abs(x - y) <= 0.02 * r.rms for x, y in zip(r.quantiles, o.quantiles)) and abs(ratio - 1) < 0.02
    if same and rms > 0.5 * r.rms:
        found.append(
            Fingerprint(
                "layout",
                "quantiles and rms are the same, the places are not: the values stand elsewhere, or come from other weights",
                0.5,
            )
        )
    pairs = [(x, y) for x, y in zip(r.quantiles, o.quantiles) if abs(x) > 0.1 * r.rms]
    factors = [y / x for x, y in pairs]
    if (
        ratio > 0
        and len(factors) >= 3
        and abs(ratio - 1) > 0.01
        and max(abs(f / ratio - 1) for f in factors) < 0.02
        and abs(rms - abs(ratio - 1) * r.rms) < 0.4 * abs(ratio - 1) * r.rms
    ):
        eight = operation.output.startswith("float8") or operation.operands.startswith("float8")
        flavour = eight and any(abs(ratio / f - 1) < 0.02 for f in (0.25, 0.5, 2.0, 4.0))
        found.append(
            Fingerprint(
                "fp8-flavour" if flavour else "scale", f"quantiles and rms are {ratio:.4g} times the reference's", 0.75
            )
        )
    return tuple(sorted(found, key=lambda f: -f.confidence))

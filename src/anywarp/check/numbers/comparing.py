"""Comparing an observed tensor with its reference."""

# pyright: basic
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers import fingerprints
from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.results import LEVELS, Comparison, Fingerprint, Grade, Spot
from anywarp.numerics import bounds, magnitudes
from anywarp.numerics.operation import Operation

Array = NDArray[Any]

CHUNK = 1 << 13
"""Elements that are worked on at a time: they stay in the processor's cache, their arrays are not given back
to the system each time, and OpenBLAS makes no threads for their products (from 10,000 elements on it would)."""
SAMPLE = 1 << 20
"""Quantiles are taken of at most so many elements, evenly spread."""
NULL_FACTOR = 3.0
"""How many times the measured noise of the source the target may have."""
RATIO_PASS, RATIO_FAIL = 1.5, 4.0
"""The error of the target over that of the source, both against a precise result."""
DEPTH_FAIL = 10.0
"""How far beyond the prior for propagated values a difference may lie before it fails."""
UNLIKE = 0.9
"""A cosine below which two tensors of 64 elements and more are not the same but for rounding, whatever made them."""
CERTAIN_CAUSE = 0.8
"""A cause of this confidence turns a difference beyond what is allowed from a warning into a failure."""
SPOTS = 5


def compare(
    reference: Array,
    observed: Array,
    operation: Operation,
    *,
    magnitude: Array | None = None,
    norm: Array | None = None,
    precise: Array | None = None,
    null: Array | None = None,
    inputs: Sequence[Array | None] = (),
    again: Array | None = None,
    earlier: Array | None = None,
    axes: Sequence[str] = (),
    depth: int = 0,
    causes: bool = True,
) -> Comparison:
    """Compare an observed tensor with its reference, of the same shape, and grade the difference.

    `reference` and `observed`: float32 or float64 arrays that hold the values exactly (16- and 8-bit floats widened), or integer arrays.
    `magnitude`: S, what the rounding errors of one result scale with, broadcastable to the shape: for a product |A||B| (+ |bias|), which is the
    module run on absolute values; `numerics.magnitudes` has it for every other kind. `norm`: Q = sqrt((A*A)(B*B)), for products, if known: the module run on
    squares, and the root of it. `precise`: the result in higher precision. `null`: another run of the *source* (other batch, other kernels): its difference
    from `reference` is noise that the target may have, too. `inputs`: the operation's operands (products: a (..., M, K) and b (K, N), bias;
    norms: x, weight, bias; attention: q, k, v), from which magnitudes are computed where they are not given, and causes are tried out.
    `again`: a second run of the target on the same inputs, which tells randomness. `earlier`: the reference of
    the same place one call before, which tells a stale cache. `axes`: names of the axes ("batch", "position", "head", "channel"); by default the last is
    "channel", the one before "position". `depth`: how many operations lie between equal inputs and this value, 0 where the operation itself had the
    reference's inputs (isolated). `causes=False` leaves the search for causes out.
    Different shapes fail with a reason; nothing raises for the values' sake.
    """
    reference, observed = np.asarray(reference), np.asarray(observed)
    shape, dtype = tuple(reference.shape), operation.output
    if reference.shape != observed.shape:
        found = fingerprints.of_shapes(reference, observed) if causes else ()
        reason = f"the shape is {_shape(observed.shape)}, not {_shape(shape)}"
        return Comparison("fail", reason, "shape", dtype, shape, reference.size, fingerprints=found)
    if not reference.size:
        return Comparison("pass", "no elements", "exact", dtype, shape, 0, quantiles=(0.0,) * len(LEVELS))
    if np.iscomplexobj(reference) or np.iscomplexobj(observed):
        reference, observed = _parts(reference), _parts(observed)
        magnitude, norm, precise, null, again, earlier = (
            None if each is None else _parts(each) for each in (magnitude, norm, precise, null, again, earlier)
        )
    magnitude, norm = (_broadcastable(each, reference) for each in (magnitude, norm))
    precise, null, again, earlier = (_alike(each, reference) for each in (precise, null, again, earlier))
    inputs = tuple(None if each is None or np.iscomplexobj(each) else np.asarray(each) for each in inputs)
    if magnitude is None:
        magnitude, norm = _magnitudes(operation, reference, inputs, norm)
    limit, scale = _limit(operation, reference, observed, magnitude, norm, depth)
    ceiling = bounds.certain(operation) if magnitude is not None and not depth else None
    measured = _measure(reference, observed, limit, ceiling, scale, norm)
    comparison = _graded(measured, operation, limit)
    if null is not None:
        comparison = _with_null(comparison, reference, observed, null, limit, scale, norm)
    if precise is not None:
        decides = limit.name in ("assumed", "depth")
        comparison = _with_precise(comparison, reference, observed, precise, operation, decides)
    if again is not None:
        unsteady = _measure(observed, again, limit, None, scale, norm)
        if unsteady.relative > 1 and comparison.grade == "pass":
            comparison = replace(
                comparison, grade="warn", reason="two runs on the target differ by more than rounding explains"
            )
    if causes and comparison.grade != "pass":
        comparison = _with_causes(
            comparison,
            Evidence(
                reference,
                observed,
                operation,
                scale,
                norm,
                limit,
                tuple(inputs),
                again,
                earlier,
                tuple(axes),
                depth,
                precise,
            ),
        )
    return replace(comparison, shape=shape)


def _broadcastable(array: Array | None, reference: Array) -> Array | None:
    """Return sizes that fit the result; None for what does not."""
    if array is None or np.iscomplexobj(array):
        return None
    try:
        fits = np.broadcast_shapes(np.shape(array), reference.shape) == reference.shape
    except ValueError:
        return None
    return np.abs(np.asarray(array)) if fits else None


def _alike(array: Array | None, reference: Array) -> Array | None:
    """Return another run's result if it has the reference's shape; None otherwise."""
    if array is None or np.shape(array) != reference.shape or np.iscomplexobj(array):
        return None
    return np.asarray(array)


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "a scalar"


def _parts(array: Array) -> Array:
    """Return complex numbers as pairs of real ones; magnitudes that are real stand for both parts."""
    whole: Any = np.asarray(array)
    return np.stack([whole.real, whole.imag] if np.iscomplexobj(whole) else [whole, whole], -1)


def _magnitudes(
    operation: Operation, reference: Array, inputs: Sequence[Array | None], norm: Array | None
) -> tuple[Array | None, Array | None]:
    """Return S and Q from the operands, where they are there and make the result's shape."""
    given = [None if each is None else np.asarray(each) for each in inputs]
    first = given[0] if given else None
    if first is None:
        return None, norm
    try:
        with np.errstate(all="ignore"):
            return _sized(operation, reference, first, given, norm)
    except (ValueError, IndexError):  # operands of shapes that do not go together this way
        return None, norm


def _sized(
    operation: Operation, reference: Array, first: Array, given: Sequence[Array | None], norm: Array | None
) -> tuple[Array | None, Array | None]:
    if operation.kind == "product" and len(given) > 1 and given[1] is not None:
        s, q = magnitudes.product(first, given[1], given[2] if len(given) > 2 else None)
        return (s, q) if s.shape == reference.shape else (None, norm)
    if operation.kind == "attention" and len(given) > 2 and given[1] is not None and given[2] is not None:
        s = magnitudes.attention_of(first, given[1], given[2], mask=given[3] if len(given) > 3 else None)
    elif operation.kind == "softmax":
        s = magnitudes.softmax(
            first, logarithm=bool(np.nanmax(reference, initial=-1.0) <= 0) and bool(np.nanmin(reference) < 0)
        )
    elif operation.kind == "norm":
        s = magnitudes.norm(
            first,
            given[1] if len(given) > 1 else None,
            given[2] if len(given) > 2 else None,
            operation.reduction,
            centred=not operation.function.startswith("rms"),
        )
    elif operation.kind == "pointwise":
        s = magnitudes.pointwise(reference, *given)
    else:
        return None, norm
    return (s, norm) if np.broadcast_shapes(s.shape, reference.shape) == reference.shape else (None, norm)


def _limit(
    operation: Operation, reference: Array, observed: Array, magnitude: Array | None, norm: Array | None, depth: int
) -> tuple[bounds.Bound, Array]:
    """Return the tightest bound that applies, and what stands for S."""
    size = reference.size
    if operation.kind in ("embedding", "copy") and depth:
        operation = replace(operation, kind="unknown")  # what is copied has been computed
    if depth:
        return bounds.propagated(operation, depth, size), _typical(reference)
    probabilistic = bounds.probabilistic(operation, size)
    if probabilistic is not None and (magnitude is not None or operation.kind in ("embedding", "copy", "quantised")):
        s = np.zeros((), np.float64) if magnitude is None else np.asarray(magnitude)
        return _detector(operation, reference, observed, norm) or probabilistic, s
    detector = _detector(operation, reference, observed, norm)
    if detector is not None:
        return detector, np.zeros((), np.float64)
    if reference.dtype.kind not in "fc" and operation.kind != "quantised":
        return bounds.Bound("exact"), np.zeros((), np.float64)
    return bounds.assumed(operation, size), np.asarray(magnitudes.largest(reference))


def _detector(operation: Operation, reference: Array, observed: Array, norm: Array | None) -> bounds.Bound | None:
    """Return the bound for sums of centred terms, None where these are none: made for what the two sides show, where they show enough."""
    if norm is None or not centred(reference, norm):
        return None
    widest = bounds.sharp(operation, reference.size)
    if widest is None or reference.size < magnitudes.GROUP:
        return widest
    groups = reference.size // magnitudes.GROUP
    first = np.unique(np.linspace(0, groups - 1, min(groups, SAMPLE // magnitudes.GROUP)).astype(np.int64))
    at = (first[:, None] * magnitudes.GROUP + np.arange(magnitudes.GROUP)).reshape(-1)
    r, o, q = (np.asarray(_flat(each, reference.shape)[at], np.float64) for each in (reference, observed, norm))
    with np.errstate(all="ignore"):
        rounded = widest.value * np.abs(r) + widest.absolute
        seen = magnitudes.deviation(o - r, q, rounded)
    return bounds.sharp(operation, reference.size, deviation=seen)


def centred(values: Array, norm: Array) -> bool:
    """Return whether sums have the size of sums of independent terms of mean zero: |C| / Q of rms about 1 and no long tail.

    Sums of one sign are sqrt(K) times larger; sums made to cancel are smaller.
    """
    stride = max(1, values.size // (1 << 16)) | 1
    flat, q = values.reshape(-1)[::stride], _flat(norm, values.shape)[::stride]
    good = (q > 0) & np.isfinite(flat) & np.isfinite(q)
    if good.sum() < 32:
        return False
    with np.errstate(over="ignore"):
        ratio = np.minimum(np.abs(flat[good]) / q[good], 1e100)
    return bool(0.5 <= math.sqrt(float(np.mean(ratio * ratio))) <= 1.5 and float(np.quantile(ratio, 0.99)) <= 4)


def _flat(array: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(array, shape).reshape(-1)


def _typical(values: Array) -> Array:
    """Return, for each row of the last axis, the root mean square: what an error that has been mixed over the channels scales with."""
    if values.ndim == 0:
        return np.abs(np.asarray(values, np.float64))
    rows = np.asarray(values).reshape(-1, values.shape[-1])
    out = np.empty(len(rows))
    step = max(1, CHUNK // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        part = rows[start : start + step].astype(np.float64)
        part[~np.isfinite(part)] = 0
        part = np.clip(part, -1e150, 1e150)  # squares stay finite
        out[start : start + step] = np.sqrt(np.square(part).mean(axis=1))
    if len(rows) > 1:
        out = np.maximum(out, 0.1 * math.sqrt(float(np.square(out).mean())))
    return out.reshape(*values.shape[:-1], 1)


def _chunks(*arrays: Array) -> Iterator[Any]:
    """Yield float64 chunks of arrays of one shape; broadcast ones are expanded a chunk at a time."""
    size = arrays[0].size
    views = [each.reshape(-1) if each.flags.c_contiguous else each.flat for each in arrays]
    for start in range(0, size, CHUNK):
        parts = [np.asarray(view[start : start + CHUNK], np.float64) for view in views]
        yield parts[0] if len(parts) == 1 else parts


@dataclass
class _Measured:
    dtype: str
    shape: tuple[int, ...]
    count: int
    quantiles: tuple[float, ...] = ()
    largest: float = 0.0
    rms: float = 0.0
    scale: float = 0.0
    relative: float = 0.0
    high: float = 0.0
    ceiling: float | None = None
    beyond: int = 0
    bias: float = 0.0
    cosine: float = 1.0
    unlike: int = 0
    worst: tuple[Spot, ...] = ()


_LEAST = 5e-324
"""The smallest positive number: the quotient of two zeros becomes zero."""


def _over(differences: Array, allowed: Array | float) -> Array:
    """Return |difference| / allowed, infinite where nothing is allowed; sizes that overflowed or are not known allow what the largest known one does."""
    if not np.all(np.isfinite(allowed)):
        allowed = np.broadcast_to(np.asarray(allowed), differences.shape)
        known = np.isfinite(allowed)
        allowed = np.where(known, allowed, allowed[known].max(initial=0.0))
    return differences / (allowed + _LEAST)


def _allowed(bound: bounds.Bound, size: Array, s: Array | float, q: Array | float) -> Array:
    limit = bound.value * size + bound.absolute
    if bound.magnitude:
        limit = limit + bound.magnitude * s
    if bound.norm:
        limit = limit + bound.norm * q
    return limit


def _measure(
    reference: Array,
    observed: Array,
    limit: bounds.Bound,
    ceiling: bounds.Bound | None,
    scale: Array,
    norm: Array | None,
) -> _Measured:
    """Go over both tensors once, in chunks."""
    shape, size = reference.shape, reference.size
    arrays = [np.ascontiguousarray(reference), np.ascontiguousarray(observed)]
    needs_s = limit.magnitude or (ceiling is not None and ceiling.magnitude)
    constant = scale.ndim == 0
    if needs_s and not constant:
        arrays.append(np.broadcast_to(scale, shape))
    if limit.norm and norm is not None:
        arrays.append(np.broadcast_to(norm, shape))
    stride = max(1, -(-size // SAMPLE)) | 1
    sample: list[Array] = []
    ratios: list[Array] = []
    found = _Measured("", shape, size)
    rr = oo = ro = dd = signed = absolute = 0.0
    counted = 0
    spots: list[tuple[float, int, float, float, float]] = []
    top = 0.0
    for number, (r, o, *rest) in enumerate(_chunks(*arrays)):
        start = number * CHUNK
        with np.errstate(all="ignore"):
            d = o - r
            square = float(d @ d)
            bad = 0
            if not math.isfinite(square):
                apart = ~np.isfinite(d)
                bad = int(apart.sum())
                found.unlike += bad - int((apart & ((r == o) | (np.isnan(r) & np.isnan(o)))).sum())
                d, r, o = (np.where(apart, 0, x) for x in (d, r, o))
                square = float(d @ d)
            s = float(scale) if constant else (rest.pop(0) if needs_s else 0.0)
            q = rest.pop(0) if rest else 0.0
            e, size_of_r = np.abs(d), np.abs(r)
            allowed = _allowed(limit, size_of_r, s, q)
            ratio = _over(e, allowed)
            rr += float(r @ r)
            oo += float(o @ o)
            ro += float(r @ o)
            dd += square
            signed += float(d.sum())
            absolute += float(e.sum())
            counted += r.size - bad
            found.largest = max(found.largest, float(e.max(initial=0.0)))
            found.scale = max(found.scale, float(size_of_r.max(initial=0.0)))
            highest = float(ratio.max(initial=0.0))
            found.relative = max(found.relative, highest)
            if highest > 1:
                found.beyond += int((ratio > 1).sum())
            if ceiling is not None:
                over = _over(e, _allowed(ceiling, size_of_r, s, 0.0))
                found.ceiling = max(found.ceiling or 0.0, float(over.max(initial=0.0)))
        if highest > top:
            take = np.argpartition(ratio, -min(SPOTS, ratio.size))[-SPOTS:]
            spots += [
                (float(ratio[i]), start + int(i), float(r[i]), float(o[i]), float(np.broadcast_to(allowed, e.shape)[i]))
                for i in take
            ]
            spots = sorted(spots, key=lambda spot: (-spot[0], spot[1]))[:SPOTS]
            top = spots[-1][0] if len(spots) == SPOTS else 0.0
        first = -start % stride
        sample.append(e[first::stride])
        ratios.append(ratio[first::stride])
    taken = np.concatenate(sample)
    found.quantiles = tuple(float(x) for x in np.quantile(taken, LEVELS))
    with np.errstate(invalid="ignore"):
        found.high = float(np.quantile(np.concatenate(ratios), LEVELS[-1], method="higher"))
    found.rms = math.sqrt(dd / counted) if counted else 0.0
    found.bias = signed / absolute if absolute and math.isfinite(absolute) else 0.0
    found.cosine = _cosine(rr, oo, ro, dd)
    found.worst = tuple(
        Spot(tuple(int(i) for i in np.unravel_index(at, shape)), r, o, allowed)
        for ratio, at, r, o, allowed in spots
        if ratio > 0
    )
    return found


def _cosine(rr: float, oo: float, ro: float, dd: float) -> float:
    if rr == 0 and oo == 0:
        return 1.0
    if rr == 0 or oo == 0 or not all(map(math.isfinite, (rr, oo, ro))):
        return 0.0
    if dd <= 1e-6 * rr:  # 1 - cosine from the difference, which the quotient would lose
        return 1 - max(0.0, (dd - (math.sqrt(oo) - math.sqrt(rr)) ** 2) / (2 * math.sqrt(rr * oo)))
    return max(-1.0, min(1.0, ro / math.sqrt(rr * oo)))


def _graded(found: _Measured, operation: Operation, limit: bounds.Bound) -> Comparison:
    grade, reason = _grade(found, limit)
    return Comparison(
        grade, reason, limit.name, operation.output, found.shape, found.count, found.quantiles, found.largest, found.rms, found.scale,
        _finite(found.relative), None if found.ceiling is None else _finite(found.ceiling), found.beyond, found.bias, found.cosine, found.unlike,
        worst=found.worst,
    )  # fmt: skip


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 1e300


def _grade(found: _Measured, limit: bounds.Bound) -> tuple[Grade, str]:
    if found.unlike:
        return "fail", f"{found.unlike:,} elements are NaN or infinite on one side only"
    if found.ceiling is not None and found.ceiling > 1:
        return "fail", f"{found.ceiling:.3g} times what any order of summation can explain"
    if found.relative <= 1:
        if limit.name == "assumed":
            return (
                "pass",
                "within what rounding explains, if the terms are no larger than the results (their sizes are not known)",
            )
        return "pass", "equal" if found.largest == 0 else f"within the {limit.name} bound"
    share = f"{found.beyond:,} of {found.count:,} elements"
    if limit.name in ("depth", "assumed") and found.cosine < UNLIKE and found.count >= 64:
        return (
            "fail",
            f"{found.relative:.3g} times what rounding explains, and the two hardly agree: their cosine is {found.cosine:.3g}",
        )
    if limit.name in ("exact", "one step"):
        return "fail", f"{share} differ" + (
            " by more than one step" if limit.name == "one step" else ", and nothing is rounded here"
        )
    if limit.name == "depth":
        worse = found.relative > DEPTH_FAIL
        return (
            "fail" if worse else "warn",
            f"{found.relative:.3g} times what errors of rounding grow to over this depth",
        )
    if limit.name == "sharp":
        return "warn", f"{found.relative:.3g} times what rounding does to terms of mean zero ({share})"
    if limit.name == "assumed":
        return (
            "warn",
            f"{found.relative:.3g} times what rounding explains, if the terms are no larger than the results ({share})",
        )
    return (
        "fail" if found.ceiling is None or limit.name == "function" else "warn",
        f"{found.relative:.3g} times the {limit.name} bound ({share})",
    )


def _with_null(
    comparison: Comparison,
    reference: Array,
    observed: Array,
    null: Array,
    limit: bounds.Bound,
    scale: Array,
    norm: Array | None,
) -> Comparison:
    """Let the target have what the source differs from itself, three times."""
    noise = _measure(reference, null, limit, None, scale, norm)
    if noise.unlike:
        return comparison
    if comparison.grade == "pass" or comparison.unlike or (comparison.ceiling or 0) > 1:
        return comparison
    found = _measure(reference, observed, limit, None, scale, norm)
    bulk = found.high <= max(1.0, NULL_FACTOR * noise.high)
    if bulk and found.relative <= max(1.0, NULL_FACTOR * noise.relative):
        reason = f"within {NULL_FACTOR:.0f} times what the source differs from itself"
        return replace(
            comparison,
            grade="pass",
            reason=reason,
            bound="null",
            relative=_finite(found.relative / (NULL_FACTOR * noise.relative)),
        )
    if noise.relative > 0:
        times = found.relative / noise.relative
        reason = f"{comparison.reason}; the source differs from itself by {_times(times)} less"
        return replace(comparison, reason=reason)
    return replace(comparison, reason=f"{comparison.reason}; the source does not differ from itself")


def _times(value: float) -> str:
    return f"{value:.3g} times" if math.isfinite(value) else "infinitely"


def _with_precise(
    comparison: Comparison, reference: Array, observed: Array, precise: Array, operation: Operation, decides: bool
) -> Comparison:
    """Hold the target's error against the source's own, both from a precise result."""
    none = np.zeros((), np.float64)
    source = _measure(precise, reference, bounds.Bound("none", absolute=1.0), None, none, None)
    target = _measure(precise, observed, bounds.Bound("none", absolute=1.0), None, none, None)
    if source.unlike or target.unlike:
        return comparison
    u = bounds.roundoff(operation.output)
    with np.errstate(over="ignore"):
        squares = [
            float(np.square(np.where(np.isfinite(c), c, 0.0)).sum()) for c in _chunks(np.ascontiguousarray(precise))
        ]
    typical = min(1e150, math.sqrt(sum(squares) / precise.size))
    floor = (
        u * typical / math.sqrt(3)
    )  # what rounding the result alone loses: a source that is exact by luck is no measure
    if max(source.rms, floor) == 0:
        return comparison
    ratio = target.rms / max(source.rms, floor)
    comparison = replace(comparison, ratio=_finite(ratio))
    if comparison.unlike or (comparison.ceiling or 0) > 1:
        return comparison
    room = 1 + 3 / math.sqrt(comparison.count)  # of few elements the ratio varies by chance
    peak = target.largest / max(source.largest, u * source.scale, 1e-300)
    floor = max(floor, 1e-300)
    if source.rms > RATIO_FAIL * max(target.rms, floor):
        reason = f"the reference is {source.rms / max(target.rms, floor):.3g} times further from a precise result than this is"
        return replace(comparison, grade="pass" if decides else comparison.grade, reason=reason, bound="precise")
    if ratio <= RATIO_PASS * room and peak <= RATIO_FAIL * room:
        if comparison.grade == "pass" and not decides:
            return comparison
        reason = f"no further from a precise result than the reference is (errors {ratio:.3g} to 1)"
        return replace(comparison, grade="pass", reason=reason, bound="precise", relative=_finite(ratio / RATIO_PASS))
    if not decides:
        return comparison
    worse = ratio > RATIO_FAIL * room or peak > RATIO_FAIL**2 * room
    reason = (
        f"its error is {ratio:.3g} times the reference's own, its largest {peak:.3g} times, against a precise result"
    )
    return replace(
        comparison,
        grade="fail" if worse else "warn",
        reason=reason,
        bound="precise",
        relative=_finite(max(ratio / RATIO_PASS, peak / RATIO_FAIL)),
    )


def _with_causes(comparison: Comparison, evidence: Evidence) -> Comparison:
    found = fingerprints.search(evidence)
    comparison = replace(comparison, fingerprints=found)
    best = found[0] if found else None
    if comparison.grade == "warn" and _damning(best) and comparison.bound != "depth":
        return replace(comparison, grade="fail")
    return comparison


def _damning(cause: Fingerprint | None) -> bool:
    return cause is not None and cause.confidence >= CERTAIN_CAUSE and cause.name not in fingerprints.HARMLESS

"""What a difference looks like tells where it comes from.

Each search returns a cause with what was seen and how well it explains it. What can be tried out exactly (another layout, a factor, operands rounded otherwise)
is believed more than what figures suggest (an error of the size that TF32 makes). None fires on legitimate differences: other orders of
summation, split-K, fused multiply-add; tests hold them to it.
"""

# pyright: basic
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.evidence import Evidence
from anywarp.check.numbers.results import Fingerprint
from anywarp.numerics import bounds, formats

Array = NDArray[Any]

HARMLESS = frozenset({"not-repeatable", "accumulated"})
MOST = 4
EXPLAINED = 0.98
"""Which share of the differences' squares a trial has to explain."""


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


def _figure(x: float) -> str:
    return f"{x:.4g}"


def _share(x: float) -> str:
    return f"{100 * x:.3g} %"


# Values that are not finite, and what clips.


def _unlike(v: Evidence) -> Fingerprint | None:
    r, o = v.raw
    lost, gained = np.isnan(o) & np.isfinite(r), np.isnan(r) & np.isfinite(o)
    eight = _eight_bits(v)
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


def _saturated(v: Evidence) -> Fingerprint | None:
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
    return Fingerprint("saturated", f"{int(over.sum())} values are clipped at {_figure(top)}" + (f", the largest of {name}" if name else ""), 0.95 if name else 0.85)  # fmt: skip


def _eight_bits(v: Evidence) -> bool:
    return any(name.startswith("float8") for name in (v.operation.output, v.operation.operands))


# Factors and offsets.


def _factor(r: Array, o: Array) -> tuple[float, float]:
    """Return the best factor a of o = a r, and which share of the differences' squares it explains."""
    rr, d = float(np.vdot(r, r)), o - r
    energy = float(np.vdot(d, d))
    if rr == 0 or energy == 0:
        return 1.0, 0.0
    a = float(np.vdot(r, o)) / rr
    left = o - a * r
    return a, 1 - float(np.vdot(left, left)) / energy


def _scale(v: Evidence) -> Fingerprint | None:
    a, share = _factor(v.r, v.o)
    if share >= EXPLAINED and abs(a - 1) > 1e-3 and v.r.size >= 8:
        return _scaled(v, a, share, "", 0.96 if share > 0.9999 or _settled(v, a * v.r) else 0.8)
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
        place = f"{name} {_ranges(which)}"
        low, high = factors[wrong].min(), factors[wrong].max()
        said = 1 - float(left[wrong].sum() / energy[wrong].sum())
        if high - low < 1e-3 * abs(high):
            return _scaled(v, float(factors[wrong].mean()), said, place)
        return Fingerprint(
            "scale",
            f"factors from {_figure(low)} to {_figure(high)} explain {_share(said)} of the differences",
            0.9,
            place,
        )
    return None


def _settled(v: Evidence, candidate: Array) -> bool:
    """Return whether nothing is left to explain if the reference is replaced by `candidate`."""
    return float(np.mean(np.abs(v.o - candidate) <= v.allowed + v.rounding)) > 0.99


def _scaled(v: Evidence, a: float, share: float, place: str, confidence: float = 0.96) -> Fingerprint:
    said = f"a factor of {_figure(a)} explains {_share(share)} of the differences"
    if _eight_bits(v) and any(abs(a / power - 1) < 0.02 for power in (0.25, 0.5, 2.0, 4.0)):
        return Fingerprint(
            "fp8-flavour", f"{said}: the same bits mean twice as much in OCP's flavour as in FNUZ", 0.97, place
        )
    return Fingerprint("scale", said, confidence, place)


def _offset(v: Evidence) -> Fingerprint | None:
    if v.r.ndim < 2 or v.r.shape[-1] < 2 or v.r.size < 4 * v.r.shape[-1]:
        return None
    for axis in {v.r.ndim - 1, 1 if v.r.ndim == 4 else v.r.ndim - 1}:
        others = tuple(x for x in range(v.r.ndim) if x != axis)
        middle = v.d.mean(axis=others, keepdims=True)
        share, largest = v.explained(v.r + middle), float(np.abs(middle).max())
        if share >= EXPLAINED and largest > 4 * float(np.median(v.rounding)):
            said = (
                f"one constant per channel, {_figure(largest)} at the most, explains {_share(share)} of the differences"
            )
            return Fingerprint("offset", said, 0.93 if _settled(v, v.r + middle) else 0.7)
    return None


def _ranges(which: Array) -> str:
    """Return numbers in words: "3", "2 to 5", "1, 4 and 6 more"."""
    if len(which) > 1 and np.all(np.diff(which) == 1):
        return f"{which[0]} to {which[-1]}"
    head = ", ".join(str(x) for x in which[:3])
    return head + (f" and {len(which) - 3} more" if len(which) > 3 else "")


# The same values elsewhere.


def _layout(v: Evidence) -> Fingerprint | None:
    if v.r.size > 1 << 21 or v.r.size < 4 or _slight(v):
        return None
    total, other = float(np.abs(v.r).sum()), float(np.abs(v.o).sum())
    if abs(total - other) > 1e-2 * max(total, other):
        return None
    slack = float(np.median(v.allowed)) + 4 * bounds.roundoff(v.operation.output) * np.abs(np.sort(v.r, axis=None))
    if np.mean(np.abs(np.sort(v.r, axis=None) - np.sort(v.o, axis=None)) <= 2 * slack) < 0.999:
        return None
    for words, candidate in _arrangements(v):
        if v.explained(candidate) >= EXPLAINED:
            return Fingerprint(
                "layout",
                f"{words} explains {_share(v.explained(candidate))} of the differences; the values are the same",
                0.98,
            )
    if float(np.count_nonzero(v.beyond)) < 0.01 * v.r.size or len(np.unique(v.r)) < 8:
        return None
    return Fingerprint("layout", "both hold the same values, in other places", 0.85)


def _slight(v: Evidence) -> bool:
    """Return whether differences are too small for values that stand elsewhere."""
    return v.energy < 1e-4 * float(np.vdot(v.r, v.r))


def _arrangements(v: Evidence) -> Iterator[tuple[str, Array]]:
    r, shape = v.r, v.r.shape
    for axis in range(r.ndim):
        yield f"axis {axis} backwards", np.flip(r, axis)
    if 2 <= r.ndim <= 4:
        for order in itertools.permutations(range(r.ndim)):
            if order != tuple(range(r.ndim)):
                yield f"the order {order} of the axes", r.transpose(order).reshape(shape)
                if tuple(shape[x] for x in order) != shape:  # written in one order, read in the other
                    yield (
                        f"a copy in the order {order} of the axes",
                        r.reshape([shape[x] for x in order]).transpose(np.argsort(order)),
                    )
    channels = shape[-1]
    known = v.operation.heads
    for heads in ([known] if known > 1 else []) + [h for h in (2, 4, 8, 12, 16, 32, 64, 128) if h != known]:
        if channels % heads or heads == channels:
            continue
        each = r.reshape(*shape[:-1], heads, channels // heads)
        yield f"heads and channels swapped (at {heads} heads)", np.swapaxes(each, -1, -2).reshape(shape)
        yield (
            f"heads and channels swapped (at {channels // heads} heads)",
            np.swapaxes(r.reshape(*shape[:-1], channels // heads, heads), -1, -2).reshape(shape),
        )
        yield f"the heads backwards (of {heads})", each[..., ::-1, :].reshape(shape)
        if r.ndim >= 2:
            yield f"heads and positions swapped (at {heads} heads)", np.swapaxes(each, -2, -3).reshape(shape)
            wrong = np.swapaxes(r.reshape(*shape[:-2], heads, shape[-2], channels // heads), -2, -3)
            yield f"heads and positions swapped (at {heads} heads)", wrong.reshape(shape)
        size = channels // heads
        if size % 2 == 0:
            yield (
                f"halves and pairs swapped (at {heads} heads)",
                np.swapaxes(each.reshape(*shape[:-1], heads, 2, size // 2), -1, -2).reshape(shape),
            )
            yield (
                f"halves and pairs swapped (at {heads} heads)",
                np.swapaxes(each.reshape(*shape[:-1], heads, size // 2, 2), -1, -2).reshape(shape),
            )
    for axis in range(r.ndim):
        if shape[axis] % 2 == 0 and shape[axis] > 2:
            yield f"the halves of axis {axis} swapped", np.roll(r, shape[axis] // 2, axis)


def _shifted(v: Evidence) -> Fingerprint | None:
    r, o = v.r, v.o
    if _slight(v):
        return None
    for axis in range(r.ndim):
        for by in (1, -1, 2, -2, 4, -4, 8, -8, 16, -16):
            if r.shape[axis] < 2 * abs(by) + 2:
                continue
            before, after = [slice(None)] * r.ndim, [slice(None)] * r.ndim
            before[axis], after[axis] = (
                (slice(None, -by), slice(by, None)) if by > 0 else (slice(-by, None), slice(None, by))
            )
            was, now = r[tuple(before)], o[tuple(after)]
            change = now - r[tuple(after)]
            energy = float(np.vdot(change, change))
            left = now - was
            if energy and float(np.vdot(left, left)) < (1 - EXPLAINED) * energy and _varies(was, axis):
                return Fingerprint(
                    "shifted",
                    f"the values are those of {abs(by)} {'before' if by > 0 else 'after'} along axis {axis}",
                    0.97,
                )
    return None


def _varies(values: Array, axis: int) -> bool:
    return bool(np.any(np.diff(values, axis=axis) != 0))


# Places.


def _tile(v: Evidence) -> Fingerprint | None:
    if v.r.ndim < 2 or v.r.shape[-1] < 8 or not v.beyond.any():
        return None
    table = v.striking.reshape(-1, v.r.shape[-1])
    share = float(table.mean())
    if not 0 < share < 0.5 or table.sum() < 8:
        return None
    rows, columns = np.flatnonzero(table.mean(1) > 0.02 * table.mean(1).max()), np.flatnonzero(table.any(0))
    box = table[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    inside = box.sum() / table.sum()
    if box.mean() > 0.6 and inside > 0.98 and box.size < 0.6 * table.size and box.size >= 16:
        whole_rows, whole_columns = len(box) == len(table), box.shape[1] == table.shape[1]
        if whole_columns and len(rows) == 1:
            return None  # one row is no tile
        parts = []
        before = v.skipped * (len(table) // len(v.r))
        if not whole_rows or not v.whole:
            parts.append(f"rows {before + rows[0]} to {before + rows[-1]}")
        if not whole_columns:
            parts.append(f"columns {columns[0]} to {columns[-1]}")
        said = f"{_share(float(inside))} of the striking differences lie in {len(box)} x {box.shape[1]} of {len(table)} x {table.shape[1]} elements"
        said += "" if v.whole else " that were looked at"
        corner = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        moved = _moved(v.r.reshape(table.shape), v.o.reshape(table.shape), corner)
        aligned = (
            any(rows[0] % t == columns[0] % t == 0 for t in (8, 16, 32, 64))
            and (whole_rows or len(box) % 8 == 0)
            and (whole_columns or box.shape[1] % 8 == 0)
        )
        return Fingerprint(
            "tile", said + moved, 0.95 if moved else 0.92 if aligned and len(box) > 1 else 0.8, ", ".join(parts)
        )
    for size in (256, 128, 64, 32, 16, 8):
        found = _tiles(table, size)
        if found is not None:
            bad, count, first = found
            row = first[0] * size + v.skipped * (len(table) // len(v.r))
            return Fingerprint("tile", f"{bad} of {count} tiles of {size} x {size} hold the striking differences, the others next to none", 0.92, f"first at row {row}, column {first[1] * size}")  # fmt: skip
    return None


def _moved(r: Array, o: Array, corner: Any) -> str:
    """Return words if the values of a tile are their neighbours'."""
    part = o[corner]
    change = part - r[corner]
    energy = float(np.vdot(change, change))
    for axis, by in itertools.product((0, 1), (1, -1)):
        near = np.roll(r, by, axis)[corner]
        left = part - near
        if energy and np.vdot(left, left) < 0.2 * energy:
            return f"; its values are those of one {'row' if axis == 0 else 'column'} {'before' if by > 0 else 'after'}"
    return ""


def _tiles(table: Array, size: int) -> tuple[int, int, tuple[int, int]] | None:
    rows, columns = table.shape[0] // size, table.shape[1] // size
    if rows * columns < 4 or not rows or not columns:
        return None
    means = table[: rows * size, : columns * size].reshape(rows, size, columns, size).mean(axis=(1, 3))
    bad = means > 0.6
    if not bad.any() or bad.mean() > 0.5 or float(means[~bad].max(initial=0.0)) > 0.02:
        return None
    first = np.argwhere(bad)[0]
    return int(bad.sum()), bad.size, (int(first[0]), int(first[1]))


# Formats.


def _flushed(v: Evidence) -> Fingerprint | None:
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


def _operands(v: Evidence) -> Fingerprint | None:
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
                    best = share, name, f"{words} of {which} on {side} side explains {_share(share)} of the differences"
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

_SIZES = [
    ("tf32", "TF32 on one side makes", 0.6, "tf32", False),
    ("tf32", "cutting to TF32 on one side makes", 1.59, "tf32", True),
    ("narrow-operands", "operands in bfloat16 on one side make", 0.6, "bfloat16", False),
    ("narrow-operands", "operands in float8_e4m3 on one side make", 0.6, "float8_e4m3fn", False),
]
"""The rms of difference / Q, in units of u, that rounding both operands makes, whatever K: 0.6, and 1.59 where it cuts (mean and spread of what is
cut off), which draws the results to zero."""


def _sizes(v: Evidence) -> Fingerprint | None:
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
    if op.accumulator != "float16" and 0.4 < rms / accumulating < 2.5 and op.reduction >= 8 and towards < 0.5:
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


def _narrow_result(v: Evidence) -> Fingerprint | None:
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


def _truncated(v: Evidence) -> Fingerprint | None:
    if (
        v.operation.kind not in ("product", "attention")
        or v.r.size < 64
        or v.operation.accumulator.endswith(bounds.TRUNCATED)
    ):
        return None
    if float(np.median(v.e)) <= float(np.median(v.rounding)):
        return None
    towards = _towards_zero(v)
    a, _ = _factor(v.r, v.o)
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
        f"results{side} are drawn to zero: the mean signed difference is {_share(abs(towards))} of the mean size, "
        f"a factor of 1 - {abs(a - 1):.3g}, as {abs(a - 1) / u:.3g} roundings one way"
    )
    return Fingerprint("truncated-accumulation", said, min(0.9, 0.4 + 0.5 * abs(towards)))


_SHORTEST = 2.0**-14
"""What one step loses in the shortest accumulators in use, those of 8-bit products on Hopper (DeepSeek-V3 technical report, section 3.3.2: about 14 bits)."""


# Randomness.


def _dropout(v: Evidence) -> Fingerprint | None:
    zero = (v.o == 0) & (v.r != 0)
    p = float(zero.mean())
    if 0.005 < p < 0.97 and zero.sum() >= 8:
        rest = ~zero & v.finite
        a, share = _factor(v.r[rest], v.o[rest])
        if share >= EXPLAINED and abs(a * (1 - p) - 1) < max(0.05, 4 * math.sqrt(p / zero.size)):
            return Fingerprint(
                "dropout",
                f"{_share(p)} of the values are zero and the others {_figure(a)} times the reference's, 1 / (1 - {1 - 1 / a:.3g})",
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
            f"two runs on the target differ by {_share(size)} of the values' size, as much as from the reference",
            0.9,
        )
    return Fingerprint("not-repeatable", f"two runs on the target differ by {_share(size)} of the values' size", 0.7)


# Positions and caches.


def _by_position(v: Evidence) -> tuple[int, Array] | None:
    """Return the position axis and the relative rms of the differences at each position."""
    axis = v.axis("position")
    if axis is None or (axis == 0 and not v.whole) or v.r.shape[axis] < 3 or v.r.size < 4 * v.r.shape[axis]:
        return None
    others = tuple(x for x in range(v.r.ndim) if x != axis)
    size = math.sqrt(float(np.mean(v.r**2)))
    if not size:
        return None
    return axis, np.sqrt(np.mean(v.d**2, axis=others)) / size


def _positions(v: Evidence) -> Fingerprint | None:
    found = _by_position(v)
    if found is None:
        return None
    axis, errors = found
    top = float(errors.max())
    if top < 1e-3:
        return None
    right = errors < 0.02 * top
    wrong = np.flatnonzero(~right)
    turned = _turned(v, axis)
    order = np.arange(len(errors))
    ranks = np.argsort(np.argsort(errors))
    growing = float(np.corrcoef(order, ranks)[0, 1])
    if turned is not None:
        if right[0] and (growing > 0.3 or len(wrong) > 1):
            return Fingerprint(
                "rotary",
                f"position 0 is right, later ones are wrong by up to {_share(top)}, and {turned} keep their length",
                0.97,
            )
        return Fingerprint("rotary", f"{turned} keep their length, but are turned", 0.9)
    if right[-1] and v.operation.kind in ("attention", "composite", "softmax") and not right[:-1].any():
        return Fingerprint(
            "mask",
            f"only the last of {len(errors)} positions is right: others see what they should not, or less than they should",
            0.85,
        )
    repeated = _repeated(v, axis)
    if repeated is not None:
        return repeated
    if right[0] and growing > 0.8 and len(errors) >= 6 and errors[-1] > 3 * errors[max(1, len(errors) // 8)]:
        return Fingerprint(
            "position",
            f"position 0 is right, and differences grow with the position (rank correlation {growing:.2g})",
            0.7,
        )
    if right[0] and len(wrong) and right[: wrong[0]].all() and not right[wrong[0] :].any():
        return Fingerprint(
            "stale-cache",
            f"positions before {wrong[0]} are right, all later ones wrong",
            0.65,
            f"from position {wrong[0]}",
        )
    return None


def _turned(v: Evidence, axis: int) -> str | None:
    """Return words if pairs of channels keep their length though they differ: halves of a head, or neighbours."""
    grouping = v.by_head()
    shape = v.r.shape if grouping is None else tuple(grouping[0])
    if axis == v.r.ndim - 1 or shape[-1] % 2 or v.r.ndim < 2:
        return None
    sizes = [shape] + [
        (*v.r.shape[:-1], v.r.shape[-1] // size, size)
        for size in (32, 64, 80, 96, 128, 256)
        if v.r.shape[-1] % size == 0
    ]
    for split in dict.fromkeys(sizes):
        half = split[-1] // 2
        pairs = {"halves": (*split[:-1], 2, half), "neighbours": (*split[:-1], half, 2)}
        for words, parts in pairs.items():
            axis_of_pair = -2 if words == "halves" else -1
            was, now = (np.linalg.norm(x.reshape(parts), axis=axis_of_pair) for x in (v.r, v.o))
            off, size = math.sqrt(float(np.mean((was - now) ** 2))), math.sqrt(float(np.mean(v.d**2)))
            if off < 0.02 * size and float(np.std(now)) > 0:
                return f"pairs of {words} in heads of {split[-1]}"
    return None


def _repeated(v: Evidence, axis: int) -> Fingerprint | None:
    """Positions that repeat the one before though the reference's do not."""
    o, r = np.moveaxis(v.o, axis, 0), np.moveaxis(v.r, axis, 0)
    step, moved = np.abs(np.diff(o, axis=0)), np.abs(np.diff(r, axis=0))
    same = step.reshape(len(step), -1).max(1) == 0
    if same.any() and not (moved.reshape(len(moved), -1).max(1) == 0).any():
        first = int(np.flatnonzero(same)[0]) + 1
        return Fingerprint(
            "stale-cache", f"{int(same.sum())} positions repeat the one before", 0.93, f"from position {first}"
        )
    return None


def _earlier(v: Evidence) -> Fingerprint | None:
    if v.earlier is None or np.shape(v.earlier) != v.reference.shape:
        return None
    before = v.look(v.earlier)
    share = v.explained(np.where(np.isfinite(before), before, 0.0))
    if share >= EXPLAINED:
        return Fingerprint(
            "stale-cache", f"the values are those of the call before ({_share(share)} of the differences)", 0.97
        )
    return None


# Functions, and nothing at all.


def _function(v: Evidence) -> Fingerprint | None:
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


def _unrelated(v: Evidence) -> Fingerprint | None:
    rr, oo = float(np.vdot(v.r, v.r)), float(np.vdot(v.o, v.o))
    if v.r.size < 64 or not rr or not oo:
        return None
    cosine, ratio = float(np.vdot(v.r, v.o)) / math.sqrt(rr * oo), math.sqrt(oo / rr)
    if abs(cosine) < 0.3 and 0.5 < ratio < 2:
        return Fingerprint(
            "other-values", f"their cosine is {cosine:.2g}, their sizes are alike ({_figure(ratio)} to 1)", 0.4
        )
    return None


_SEARCHES: tuple[Callable[[Evidence], Fingerprint | None], ...] = (
    _unlike, _saturated, _scale, _offset, _layout, _shifted, _tile, _flushed, _operands, _sizes, _narrow_result, _truncated,
    _dropout, _positions, _earlier, _function, _unrelated,
)  # fmt: skip

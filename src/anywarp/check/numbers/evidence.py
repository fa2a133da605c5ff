"""What the search for causes looks at: two tensors, what is allowed, and what else is known, with derived figures worked out once."""

# pyright: basic
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.numerics import bounds
from anywarp.numerics.bounds import Bound
from anywarp.numerics.operation import Operation

Array = NDArray[Any]

MOST = 1 << 20
"""Elements that are looked at: of larger tensors the leading slices around the largest difference."""


@dataclass(frozen=True)
class Evidence:
    """One comparison's tensors and circumstances."""

    reference: Array
    observed: Array
    operation: Operation
    scale: Array
    norm: Array | None
    limit: Bound
    inputs: tuple[Array | None, ...] = ()
    again: Array | None = None
    earlier: Array | None = None
    axes: tuple[str, ...] = ()
    depth: int = 0
    precise: Array | None = None

    @cached_property
    def window(self) -> slice:
        """The leading slices that are looked at."""
        shape = self.reference.shape
        if self.reference.size <= MOST or not shape:
            return slice(None)
        each = self.reference.size // shape[0]
        count = max(1, MOST // each)
        worst, at = -1.0, 0
        for start in range(0, shape[0], count):
            with np.errstate(all="ignore"):
                part = slice(start, start + count)
                top = np.nanmax(np.abs(self.observed[part].astype(np.float64) - self.reference[part]), initial=0.0)
            if top > worst:
                worst, at = float(top), start
        return slice(at, at + count)

    @cached_property
    def skipped(self) -> int:
        """How many leading slices lie before those that are looked at."""
        return self.window.start or 0

    @property
    def whole(self) -> bool:
        """Whether all of the tensor is looked at."""
        return self.r.shape == self.reference.shape

    def look(self, array: Array) -> Array:
        """Return the part of an array of the result's shape that is looked at, as float64."""
        array = np.broadcast_to(np.asarray(array), self.reference.shape)
        return np.asarray(array if not array.shape else array[self.window], np.float64)

    @cached_property
    def raw(self) -> tuple[Array, Array]:
        """Reference and observed as they are, with NaN and infinities."""
        return self.look(self.reference), self.look(self.observed)

    @cached_property
    def finite(self) -> Array:
        """Where both are finite."""
        return np.isfinite(self.raw[0]) & np.isfinite(self.raw[1])

    @cached_property
    def r(self) -> Array:
        """The reference, 0 where one is not finite."""
        return np.where(self.finite, self.raw[0], 0.0)

    @cached_property
    def o(self) -> Array:
        """The observed, 0 where one is not finite."""
        return np.where(self.finite, self.raw[1], 0.0)

    @cached_property
    def d(self) -> Array:
        """Observed less reference."""
        return self.o - self.r

    @cached_property
    def e(self) -> Array:
        """The size of the differences."""
        return np.abs(self.d)

    @cached_property
    def q(self) -> Array | None:
        """Q, where it is known."""
        return None if self.norm is None else self.look(self.norm)

    @cached_property
    def rounding(self) -> Array:
        """One unit in the last place of the result's type, at the reference's size."""
        u = bounds.roundoff(self.operation.output)
        return 2 * u * np.maximum(np.abs(self.r), np.abs(self.o))

    @cached_property
    def allowed(self) -> Array:
        """What is allowed."""
        limit = self.limit.value * np.abs(self.r) + self.limit.absolute
        if self.limit.magnitude:
            limit = limit + self.limit.magnitude * self.look(self.scale)
        if self.limit.norm and self.q is not None:
            limit = limit + self.limit.norm * self.q
        return limit

    @cached_property
    def beyond(self) -> Array:
        """Where a difference lies beyond what is allowed, or one side alone is NaN or infinite."""
        r, o = self.raw
        return (self.e > self.allowed) | (~self.finite & ~((r == o) | (np.isnan(r) & np.isnan(o))))

    @cached_property
    def striking(self) -> Array:
        """Where differences stand out among all: sixteen times their median, and two units in the last place."""
        strikes = self.e > np.maximum(16 * float(np.median(self.e)), 2 * self.rounding)
        return strikes | (self.beyond & ~self.finite)

    @cached_property
    def energy(self) -> float:
        """The sum of squares of the differences."""
        return float(np.vdot(self.d, self.d))

    def explained(self, candidate: Array, where: Array | None = None) -> float:
        """Return which share of the differences' squares vanishes if the reference is replaced by `candidate`: 1 is all of it, negative is worse."""
        left = self.o - candidate
        if where is not None:
            left, d = left[where], self.d[where]
            energy = float(np.vdot(d, d))
        else:
            energy = self.energy
        if energy == 0 or not math.isfinite(energy):
            return 0.0
        return 1 - float(np.vdot(left, left)) / energy

    def axis(self, name: str) -> int | None:
        """Return the place of an axis; by default the last is the channel, the one before the position."""
        if self.axes:
            return self.axes.index(name) if name in self.axes and len(self.axes) == self.r.ndim else None
        places = {"channel": 1, "position": 2}
        return self.r.ndim - places[name] if name in places and self.r.ndim >= places[name] else None

    def by_head(self) -> tuple[Sequence[int], int] | None:
        """Return the shape that splits heads from channels and the place of the head axis, if there are heads."""
        at = self.axis("head")
        if at is not None:
            return self.r.shape, at
        heads, shape = self.operation.heads, self.r.shape
        if heads > 1 and shape and shape[-1] % heads == 0:
            return (*shape[:-1], heads, shape[-1] // heads), len(shape) - 1
        return None

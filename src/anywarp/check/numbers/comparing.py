"""Comparing an observed tensor with its reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from anywarp.check.numbers.results import Comparison
from anywarp.numerics.operation import Operation

Array = NDArray[Any]


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
    causes: bool = True,
) -> Comparison:
    """Compare an observed tensor with its reference, of the same shape, and grade the difference.

    `reference` and `observed`: float32 or float64 arrays that hold the values exactly (16- and 8-bit floats widened), or integer arrays.
    `magnitude`: S, what the rounding errors of one result scale with, broadcastable to the shape: for a product |A||B| (+ |bias|), which is the
    module run on absolute values; `numerics.magnitudes` has it for every other kind. `norm`: Q = sqrt((A*A)(B*B)), for products, if known: the module run on
    squares, and the root of it. `precise`: the result in higher precision. `null`: another run of the *source* (other batch, other kernels): its difference
    from `reference` is noise that the target may have, too. `inputs`: the operation's operands (for norms: x, weight, bias), from which magnitudes are
    computed where they are not given. `again`: a second run of the target on the same inputs, which tells randomness. `earlier`: the reference of
    the same place one call before, which tells a stale cache. `axes`: names of the axes ("batch", "position", "head", "channel"); by default the last is
    "channel", the one before "position". `causes=False` leaves the search for causes out.
    Different shapes fail with a reason; nothing raises for the values' sake.
    """
    raise NotImplementedError

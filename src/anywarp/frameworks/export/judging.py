"""How far two right answers may lie apart: from the type's rounding, the lengths of the sums, and what PyTorch itself loses.

The bound is `numerics.bounds.assumed`: over a network K is the sum of the lengths of all its sums, each other operator counted as one, and S the
largest result. Sums that cancel lose more: so what PyTorch loses in the model's type against float64 is measured, and three times that is allowed, too.
"""

# pyright: basic
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anywarp.frameworks.export.inputs import Array
from anywarp.numerics import bounds
from anywarp.numerics.magnitudes import largest
from anywarp.numerics.operation import Operation

FAILING = 1e-3
"""The probability of a false alarm that the bound is made for."""
NULL_FACTOR = 3.0


@dataclass(frozen=True)
class Verdict:
    """One output at one choice of sizes: the largest difference, what is allowed, and why."""

    output: str
    dtype: str
    error: float
    bound: float
    why: str

    @property
    def right(self) -> bool:
        """Whether the difference is allowed; NaN is not."""
        return self.error <= self.bound


def sums_of(run: Callable[[], Any]) -> int:
    """Return the sum of the lengths of all sums while `run` computes with PyTorch, each other operator counted as one."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counter(TorchDispatchMode):
        total = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            self.total += _length(func.overloadpacket.__name__, args, result)
            return result

    with Counter() as counter:
        run()
    return max(1, counter.total)


_FACTORS = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1, "addmv": 1, "mv": 0, "dot": 0}
"""Products, and which argument's last dimension is summed over."""


def _length(name: str, args: Any, result: Any) -> int:
    if name in _FACTORS:
        return args[_FACTORS[name]].shape[-1]
    if "convolution" in name:
        return args[1].numel() // max(1, args[1].shape[0])
    if name in ("_softmax", "_log_softmax", "cumsum"):
        return args[0].shape[args[1]] if args[0].ndim else 1
    if name == "native_layer_norm":
        return math.prod(args[1])
    if name == "native_group_norm":
        return args[0].numel() // max(1, args[0].shape[0] * args[6])
    if name.startswith("_scaled_dot_product"):
        return args[0].shape[-1] + args[1].shape[-2]
    first = args[0] if args else None
    before = getattr(first, "numel", lambda: 0)()
    after = getattr(result, "numel", lambda: 0)()
    return before // after if name in ("sum", "mean", "var", "std", "norm", "avg_pool2d") and after else 1


def judge(output: str, found: Array, wanted: Array, exact: Array | None, sums: int, rounding: float) -> Verdict:
    """Compare an output with PyTorch's; `exact` is PyTorch's in float64, where it could be computed."""
    dtype = str(wanted.dtype)
    if found.shape != wanted.shape:
        return Verdict(output, dtype, math.inf, 0.0, f"the shape is {found.shape}, not {wanted.shape}")
    if found.dtype != wanted.dtype:
        return Verdict(output, dtype, math.inf, 0.0, f"the type is {found.dtype}, not {wanted.dtype}")
    if wanted.dtype.kind not in "fc":
        return Verdict(output, dtype, float(np.count_nonzero(found != wanted)), 0.0, "exact")
    if not wanted.size:
        return Verdict(output, dtype, 0.0, 0.0, "no elements")
    u = max(rounding, bounds.roundoff(dtype))
    formula = bounds.assumed(Operation(reduction=sums), wanted.size, FAILING, rounding=u).magnitude * largest(wanted)
    lost = 0.0 if exact is None else _difference(wanted.astype(np.float64), exact)
    bound = max(formula, NULL_FACTOR * lost) if math.isfinite(lost) else formula
    why = "rounding" if bound == formula else "what PyTorch loses, times 3"
    return Verdict(output, dtype, _difference(found, wanted), bound, why)


def _difference(a: Array, b: Array) -> float:
    """Return the largest difference; infinite where one has a NaN or an infinity that the other has not."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(x - y))
    return math.inf if np.isnan(apart).any() else float(apart.max())

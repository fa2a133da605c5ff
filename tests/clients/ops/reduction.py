"""Many values in, fewer out: sums, extrema, statistics, scans and sorts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ops.case import FLOATS, INTEGERS, NUMBERS, SIGNED, Case, Input, boolean

# tinygrad 0.14 cannot lower a maximum of bfloat16 on a renderer without that type, so those are asked in two types.
HALVES = ("float32", "float16")
AXES: tuple[Any, ...] = (None, 0, 1, (0, 2))
SHAPE = (6, 17, 9)


def reduce_over(
    name: str, expected: Callable[..., Any], types: tuple[str, ...] = FLOATS, kind: str = "any", factor: float = 1.0
) -> list[Case]:
    """One operator over all axes, one axis and two axes; only the first form is checked in every type."""

    def make(axis: Any) -> Case:
        return Case(
            name if axis is None else f"{name}_axis",
            lambda x: getattr(x, name)(axis=axis),
            lambda x: expected(x, axis=axis),
            (Input(SHAPE, kind),),
            types if axis is None or axis == 1 else types[:1],
            factor,
        )

    return [make(axis) for axis in (AXES[:3] if name == "logsumexp" else AXES)]


def logsumexp(x: np.ndarray, axis: Any) -> np.ndarray:
    return np.log(np.exp(x).sum(axis=axis))


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def one_axis(
    name: str,
    tiny: Callable[..., Any],
    expected: Callable[..., Any],
    types: tuple[str, ...] = FLOATS,
    kind: str = "any",
    factor: float = 1.0,
) -> Case:
    return Case(name, tiny, expected, (Input((5, 33), kind),), types, factor)


REDUCTIONS = [
    *reduce_over("sum", np.sum, NUMBERS, factor=20),
    *reduce_over("mean", np.mean, FLOATS, factor=4),
    *reduce_over("max", np.max, (*HALVES, *INTEGERS, "bool")),
    *reduce_over("min", np.min, (*HALVES, *INTEGERS, "bool")),
    *reduce_over("var", lambda x, axis: np.var(x, axis=axis, ddof=1), ("float32", "float16"), factor=4),
    *reduce_over("std", lambda x, axis: np.std(x, axis=axis, ddof=1), ("float32", "float16"), factor=4),
    *reduce_over("logsumexp", logsumexp, ("float32", "float16"), factor=4),
    *reduce_over("any", np.any, ("bool", "int32", "float32")),
    *reduce_over("all", np.all, ("bool", "int32", "float32")),
    Case("prod", lambda x: x.prod(axis=1), lambda x: np.prod(x, axis=1), (Input((4, 9), "positive"),), ("float32",), 10),
    Case("prod_int", lambda x: x.prod(axis=1), lambda x: np.prod(x.astype(np.int64), axis=1), (Input((4, 5), "positive"),), ("int32",)),
    Case("sum_keepdim", lambda x: x.sum(1, keepdim=True), lambda x: x.sum(1, keepdims=True), (Input((5, 33)),), ("float32", "int32"), 20),
    Case("sum_large", lambda x: x.sum(), np.sum, (Input((257, 513)),), ("float32", "float16", "int32"), 200),
    Case("sum_long_axis", lambda x: x.sum(1), lambda x: x.sum(1), (Input((3, 20011)),), ("float32", "int64"), 200),
    Case("sum_columns", lambda x: x.sum(0), lambda x: x.sum(0), (Input((1000, 65)),), ("float32",), 100),
    Case("max_long", lambda x: x.max(), np.max, (Input((99991,)),), ("float32", "int32")),
    Case("sum_float64", lambda x: x.sum(1), lambda x: x.sum(1), (Input((7, 1001)),), ("float64",), 1000),
    Case("sum_of_squares", lambda x: (x * x).sum(-1), lambda x: (x * x).sum(-1), (Input((9, 130)),), FLOATS, 20),
    Case("count", lambda c: c.sum(), np.sum, (boolean((37, 41)),), ("bool",)),
    Case("var_mean", lambda x: x.var_mean(1), lambda x: (np.var(x, 1, ddof=1), np.mean(x, 1)), (Input((5, 33)),), ("float32",), 4),
    Case("std_mean", lambda x: x.std_mean(1), lambda x: (np.std(x, 1, ddof=1), np.mean(x, 1)), (Input((5, 33)),), ("float32",), 4),
    Case("argmax", lambda x: x.argmax(), np.argmax, (Input((13, 11), "distinct"),), ("float32", "int32", "float16")),
    Case("argmax_axis", lambda x: x.argmax(1), lambda x: x.argmax(1), (Input((13, 11), "distinct"),), ("float32", "int64", "uint8")),
    Case("argmin", lambda x: x.argmin(0), lambda x: x.argmin(0), (Input((13, 11), "distinct"),), ("float32", "int32", "int16")),
]  # fmt: skip

SCANS = [
    one_axis("cumsum", lambda x: x.cumsum(1), lambda x: x.cumsum(1), NUMBERS, factor=20),
    one_axis("cumsum_first_axis", lambda x: x.cumsum(0), lambda x: x.cumsum(0), ("float32",), factor=20),
    Case("cumsum_long", lambda x: x.cumsum(0), lambda x: x.cumsum(0), (Input((1500,)),), ("float32", "int32"), 400),
    one_axis("cumprod", lambda x: x.cumprod(1), lambda x: x.cumprod(1), ("float32",), "probability", 10),
    one_axis("cummax", lambda x: x.cummax(1)[0], lambda x: np.maximum.accumulate(x, 1), ("float32", "int32")),
    one_axis("cummin", lambda x: x.cummin(1)[0], lambda x: np.minimum.accumulate(x, 1), ("float32", "int32")),
    one_axis(
        "logcumsumexp", lambda x: x.logcumsumexp(1), lambda x: np.logaddexp.accumulate(x, 1), ("float32",), factor=8
    ),
]
SOFTMAXES = [
    one_axis("softmax", lambda x: x.softmax(), softmax, HALVES, factor=2),
    one_axis("softmax_first_axis", lambda x: x.softmax(0), lambda x: softmax(x, 0), ("float32", "float16"), factor=2),
    one_axis("softmax_wide", lambda x: x.softmax(), softmax, ("float32",), "wide", 4),
    one_axis("log_softmax", lambda x: x.log_softmax(), lambda x: np.log(softmax(x)), HALVES, factor=4),
    one_axis("softmin", lambda x: x.softmin(), lambda x: softmax(-x), ("float32",), factor=2),
]


def sort_down(x: np.ndarray) -> np.ndarray:
    return np.sort(x, -1)[..., ::-1]


DISTINCT = "distinct"
SORTS = [
    Case("sort", lambda x: x.sort()[0], lambda x: np.sort(x, -1), (Input((3, 13), DISTINCT),), ("float32", "float16", *INTEGERS)),
    Case("sort_repeated", lambda x: x.sort()[0], lambda x: np.sort(x, -1), (Input((40,)),), ("int32", "uint8")),
    Case("sort_descending", lambda x: x.sort(descending=True)[0], sort_down, (Input((3, 13), DISTINCT),), ("float32", "int32")),
    Case("sort_first_axis", lambda x: x.sort(0)[0], lambda x: np.sort(x, 0), (Input((9, 4), DISTINCT),), ("float32",)),
    Case("sort_indices", lambda x: x.sort()[1], lambda x: np.argsort(x, -1), (Input((3, 13), DISTINCT),), ("float32", "int32")),
    Case("argsort", lambda x: x.argsort(), lambda x: np.argsort(x, -1), (Input((3, 13), DISTINCT),), ("float32", *SIGNED[1:])),
    Case("topk", lambda x: x.topk(4), lambda x: (sort_down(x)[:, :4], np.argsort(x, -1)[:, ::-1][:, :4]),
         (Input((3, 13), DISTINCT),), ("float32", "int32")),
    Case("topk_smallest", lambda x: x.topk(3, largest=False)[0], lambda x: np.sort(x, -1)[:, :3], (Input((3, 13), DISTINCT),), ("float32",)),
]  # fmt: skip

# numpy's answers for empty axes; extrema over nothing are errors in numpy and so are not asked.
EMPTY = [
    Case("sum_empty", lambda x: x.sum(), np.sum, (Input((0, 5)),), ("float32", "int32")),
    Case("sum_empty_axis", lambda x: x.sum(0), lambda x: x.sum(0), (Input((0, 5)),), ("float32",)),
    Case("sum_empty_result", lambda x: x.sum(1), lambda x: x.sum(1), (Input((0, 5)),), ("float32",)),
    Case("prod_empty", lambda x: x.prod(0), lambda x: x.prod(0), (Input((0, 5)),), ("float32",)),
    Case("softmax_empty", lambda x: x.softmax(), lambda x: x, (Input((0, 5)),), ("float32",)),
    Case("cumsum_empty", lambda x: x.cumsum(0), lambda x: x, (Input((0, 5)),), ("float32",)),
]
CASES = [*REDUCTIONS, *SCANS, *SOFTMAXES, *SORTS, *EMPTY]

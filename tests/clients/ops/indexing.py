"""Values found or placed by an index: gather, scatter, fancy indexing, embedding, assignment to slices, atomics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ops.case import FLOATS, Case, Input, boolean, index
from tinygrad import Tensor

DATA = Input((9, 7))
TYPES = (*FLOATS, "int8", "int64")


def scatter(x: np.ndarray, i: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = x.copy()
    np.put_along_axis(out, i.astype(np.int64), y, 1)
    return out


def scatter_with(ufunc: np.ufunc) -> Callable[..., Any]:
    def expected(x: np.ndarray, i: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = x.copy()
        ufunc.at(out, (i, np.broadcast_to(np.arange(i.shape[1]), i.shape)), y)
        return out

    return expected


def scatter_value(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda x, i: scatter_with(ufunc)(x, i, np.full(i.shape, 2.5))


def set_slice(tensor: Tensor) -> Tensor:
    tensor = tensor.clone().realize()
    tensor[2:5, 1:4] = 3
    return tensor


def set_slice_numpy(x: np.ndarray) -> np.ndarray:
    out = x.copy()
    out[2:5, 1:4] = 3
    return out


def assign_shifted(tensor: Tensor) -> Tensor:
    tensor = tensor.clone().realize()
    return tensor.assign(tensor * 2 + 1)


CASES = [
    Case("gather", lambda x, i: x.gather(1, i), lambda x, i: np.take_along_axis(x, i.astype(np.int64), 1), (DATA, index((9, 4), 7)), TYPES),
    Case("gather_first_axis", lambda x, i: x.gather(0, i), lambda x, i: np.take_along_axis(x, i.astype(np.int64), 0), (DATA, index((5, 7), 9)), ("float32",)),
    Case("index_rows", lambda x, i: x[i], lambda x, i: x[i], (DATA, index((11,), 9)), TYPES),
    Case("index_rows_2d", lambda x, i: x[i], lambda x, i: x[i], (DATA, index((4, 3), 9)), ("float32",)),
    Case("index_pairs", lambda x, i, j: x[i, j], lambda x, i, j: x[i, j], (DATA, index((6,), 9), index((6,), 7)), ("float32", "int32")),
    Case("index_columns", lambda x, i: x[:, i], lambda x, i: x[:, i], (DATA, index((5,), 7)), ("float32",)),
    Case("index_negative", lambda x, i: x[i - 9], lambda x, i: x[i - 9], (DATA, index((5,), 9)), ("float32",)),
    Case("index_outside_gather", lambda x, i: x[i].sum(1), lambda x, i: x[i].sum(1), (Input((1000, 3)), index((64,), 1000)), ("float32",), 4),
    Case("embedding", lambda w, i: w[i], lambda w, i: w[i], (Input((50, 16)), index((2, 5), 50)), FLOATS),
    Case("embedding_one_hot", lambda w, i: i.one_hot(50).float() @ w, lambda w, i: w[i], (Input((50, 16)), index((2, 5), 50)), ("float32",)),
    Case("take_scalar", lambda x: x[3, 2], lambda x: x[3, 2], (DATA,), ("float32", "int32")),
    Case("scatter", lambda x, i, y: x.scatter(1, i, y), scatter, (DATA, Input((9, 1), "index", "int32", 7), Input((9, 1))), ("float32", "int32")),
    Case("scatter_add", lambda x, i: x.scatter(0, i, 2.5, reduce="add"), scatter_value(np.add), (DATA, index((20, 7), 9)), ("float32",), 8),
    Case("scatter_multiply", lambda x, i: x.scatter(0, i, 2.5, reduce="multiply"), scatter_value(np.multiply), (DATA, index((6, 7), 9)), ("float32",), 8),
    Case("scatter_reduce_sum", lambda x, i, y: x.scatter_reduce(0, i, y, "sum"), scatter_with(np.add), (DATA, index((20, 7), 9), Input((20, 7))), ("float32",), 8),
    Case("scatter_reduce_max", lambda x, i, y: x.scatter_reduce(0, i, y, "amax"), scatter_with(np.maximum), (DATA, index((20, 7), 9), Input((20, 7))), ("float32", "int32")),
    Case("scatter_reduce_min", lambda x, i, y: x.scatter_reduce(0, i, y, "amin"), scatter_with(np.minimum), (DATA, index((20, 7), 9), Input((20, 7))), ("float32",)),
    Case("scatter_reduce_prod", lambda x, i, y: x.scatter_reduce(0, i, y, "prod"), scatter_with(np.multiply), (DATA, index((4, 7), 9), Input((4, 7))), ("float32",), 8),
    Case("masked_select", lambda x, m: x.masked_select(m), lambda x, m: x[m], (DATA, boolean((9, 7))), ("float32", "int32")),
    Case("nonzero", lambda m: m.nonzero(), lambda m: np.argwhere(m), (boolean((9, 7)),), ("bool",)),
    Case("set_slice", set_slice, set_slice_numpy, (DATA,), ("float32", "int32", "int8")),
    Case("assign", assign_shifted, lambda x: x * 2 + 1, (DATA,), ("float32", "int32"), 2),
    Case("histogram", lambda i: (i.reshape(-1, 1) == Tensor.arange(9)).sum(0), lambda i: np.bincount(i, minlength=9), (index((300,), 9),), ("int32",)),
    Case("index_empty", lambda x, i: x[i], lambda x, i: x[i], (DATA, index((0,), 9)), ("float32",)),
]  # fmt: skip

"""Values that only move: reshapes, permutations, pads, slices, joins and tensors made from nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ops.case import Case, Input
from tinygrad import Tensor, dtypes

TYPES = ("float32", "float16", "int8", "int64", "bool")


def move(
    name: str,
    tiny: Callable[..., Any],
    expected: Callable[..., Any],
    *shapes: tuple[int, ...],
    types: tuple[str, ...] = ("float32", "int8"),
) -> Case:
    # The sum with itself (or its own value, for booleans) makes a kernel of what would otherwise be a view.
    return Case(
        name, lambda *xs: fold(tiny(*xs)), expected, tuple(Input(s) for s in shapes or [(4, 6, 5)]), types, exact=True
    )


def fold(result: Any) -> Any:
    return tuple(t.contiguous() for t in result) if isinstance(result, (tuple, list)) else result.contiguous()


def pad_mode(name: str, numpy_mode: str) -> Case:
    return move(f"pad_{name}", lambda x: x.pad((2, 1, 1, 2), mode=name),
                lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2), (2, 1)), mode=numpy_mode), (1, 2, 5, 6))  # fmt: skip


MOVES = [
    move("reshape", lambda x: x.reshape(8, 15) + 0, lambda x: x.reshape(8, 15), types=("float32", "int64")),
    move("permute", lambda x: x.permute(2, 0, 1), lambda x: x.transpose(2, 0, 1), types=TYPES),
    move("transpose", lambda x: x.transpose(0, 2), lambda x: x.swapaxes(0, 2), types=TYPES),
    move("transpose_large", lambda x: x.T, lambda x: x.T, (67, 131)),
    move("flip", lambda x: x.flip((0, 2)), lambda x: np.flip(x, (0, 2)), types=TYPES),
    move("expand", lambda x: x.expand(3, 4, 5), lambda x: np.broadcast_to(x, (3, 4, 5)), (1, 4, 1), types=TYPES),
    move("pad", lambda x: x.pad(((1, 2), None, (0, 3))), lambda x: np.pad(x, ((1, 2), (0, 0), (0, 3))), types=TYPES),
    move("pad_value", lambda x: x.pad(((1, 2), None, (0, 3)), value=7),
         lambda x: np.pad(x, ((1, 2), (0, 0), (0, 3)), constant_values=7)),
    pad_mode("reflect", "reflect"), pad_mode("replicate", "edge"), pad_mode("circular", "wrap"),
    move("shrink", lambda x: x.shrink(((1, 3), (0, 4), None)), lambda x: x[1:3, 0:4], types=TYPES),
    move("slice_step", lambda x: x[::2, 1::3, ::-1], lambda x: x[::2, 1::3, ::-1], types=TYPES),
    move("slice_negative", lambda x: x[-2:, :-1, None, 3], lambda x: x[-2:, :-1, None, 3]),
    move("squeeze", lambda x: x.squeeze(1) * 1, lambda x: x.squeeze(1), (4, 1, 5)),
    move("unsqueeze", lambda x: x.unsqueeze(1) * 1, lambda x: x[:, None], (4, 5)),
    move("flatten", lambda x: x.flip(0).flatten(1), lambda x: x[::-1].reshape(4, 30)),
    move("unflatten", lambda x: x.flip(0).unflatten(1, (2, 3)), lambda x: x[::-1].reshape(4, 2, 3), (4, 6)),
    move("rearrange", lambda x: x.rearrange("a b c -> c (a b)"), lambda x: x.transpose(2, 0, 1).reshape(5, 24)),
    move("cat", lambda x, y: x.cat(y, dim=1), lambda x, y: np.concatenate([x, y], 1), (3, 4), (3, 7), types=TYPES),
    move("cat_three", lambda x, y, z: x.cat(y, z), lambda x, y, z: np.concatenate([x, y, z]), (3, 4), (1, 4), (5, 4)),
    move("stack", lambda x, y: x.stack(y, dim=1), lambda x, y: np.stack([x, y], 1), (3, 4), (3, 4), types=TYPES),
    move("split", lambda x: x.split(2, dim=1), lambda x: (x[:, :2], x[:, 2:4], x[:, 4:]), (3, 5)),
    move("chunk", lambda x: x.chunk(3, dim=1), lambda x: tuple(np.array_split(x, 3, 1)), (3, 6)),
    move("repeat", lambda x: x.repeat(2, 3), lambda x: np.tile(x, (2, 3)), (3, 5), types=TYPES),
    move("repeat_interleave", lambda x: x.repeat_interleave(3, dim=1), lambda x: x.repeat(3, 1), (3, 5)),
    move("roll", lambda x: x.roll((2, -1), (0, 1)), lambda x: np.roll(x, (2, -1), (0, 1)), (5, 7)),
    move("tril", lambda x: x.tril(1), lambda x: np.tril(x, 1), (6, 9), types=TYPES),
    move("triu", lambda x: x.triu(-1), lambda x: np.triu(x, -1), (6, 9), types=TYPES),
    move("diag", lambda x: x.diag(), np.diag, (7,)),
    move("diagonal", lambda x: x.diagonal(1), lambda x: np.diagonal(x, 1), (6, 9)),
    move("meshgrid", lambda x, y: x.meshgrid(y), lambda x, y: tuple(np.meshgrid(x, y, indexing="ij")), (4,), (5,)),
    move("unfold", lambda x: x.unfold(1, 3, 2), lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, 1)[:, ::2], (4, 9)),
    move("cat_empty", lambda x, y: x.cat(y), lambda x, y: np.concatenate([x, y]), (0, 4), (5, 4)),
    move("pad_empty", lambda x: x.pad(((1, 2), None), value=3), lambda x: np.pad(x, ((1, 2), (0, 0)), constant_values=3), (0, 4)),
    move("flip_empty", lambda x: x.flip(0), lambda x: x, (0, 4)),
]  # fmt: skip


def made(name: str, tiny: Callable[[], Tensor], expected: Callable[[], Any], factor: float = 1.0) -> Case:
    return Case(name, lambda: tiny().clone(), expected, (), ("float32",), factor)


MADE = [
    made("arange", lambda: Tensor.arange(5, 700, 3), lambda: np.arange(5, 700, 3)),
    made("arange_float", lambda: Tensor.arange(0, 5, 0.25), lambda: np.arange(0, 5, 0.25)),
    made(
        "arange_int64", lambda: Tensor.arange(-9, 30, dtype=dtypes.int64) * 10**12, lambda: np.arange(-9, 30) * 10**12
    ),
    made("linspace", lambda: Tensor.linspace(-1, 2, 37), lambda: np.linspace(-1, 2, 37)),
    made("eye", lambda: Tensor.eye(7, 9), lambda: np.eye(7, 9)),
    made("full", lambda: Tensor.full((3, 5), 2.5), lambda: np.full((3, 5), 2.5)),
    made("full_like", lambda: Tensor.arange(6).full_like(-4), lambda: np.full(6, -4)),
    made("zeros", lambda: Tensor.zeros(4, 5), lambda: np.zeros((4, 5))),
    made("ones", lambda: Tensor.ones(4, 5, dtype=dtypes.int8), lambda: np.ones((4, 5), np.int8)),
    made("one_hot", lambda: Tensor([2, 0, 4, 1]).one_hot(5), lambda: np.eye(5)[[2, 0, 4, 1]].astype(np.int64)),
    made("zeros_empty", lambda: Tensor.zeros(0, 3), lambda: np.zeros((0, 3))),
    made("randperm", lambda: Tensor.randperm(50).sort()[0], lambda: np.arange(50)),
]
CASES = [*MOVES, *MADE]

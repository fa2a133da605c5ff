"""A layer's weight divided among ranks, by columns or by rows, and the rows of its input with it: tensor and sequence parallelism (Megatron-LM's papers,
arXiv:1909.08053, section 3, and arXiv:2205.05198, section 4.2.2).
"""

# pyright: basic
from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, distributed, nn


class Division:
    """How a layer is divided: `mode` is column, row or None, `sequence` whether ranks have other rows between the layers."""

    def __init__(self, owner: str, group, size: int, mode: str | None, sequence: bool | None):
        if mode not in (None, "column", "row"):
            raise AssertionError(f"parallel_mode {mode} not supported")
        self.owner, self.group, self.mode = owner, group, mode
        self.size = distributed.get_world_size(group) if group is not None else size
        self.sequence = bool(sequence) and self.size > 1
        if mode is None:
            self.size = 1

    def share(self, features: int) -> int:
        """Return this rank's part of a number of features."""
        if features % self.size:
            raise AssertionError(f"{features} is not divisible by {self.size}")
        return features // self.size

    def before(self, x: Tensor) -> Tensor:
        """Return what a layer divided by columns computes with: all rows; gradients are added up over the ranks."""
        if self.size == 1 or self.mode != "column":
            return x
        return (_Gathered if self.sequence else _Copied).apply(x, self._ranks())  # type: ignore[return-value]

    def after(self, out: Tensor) -> Tensor:
        """Return the sum over the ranks of what a layer divided by rows computes; with `sequence` this rank's rows of it."""
        if self.size == 1 or self.mode != "row":
            return out
        return (_Scattered if self.sequence else _Summed).apply(out, self._ranks())  # type: ignore[return-value]

    def _ranks(self):
        if self.group is None:
            raise RuntimeError(f"{self.owner}: set_tensor_parallel_group was not called")
        return self.group

    def mark(self, weight: nn.Parameter, bias: nn.Parameter | None) -> None:
        """Write down on the parameters how they are divided, under the names by which Megatron's optimizers ask."""
        if self.mode is None:
            return
        parts = [(weight, 1 if self.mode == "row" else 0)]
        if bias is not None and self.mode == "column":
            parts.append((bias, 0))
        for each, dimension in parts:
            vars(each).update(tensor_model_parallel=True, partition_dim=dimension, partition_stride=1)
        if bias is not None and self.mode == "row" and self.sequence:
            vars(bias)["sequence_parallel"] = True


def stream(tracker, name: str | None = None) -> Any:
    """Return a context in which random numbers come from the stream of a tracker (a function that returns it), the device's own where there is none."""
    if tracker is None:
        return contextlib.nullcontext()
    return tracker().fork() if name is None else tracker().fork(name)


def _gather(x: Tensor, group) -> Tensor:
    x = x.contiguous()
    out = x.new_empty((x.shape[0] * distributed.get_world_size(group), *x.shape[1:]))
    distributed.all_gather_into_tensor(out, x, group=group)
    return out


def _scatter(x: Tensor, group) -> Tensor:
    size = distributed.get_world_size(group)
    if x.shape[0] % size:
        raise AssertionError(
            f"First dimension of the tensor ({x.shape[0]}) should be divisible by tensor parallel size"
        )
    out = x.new_empty((x.shape[0] // size, *x.shape[1:]))
    distributed.reduce_scatter_tensor(out, x.contiguous(), group=group)
    return out


def _sum(x: Tensor, group) -> Tensor:
    out = x.contiguous().clone()
    distributed.all_reduce(out, group=group)
    return out


def _same(x: Tensor, group) -> Tensor:
    return x.view_as(x)


def _over(
    there: Callable[[Tensor, Any], Tensor], back: Callable[[Tensor, Any], Tensor]
) -> type[torch.autograd.Function]:
    """Return the function of one collective forward and another backward."""

    class Over(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x: Tensor, group) -> Tensor:
            ctx.group = group
            return there(x, group)

        @staticmethod
        def backward(ctx, slope: Tensor):
            return back(slope, ctx.group), None

    return Over


_Copied, _Summed, _Gathered, _Scattered = (
    _over(_same, _sum),
    _over(_sum, _same),
    _over(_gather, _scatter),
    _over(_scatter, _gather),
)

"""Apex's functions over lists of tensors: `multi_tensor_applier` and the functions of `amp_C` that programs hand to it."""

# pyright: basic
from __future__ import annotations

import torch
from torch import Tensor

__all__ = [
    "MultiTensorApply",
    "multi_tensor_applier",
    "multi_tensor_axpby",
    "multi_tensor_l2norm",
    "multi_tensor_scale",
]


class MultiTensorApply:
    """Calls a function with the size of its pieces, which is the card's concern alone."""

    available, warned = True, False

    def __init__(self, chunk_size: int):
        self.chunk_size = chunk_size

    def __call__(self, op, noop_flag_buffer: Tensor, tensor_lists, *given):
        """Return `op` of the lists."""
        return op(self.chunk_size, noop_flag_buffer, tensor_lists, *given)


multi_tensor_applier = MultiTensorApply(2048 * 32)


@torch.no_grad()
def multi_tensor_scale(chunk_size: int, noop_flag: Tensor, tensor_lists, scale: float) -> None:
    """Write the first list times `scale` into the second; `noop_flag` becomes 1 where a number is not finite."""
    for one, out in zip(*tensor_lists, strict=True):
        _flag(noop_flag, one)
        out.copy_(one.to(torch.promote_types(one.dtype, torch.float32)) * scale)


@torch.no_grad()
def multi_tensor_axpby(chunk_size: int, noop_flag: Tensor, tensor_lists, a: float, b: float, arg_to_check: int) -> None:
    """Write a x + b y of the first two lists into the third; the flag tells of x (0), y (1) or both (-1)."""
    for x, y, out in zip(*tensor_lists, strict=True):
        for number, each in enumerate((x, y)):
            if arg_to_check in (-1, number):
                _flag(noop_flag, each)
        exact = torch.promote_types(x.dtype, torch.float32)
        out.copy_(a * x.to(exact) + b * y.to(exact))


@torch.no_grad()
def multi_tensor_l2norm(
    chunk_size: int, noop_flag: Tensor, tensor_lists, per_tensor: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the norm of all numbers of the list, of shape (1), and with `per_tensor` those of each tensor, else an empty tensor."""
    [tensors] = tensor_lists
    each = torch.stack([torch.linalg.vector_norm(one.float()) for one in tensors])
    whole = torch.linalg.vector_norm(each).reshape(1)
    return whole, each if per_tensor else each.new_empty(0)


def _flag(flag: Tensor, numbers: Tensor) -> None:
    flag.logical_or_(~torch.isfinite(numbers).all())

"""A rank's part of a value that was recorded as a whole."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import torch

from anywarp.check.record.torch.values import start_of


class NotWhole(Exception):
    """A rank's part of a value cannot be told; why."""


def cut(whole: torch.Tensor, like: torch.Tensor, rank: int, count: int) -> torch.Tensor:
    """Return the part of a value that stands for `like` on this rank; NotWhole.

    A DTensor says itself which. What is a plain tensor, and shorter along one axis than the whole as torch.chunk makes it for all ranks, is that chunk. Anything else is the whole.
    """
    if whole.ndim != like.ndim or whole.is_floating_point() != like.is_floating_point():
        raise NotWhole("it is something else here")
    if hasattr(like, "placements") and hasattr(like, "device_mesh"):
        return _as_placed(whole, like)
    if whole.shape == like.shape:
        return whole
    axes = [axis for axis in range(like.ndim) if whole.shape[axis] != like.shape[axis]]
    if len(axes) != 1:
        return whole
    parts = whole.chunk(count, axes[0])
    return parts[rank].contiguous() if rank < len(parts) and parts[rank].shape == like.shape else whole


def _as_placed(whole: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    from torch.distributed.tensor import DTensor

    start = start_of(like)
    if start is None or whole.shape != like.shape or any(each.is_partial() for each in like.placements):
        raise NotWhole("its place in the whole is not known")
    local = like.to_local()
    at = tuple(slice(begin, begin + extent) for begin, extent in zip(start, local.shape))
    return DTensor.from_local(
        whole[at].contiguous(),
        like.device_mesh,
        like.placements,
        run_check=False,
        shape=like.shape,
        stride=like.stride(),
    )

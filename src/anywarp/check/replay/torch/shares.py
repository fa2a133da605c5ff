"""A rank's own share of a product whose terms lie over the ranks: the program adds the shares at once, and of a wrong sum nobody could say whose share it is.

So while a module runs alone, its share is taken before it is added, and the same product of the same operands is made in float64 beside it.
"""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from anywarp.check.record.torch.values import plain
from anywarp.check.replay.shares import SLOT as SLOT
from anywarp.check.replay.torch.magnitudes import rank_of_terms


class Share:
    """What a rank's forward was given and returned."""

    def __init__(self) -> None:
        self.given: torch.Tensor | None = None
        self.made: torch.Tensor | None = None


@contextmanager
def watched(module: nn.Module) -> Generator[Share]:
    """Give what the module's own forward is given and returns while this lasts; nothing of a module whose weight does not lie over the ranks by its terms."""
    share = Share()
    if rank_of_terms(module) is None:
        yield share
        return

    def taken(_: nn.Module, args: Any, out: Any) -> None:
        if len(args) == 1 and isinstance(args[0], torch.Tensor) and isinstance(out, torch.Tensor):
            share.given, share.made = plain(args[0])[0], plain(out)[0]

    handle = module.register_forward_hook(taken, prepend=True)
    try:
        yield share
    finally:
        handle.remove()


def in_float64(module: nn.Module, share: Share) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return the share as it should be, and the sizes of its terms, in float64; None where its operands are not those of the weight.

    Which rank adds the bias is the framework's choice: all, one, or each its part.
    """
    if share.given is None or share.made is None or not share.made.is_floating_point():
        return None
    weight: Any = module.weight
    w, x = weight.detach().to_local().double(), share.given.double()
    if x.shape[-1] != w.shape[-1] or share.made.shape[-1] != w.shape[0]:
        return None
    sums, sizes = x @ w.T, x.abs() @ w.abs().T
    bias: Any = module.bias
    if bias is None:
        return sums, sizes
    b, _ = plain(bias)
    if b is None or b.shape != w.shape[:1]:
        return None
    parts = [sums + b.double() * factor for factor in (0.0, 1.0, 1.0 / weight.device_mesh.size())]
    made = share.made.double()
    nearest = min(parts, key=lambda each: float((made - each).abs().nan_to_num(torch.inf).median()))
    return nearest, sizes + b.double().abs()

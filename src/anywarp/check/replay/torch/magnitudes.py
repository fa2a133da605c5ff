"""Values that bounds on rounding are made of: a product on absolute values and on squares."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from anywarp.check.record.torch.operations import is_linear, is_linear_transposed
from anywarp.check.record.torch.values import name_of


def of_product(module: nn.Module, given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return sum |a||b| + |bias| and sqrt(sum a^2 b^2) of a product's call, in float64; None for what is no product known here.

    These are the module's own sums: the same terms, without the signs; of a weight that lies over several ranks, those of this rank's part.
    """
    weight, given = _local(getattr(module, "weight", None)), _local(given)
    bias = _local(getattr(module, "bias", None))
    if isinstance(weight, torch.Tensor) and is_linear(module) and weight.shape[-1] != given.shape[-1]:
        return None  # what the rank was given is cut within the call
    if (
        not isinstance(weight, torch.Tensor)
        or not weight.is_floating_point()
        or name_of(weight.dtype).startswith("float8")
    ):
        return None
    x, w = given.detach().double(), weight.detach().double()
    b = bias.detach().double() if isinstance(bias, torch.Tensor) else None
    if is_linear(module) and (over := rank_of_terms(module)) is not None and b is not None:
        b = b / over[1]  # added once
    if is_linear(module):
        return functional.linear(x.abs(), w.abs(), None if b is None else b.abs()), functional.linear(
            x * x, w * w
        ).sqrt()
    if is_linear_transposed(module):
        return x.abs() @ w.abs() + (0 if b is None else b.abs()), (x * x @ (w * w)).sqrt()
    if isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d):
        sums = module._conv_forward(x.abs(), w.abs(), None if b is None else b.abs())  # pyright: ignore[reportArgumentType]
        return sums, module._conv_forward(x * x, w * w, None).sqrt()
    if isinstance(module, nn.ConvTranspose1d | nn.ConvTranspose2d | nn.ConvTranspose3d):
        plain = copy.copy(module)
        plain._parameters = {
            "weight": nn.Parameter(w.abs(), False),
            "bias": None if b is None else nn.Parameter(b.abs(), False),
        }
        sums = plain.forward(x.abs())
        plain._parameters = {"weight": nn.Parameter(w * w, False), "bias": None}
        return sums, plain.forward(x * x).sqrt()
    return None


def _local(tensor: Any) -> Any:
    return tensor.detach().to_local() if hasattr(tensor, "to_local") else tensor


def rank_of_terms(module: nn.Module) -> tuple[int, int] | None:
    """Return this rank's place and how many there are, where a linear module's weight lies over them by the terms of its sums."""
    weight: Any = getattr(module, "weight", None)
    if not is_linear(module) or not hasattr(weight, "placements") or len(weight.placements) != 1:
        return None
    if not weight.placements[0].is_shard(1):
        return None
    return weight.device_mesh.get_coordinate()[0], weight.device_mesh.size()


def summed_over_ranks(module: nn.Module, sums: torch.Tensor) -> dict[str, Any] | None:
    """Return the placement of sums that are parts of the whole's, None where they are not."""
    found = rank_of_terms(module)
    if found is None:
        return None
    shape = list(sums.shape)
    return {"shape": shape, "mesh": [found[1]], "at": [found[0]], "placements": ["partial"], "start": [0] * len(shape)}

"""Values that bounds on rounding are made of: a product on absolute values and on squares."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional

from anywarp.check.record.torch.operations import is_linear, is_linear_transposed
from anywarp.check.record.torch.values import name_of


def of_product(module: nn.Module, given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return sum |a||b| + |bias| and sqrt(sum a^2 b^2) of a product's call, in float64; None for what is no product known here.

    These are the module's own sums: the same terms, without the signs.
    """
    weight = getattr(module, "weight", None)
    bias = getattr(module, "bias", None)
    if (
        not isinstance(weight, torch.Tensor)
        or not weight.is_floating_point()
        or name_of(weight.dtype).startswith("float8")
    ):
        return None
    x, w = given.detach().double(), weight.detach().double()
    b = bias.detach().double() if isinstance(bias, torch.Tensor) else None
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

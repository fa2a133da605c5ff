"""Values that bounds on rounding are made of: a product on absolute values and on squares, and any module in float64."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import copy
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from anywarp.check.record.torch.operations import is_linear, is_linear_transposed
from anywarp.check.record.torch.values import name_of, replaced


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


_NARROW = (torch.float32, torch.float16, torch.bfloat16)
_NARROWING = {torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16}


class Wide(TorchFunctionMode):
    """Where a program asks for float32, float16 or bfloat16, it gets float64."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in _NARROWING:
            return args[0].double()
        args = tuple(torch.float64 if any(a is n for n in _NARROW) else a for a in args)
        kwargs = {k: torch.float64 if any(v is n for n in _NARROW) else v for k, v in (kwargs or {}).items()}
        return function(*args, **kwargs)


@contextmanager
def wide() -> Generator[None]:
    """Have what runs compute in float64 on the processor, whatever it asks for."""
    before = torch.get_default_dtype()
    with ExitStack() as stack:
        for device in ("cpu", "cuda"):
            stack.enter_context(torch.autocast(device, enabled=False))
        stack.enter_context(Wide())
        torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            torch.set_default_dtype(before)


def widened(content: Any) -> Any:
    """Return arguments with their floating-point tensors in float64, all on the processor."""

    def change(slot: str, tensor: torch.Tensor) -> torch.Tensor:
        here = tensor.detach().cpu()
        return here.double() if here.is_floating_point() else here.clone()

    return replaced(content, change)


def widened_module(module: nn.Module) -> nn.Module:
    """Return a copy of a module on the processor, in float64."""
    return copy.deepcopy(module).cpu().double()

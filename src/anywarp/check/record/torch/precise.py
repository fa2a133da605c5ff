"""Running a module in float64 on the processor, aside: what its result would be without rounding, as good as."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import copy
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from anywarp.check.record.torch.apart import Change, random_state_kept, state_kept
from anywarp.check.record.torch.values import replaced

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


def of_module(original: Callable[..., Any], module: nn.Module, args: Any, kwargs: Any, state: Change) -> Any:
    """Return what a module makes of its arguments in float64; what `state` returns stands for what it keeps. Raises what the module raises."""
    with random_state_kept(), state_kept(module, state):
        copied = widened_module(module)
        with wide():
            return original(copied, *widened(tuple(args)), **widened(dict(kwargs)))


def of_function(original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return what a function makes of its arguments in float64."""
    with random_state_kept(), wide():
        return original(*widened(tuple(args)), **widened(dict(kwargs)))

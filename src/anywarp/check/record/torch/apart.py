"""Running a module aside: what it changes of itself, of its arguments and of the random numbers does not reach the program."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from anywarp.check.record.torch.values import replaced, tensors_in

_OF_TORCH = frozenset(vars(nn.Module()))
Change = Callable[[nn.Module, str, torch.Tensor], torch.Tensor]


@contextmanager
def random_state_kept() -> Generator[None]:
    """Put the random numbers back to where they were."""
    here = torch.get_rng_state()
    cuda = torch.cuda.get_rng_state() if torch.cuda.is_available() and torch.cuda.is_initialized() else None
    try:
        yield
    finally:
        torch.set_rng_state(here)
        if cuda is not None:
            torch.cuda.set_rng_state(cuda)


@contextmanager
def state_kept(module: nn.Module, change: Change) -> Generator[None]:
    """Give a module and those in it copies of what they keep beside their parameters, changed by `change`, and take them away again."""
    saved = [(each, dict(each._buffers), dict(vars(each))) for each in module.modules()]
    try:
        for each, buffers, attributes in saved:
            for name, buffer in buffers.items():
                if buffer is not None:
                    each._buffers[name] = change(each, name, buffer)
            for name, value in attributes.items():
                if name not in _OF_TORCH and _keeps_tensors(value):
                    vars(each)[name] = replaced(value, lambda slot, t, m=each: change(m, slot, t), name)
        yield
    finally:
        for each, buffers, attributes in saved:
            each._buffers.clear()
            each._buffers.update(buffers)
            vars(each).clear()
            vars(each).update(attributes)


def _keeps_tensors(value: Any) -> bool:
    if isinstance(value, torch.Tensor | list | dict | tuple):
        return True
    return "Cache" in type(value).__name__ or (hasattr(value, "__dict__") and any(True for _ in tensors_in(value)))

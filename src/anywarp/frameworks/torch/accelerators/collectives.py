"""torch.distributed where `cuda` is an accelerator: "nccl" is the backend that the accelerator has, under the name that the program gave it.

Operators of collectives are mapped as all are (native/torch_accelerator/kernel.cpp), and their works with them (work.cpp). What is here is names:
groups know the accelerator, and the program says and hears `cuda` and `nccl`.
"""

# pyright: basic
from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from anywarp.frameworks.torch import patches
from anywarp.frameworks.torch.accelerators import load
from anywarp.frameworks.torch.accelerators.module import Accelerator

_REASON = "the accelerator has another backend than nccl"
_OF_GROUPS = "groups have the backend of the accelerator, which is cuda to the program"
_BY_DEVICE = ("_get_backend", "_start_coalescing", "_end_coalescing")
"""Methods of a group whose first argument is a device."""


@patches.when_imported("torch.distributed.distributed_c10d")
def _backends(module: Any) -> None:
    accelerator = load.mapped
    if accelerator is None:
        return
    names = Names(accelerator, module.Backend.default_device_backend_map, module.torch.device)
    for name, at in (("init_process_group", 0), ("new_group", 2)):
        patches.set_attribute(module, name, _told(names, getattr(module, name), at), _REASON)
    for name in ("get_backend", "get_backend_config"):
        patches.set_attribute(module, name, _answered(names, getattr(module, name)), _REASON)
    available = module.is_nccl_available
    patches.set_attribute(module, "is_nccl_available", lambda: names.backend is not None or available(), _REASON)
    if not hasattr(module, "ProcessGroupNCCL"):
        patches.set_attribute(
            module, "ProcessGroupNCCL", _class_of_nccl(accelerator), "torch asks whether a group is of it"
        )
    group = module.ProcessGroup
    for name in _BY_DEVICE:
        if hasattr(group, name):
            patches.set_attribute(group, name, _of_device(names, getattr(group, name)), _OF_GROUPS)
    types = group._device_types
    patches.set_attribute(
        group, "_device_types", property(lambda self: [names.outer(each) for each in types.__get__(self)]), _OF_GROUPS
    )
    if hasattr(group, "bound_device_id"):
        patches.set_attribute(group, "bound_device_id", _bound(names, group.bound_device_id), _OF_GROUPS)


class Names:
    """The two names of things: the program's and the accelerator's."""

    def __init__(self, accelerator: Accelerator, defaults: dict[str, str], device: Callable[..., Any]):
        self.accelerator, self.defaults, self.device = accelerator, defaults, device

    @property
    def backend(self) -> str | None:
        """Return the name of the accelerator's backend; vendors may register theirs at any time."""
        return self.defaults.get(self.accelerator.name)

    def theirs(self, given: Any) -> Any:
        """Return a backend as the program says it, in the accelerator's words: `nccl`, `cpu:gloo,cuda:nccl`.

        None is both of these, as the documentation of init_process_group has it.
        """
        if given is None or given == "undefined":
            return f"cpu:gloo,{self.accelerator.name}:{self.backend}" if self.backend else "cpu:gloo"
        if not isinstance(given, str) or not re.search(r"\b(nccl|cuda)\b", given):
            return given
        if self.backend is None:
            raise self.accelerator.missing(
                f"backend of torch.distributed for {self.accelerator.name}, which nccl would be"
            )
        return re.sub(r"\bcuda\b", self.accelerator.name, re.sub(r"\bnccl\b", self.backend, given))

    def ours(self, known: Any) -> Any:
        """Return a backend as a group knows it, in the program's words; Gloo, which some accelerators have, stays Gloo."""
        known = re.sub(rf"\b{re.escape(self.accelerator.name)}\b", "cuda", str(known))
        own = self.backend
        return known if own in (None, "gloo") else re.sub(rf"\b{re.escape(own)}\b", "nccl", known)

    def inner(self, device: Any) -> Any:
        """Return the accelerator's device for one of `cuda`."""
        return self._moved(device, "cuda", self.accelerator.name)

    def outer(self, device: Any) -> Any:
        """Return the device of `cuda` for one of the accelerator's."""
        return self._moved(device, self.accelerator.name, "cuda")

    def _moved(self, device: Any, before: str, after: str) -> Any:
        if getattr(device, "type", None) != before:
            return device
        return self.device(after) if device.index is None else self.device(after, device.index)


def _class_of_nccl(accelerator: Accelerator) -> type:
    """Return a class that no group is of, and whose options are missing by name."""

    class OfNccl(type):
        def __getattr__(cls, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            raise accelerator.missing(f"ProcessGroupNCCL.{name}: leave NCCL's own options out")

    return OfNccl("ProcessGroupNCCL", (), {"__doc__": "NCCL's groups, of which there are none."})


def _bound(names: Names, real: Any) -> property:
    """Return the device that a group is bound to, None where its backend cannot split groups: torch splits those that are bound, as NCCL can, and makes others anew."""

    def get(self: Any) -> Any:
        device = real.__get__(self)
        try:
            return names.outer(device) if device is None or self._get_backend(device).supports_splitting else None
        except RuntimeError:  # its backend is not there yet
            return names.outer(device)

    return property(get, lambda self, device: real.__set__(self, names.inner(device)))


def _told(names: Names, real: Callable[..., Any], at: int) -> Callable[..., Any]:
    """Return a function that makes a group, told the accelerator's backend in its argument number `at` or by name; a new group has the default group's."""

    @functools.wraps(real)
    def call(*given: Any, **named: Any) -> Any:
        if len(given) > at:
            given = (*given[:at], names.theirs(given[at]) if given[at] or at == 0 else given[at], *given[at + 1 :])
        elif at == 0 or named.get("backend"):
            named["backend"] = names.theirs(named.get("backend"))
        return real(*given, **named)

    return call


def _answered(names: Names, real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def call(*given: Any, **named: Any) -> Any:
        return names.ours(real(*given, **named))

    return call


def _of_device(names: Names, real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def call(self: Any, device: Any, *more: Any) -> Any:
        return real(self, names.inner(device), *more)

    return call

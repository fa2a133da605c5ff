"""torch.distributed where `cuda` is an accelerator: "nccl" is the backend that the accelerator has, under the name that the program gave it."""

# pyright: basic
from __future__ import annotations

import functools
import re
from typing import Any

from anywarp.frameworks.torch import patches
from anywarp.frameworks.torch.accelerators import load

_REASON = "the accelerator has another backend than nccl"


@patches.when_imported("torch.distributed.distributed_c10d")
def _backends(module: Any) -> None:
    accelerator = load.mapped
    if accelerator is None:
        return

    def theirs(given: Any) -> Any:
        """Return a backend as the program says it, in the accelerator's words: `nccl`, `cpu:gloo,cuda:nccl`."""
        if not isinstance(given, str) or not re.search(r"\b(nccl|cuda)\b", given):
            return given
        name = module.Backend.default_device_backend_map.get(accelerator.name)
        if name is None:
            raise accelerator.missing(f"backend of torch.distributed for {accelerator.name}, which nccl would be")
        return re.sub(r"\bcuda\b", accelerator.name, re.sub(r"\bnccl\b", name, given))

    def wrapped(name: str) -> None:
        real = getattr(module, name)

        @functools.wraps(real)
        def call(*given: Any, **named: Any) -> Any:
            if "backend" in named:
                named["backend"] = theirs(named["backend"])
            elif name == "init_process_group" and given:
                given = (theirs(given[0]), *given[1:])
            elif name == "new_group" and len(given) > 2:
                given = (*given[:2], theirs(given[2]), *given[3:])
            device: Any = named.get("device_id")
            if getattr(device, "type", None) == "cuda":
                named["device_id"] = module.torch.device(accelerator.name, device.index)
            return real(*given, **named)

        patches.set_attribute(module, name, call, _REASON)

    wrapped("init_process_group")
    wrapped("new_group")
    available = module.is_nccl_available
    patches.set_attribute(
        module,
        "is_nccl_available",
        lambda: accelerator.name in module.Backend.default_device_backend_map or available(),
        _REASON,
    )

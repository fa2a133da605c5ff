"""Sanitisers that listen to the device's calls: from the first one on, operators that make the host wait tell them so."""

# pyright: basic
from __future__ import annotations

from typing import Any

from anywarp.frameworks.torch import load, patches
from anywarp.frameworks.torch.calls import checked


@patches.when_imported("torch.cuda._sanitizer")
@patches.when_imported("torch")
def _listened(module: Any) -> None:
    import torch

    real = torch._C._activate_gpu_trace
    if load.library is None or hasattr(real, "by_anywarp"):
        return
    listens = checked(load.library, "awt_sanitizer_listens")

    def activate() -> None:
        real()
        listens()

    activate.by_anywarp = True
    reason = "a CUDA build's operators tell sanitisers when they wait for a stream"
    patches.set_attribute(torch._C, "_activate_gpu_trace", activate, reason)

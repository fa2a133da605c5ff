"""torch.compile where `cuda` is an accelerator: Inductor would write Triton's kernels for NVIDIA's cards; that is refused, with the ways there are.

Backends that write no kernels (`eager`, `aot_eager`, `cudagraphs`) are left as they are.
"""

# pyright: basic
from __future__ import annotations

import functools
from typing import Any

from anywarp.frameworks.torch import patches
from anywarp.frameworks.torch.accelerators import load

_WAYS = (
    "set TORCH_COMPILE_DISABLE=1 to run functions without compilation, or give torch.compile a backend that writes no kernels "
    '(backend="aot_eager")'
)


@patches.when_imported("torch._inductor.compile_fx")
def _inductor(module: Any) -> None:
    accelerator = load.mapped
    if accelerator is None:
        return
    real = module.compile_fx

    @functools.wraps(real)
    def compile_fx(model: Any, inputs: Any, *given: Any, **named: Any) -> Any:
        if _is_on_cuda(model, inputs):
            raise accelerator.missing(
                f"Inductor for cuda as {accelerator.name}: its kernels would be Triton's for NVIDIA's cards; {_WAYS}"
            )
        return real(model, inputs, *given, **named)

    patches.set_attribute(module, "compile_fx", compile_fx, "Inductor has no kernels for what cuda is here")


def _is_on_cuda(model: Any, inputs: Any) -> bool:
    """Tell whether a graph takes, makes or moves tensors of `cuda`."""
    if any(getattr(getattr(each, "device", None), "type", "") == "cuda" for each in inputs):
        return True
    graph = getattr(model, "graph", None)
    for node in graph.nodes if graph is not None else ():
        value = node.meta.get("example_value", node.meta.get("val"))
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if getattr(getattr(each, "device", None), "type", "") == "cuda":
                return True
    return False

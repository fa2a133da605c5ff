"""torch.compile: Inductor's C++ code generator serves `cuda`, or the one for Triton where the user asks for it."""

# pyright: basic
from __future__ import annotations

import sys
from typing import Any

from anywarp.frameworks.torch import load, patches


@patches.when_imported("torch._inductor.compile_fx")
def _compile_for_the_cpu(module: Any) -> None:
    owner = getattr(module, "_InProcessFxCompile", None)
    if owner is None:  # before torch 2.6: Inductor itself says what it lacks for `cuda`
        return
    from anywarp.frameworks.torch.compile import inductor

    real = owner.codegen_and_compile
    reason = "graphs on `cuda` are compiled by Inductor's C++ code generator, which knows the CPU only"
    patches.set_attribute(owner, "codegen_and_compile", inductor.around_codegen(real), reason)


@patches.when_imported("torch._inductor.config")
def _kernels_are_launched_by_triton(module: Any) -> None:
    if load.over_cuda is not None:
        return
    reason = "torch's own launcher of Triton's kernels is a part of CUDA builds; Triton's launches as well"
    for name in ("use_static_triton_launcher", "use_static_cuda_launcher"):  # the older name until torch 2.9
        if getattr(module, name, False):
            patches.set_attribute(module, name, False, reason)


@patches.when_imported("torch._inductor.config")
def _buffers_of_compiled_code(module: Any) -> None:
    import torch

    guards: Any = sys.modules.get("torch._C._dynamo.guards")
    # A CUDA build has it, and versions before it make buffers by torch.empty_strided.
    if load.over_cuda is not None or not hasattr(guards, "_empty_strided_cuda"):
        return
    device = torch.device("cuda")

    def _empty_strided_cuda(size: Any, stride: Any, dtype: Any) -> Any:
        """Return a tensor on the current device, its content undefined."""
        return torch.empty_strided(size, stride, dtype=dtype, device=device)

    reason = "in a CPU build it only raises; code that Inductor generates for Triton makes its buffers by it"
    patches.set_attribute(guards, "_empty_strided_cuda", _empty_strided_cuda, reason)


@patches.when_imported("torch._inductor.codecache")
def _key_of_caches(module: Any) -> None:
    owner = getattr(module, "CacheBase", None)
    if owner is None:
        return
    from anywarp.frameworks.torch.compile import cache_key

    reason = (
        "compiled code depends on this version of anywarp, and the device's properties are not those of a CUDA build"
    )
    patches.set_attribute(owner, "get_system", staticmethod(cache_key.system_with_anywarp()), reason)


@patches.when_imported("torch.export.pt2_archive._package")
def _packages(module: Any) -> None:
    owner = getattr(module, "AOTICompiledModel", None)
    if owner is None:  # older versions have it elsewhere
        return
    real = owner.__init__

    def __init__(self: Any, loader: Any) -> None:
        from anywarp.frameworks.torch.compile import package

        real(self, package.loader(loader))

    patches.set_attribute(
        owner, "__init__", __init__, "packages compiled for `cuda` hold code for the CPU, called with aliases"
    )

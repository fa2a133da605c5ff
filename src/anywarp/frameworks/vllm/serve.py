"""Which operator of vLLM's is computed by what, and the refusal of the others by their names."""

# pyright: basic
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch

from anywarp.frameworks.torch import patches
from anywarp.frameworks.vllm import attention, cache, experts, layers, sampling

KERNELS: dict[str, Callable[..., Any]] = {
    **layers.KERNELS,
    **cache.KERNELS,
    **attention.KERNELS,
    **experts.KERNELS,
    **sampling.KERNELS,
}
"""By qualified name: kernels over tensors of the CPU, with the arguments of the operator's schema."""

SHAPES: dict[str, Callable[..., Any]] = {**attention.SHAPES}
"""Kernels for Meta tensors: operators that return tensors need them to become part of a graph."""

STAY = frozenset(
    {
        "_C::weak_ref_tensor",
        "_C::get_cuda_view_from_cpu_tensor",
        "_C_cache_ops::swap_blocks",
        "_C_cache_ops::swap_blocks_batch",
    }
)
"""Operators that start no kernel: vLLM's own code of the host, over our runtime."""

_libraries: list[torch.library.Library] = []  # a registration lasts as long as its library


def take_the_place(space: str, stand_in: ctypes.CDLL) -> None:
    """Register our kernels for a name space whose operators are registered, in the place of those for cards.

    They stand under the CPU's key: the stand-in hands them aliases of device tensors, in the order of the stream and within captured graphs.
    """
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    library = torch.library.Library(space, "IMPL", "CPU")
    shapes = torch.library.Library(space, "IMPL", "Meta")
    _libraries.extend((library, shapes))
    for name in sorted(each for each in torch._C._dispatch_get_all_op_names() if each.startswith(f"{space}::")):
        if not has(name, "CUDA") or has(name, "CPU") or name in STAY:
            continue
        bare = name.partition("::")[2]
        library.impl(bare, KERNELS.get(name) or refusal(name))
        if name in SHAPES and not has(name, "Meta"):
            shapes.impl(bare, SHAPES[name])
    stand_in.awt_take_the_place(space.encode(), 1)
    patches.write_down(f"torch.ops.{space}", False, "vLLM's kernels are machine code for cards; ours take their place")


def refusal(name: str) -> Callable[..., Any]:
    """Return a kernel that says by name that there is none."""

    def refuse(*_arguments: Any, **_options: Any) -> Any:
        raise NotImplementedError(
            f"Could not run '{name}' with arguments from the 'CUDA' backend. Its kernels in vLLM's wheel are machine code for NVIDIA's "
            "cards, and anywarp has none of its own for it (docs/vllm.md)."
        )

    return refuse

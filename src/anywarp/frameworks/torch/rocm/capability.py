"""A gfx950 says that its capability is (9, 5); torchtitan takes that for NVIDIA's Hopper and chooses FlashAttention 3, which is for CUDA only.

https://github.com/pytorch/torchtitan/pull/4778: on a build for ROCm the answer is None, torch's own choice. The capability itself stays what
it is: other callers know what it means.
"""

from __future__ import annotations

from types import ModuleType

from anywarp.frameworks import watching
from anywarp.frameworks.torch import patches, rocm

MODULE = "torchtitan.tools.utils"
FUNCTION = "get_cuda_flash_attention_impl"


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(after={MODULE: _mend}))


def _mend(module: ModuleType) -> None:
    if hasattr(module, FUNCTION) and rocm.concerns(MODULE):
        reason = "capabilities of AMD GPUs are not NVIDIA's: there is no FlashAttention 3 on ROCm"
        patches.set_attribute(module, FUNCTION, _no_choice, reason)


def _no_choice() -> str | None:
    """Return None: torch chooses its attention itself."""
    return None

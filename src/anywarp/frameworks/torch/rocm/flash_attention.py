"""flash-attn looks for the kernels of Composable Kernel, which exist for few GPUs and in no wheel, unless it is told to use its Triton kernels.

https://github.com/ROCm/flash-attention/issues/27, https://github.com/Dao-AILab/flash-attention/issues/1635; the variable is in flash-attn's README.
"""

from __future__ import annotations

import importlib.util

from anywarp import settings
from anywarp.frameworks import watching
from anywarp.frameworks.torch import patches, rocm

MODULE = "flash_attn"
COMPILED = "flash_attn_2_cuda"
"""The module of compiled kernels, which has this name on ROCm, too."""
VARIABLE = "FLASH_ATTENTION_TRITON_AMD_ENABLE"


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(before={MODULE: _choose}))


def _choose() -> None:
    """Choose the Triton kernels where no compiled ones are installed and the user has chosen nothing."""
    if (
        VARIABLE in settings.environment()
        or importlib.util.find_spec(COMPILED) is not None
        or not rocm.concerns(MODULE)
    ):
        return
    settings.export({VARIABLE: "TRUE"})
    patches.write_down(
        f"environment {VARIABLE}", True, "flash-attn has no compiled kernels here: its Triton kernels run"
    )

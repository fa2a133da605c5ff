"""MIOpen tries every kernel for every new shape of a convolution when torch.backends.cudnn.benchmark is set: minutes, where cuDNN takes milliseconds.

https://github.com/unslothai/unsloth/issues/11636 (23 minutes before a first picture), https://github.com/remsky/Kokoro-FastAPI/pull/518,
https://github.com/ROCm/legacy-rocm-build/issues/4729. MIOPEN_FIND_MODE is in MIOpen's manual; who sets it has chosen, and nothing is changed.
"""

# pyright: basic
from __future__ import annotations

from typing import Any

from anywarp import settings
from anywarp.frameworks.torch import patches, scope

VARIABLE = "MIOPEN_FIND_MODE"
FLAGS = "torch.backends.cudnn"

_chosen: list[str] = []


def choose() -> None:
    """Have MIOpen look its kernels up instead of measuring them, unless the user has said how it finds them. It reads the variable when it is loaded."""
    if VARIABLE in settings.environment() or not scope.changes_module(FLAGS):
        return
    settings.export({VARIABLE: "FAST"})
    _chosen.append(VARIABLE)
    patches.write_down(
        f"environment {VARIABLE}", True, "MIOpen looks kernels up instead of measuring all of them for each shape"
    )


def keep_from_searching(torch: Any) -> None:
    """Let `torch.backends.cudnn.benchmark = True` change nothing: on ROCm it asks for a search that the variable cannot prevent."""
    core: Any = getattr(torch, "_C", None)
    if not _chosen or not hasattr(core, "_set_cudnn_benchmark"):
        return
    set_flag = core._set_cudnn_benchmark

    def never(value: Any) -> None:
        """Check what is given as torch does, and leave the flag off."""
        set_flag(value)
        set_flag(False)

    never(False)  # it is on by default in some builds
    reason = f"benchmark stays off: MIOpen would search for minutes; {VARIABLE} says otherwise"
    patches.set_attribute(core, "_set_cudnn_benchmark", never, reason)

"""torch's profiler on `cuda`: Kineto has a part of ours for the devices (native/torch/profiler_activity.cpp), which torch does not know.

Without this change torch measures devices by events around operators, which reach its tables and not its Chrome trace.
"""

# pyright: basic
from __future__ import annotations

from typing import Any

from anywarp.frameworks.torch import load, patches

REASON = "Kineto records what runs on cuda, by a part of anywarp's, and a CPU build does not ask for it"


def _changed(module: Any) -> None:
    """Make `_supported_activities` of a module name CUDA, where the stand-in has its part of Kineto."""
    before = module._supported_activities
    if not hasattr(load.library, "awt_profiles_devices"):
        return

    def _supported_activities() -> set[Any]:
        return {*before(), module.ProfilerActivity.CUDA}

    patches.set_attribute(module, "_supported_activities", _supported_activities, REASON)


for name in ("torch.autograd", "torch.autograd.profiler", "torch.profiler"):
    patches.when_imported(name)(_changed)

"""The number of devices before CUDA is used: a CUDA machine's NVML tells it without the driver, which a fork would then forbid.

Launchers ask for it and fork afterwards (accelerate's `notebook_launcher`, torch.multiprocessing with start method fork).
"""

# pyright: basic
from __future__ import annotations

from typing import Any

from anywarp import settings
from anywarp.frameworks.torch import patches


def _count() -> int:
    """Return the number of devices, or -1 where torch shall ask the driver instead, as torch's own function does."""
    try:
        return settings.DEVICES.get()
    except settings.SettingError:
        return -1


@patches.when_imported("torch.cuda")
def _counted(module: Any) -> None:
    if hasattr(module, "_raw_device_count_nvml"):
        patches.set_attribute(
            module, "_raw_device_count_nvml", _count, "there is no NVML library; asking the driver ends forking"
        )

"""JAX and its plugin for CUDA: it looks for NVIDIA's device files before it asks the driver, which is ours.

XLA is told how to choose (`xla.py`). Everything else of JAX runs as it is: XLA's PTX is compiled by us, and NVIDIA's libraries are answered by ours.
"""

# pyright: basic
from __future__ import annotations

import sys
from functools import cache
from typing import Any

from anywarp import settings
from anywarp.diagnostics import AnywarpError
from anywarp.frameworks import watching, xla
from anywarp.frameworks.torch import patches

LOOKS = "jax._src.hardware_utils"
"""The module that looks for /dev/nvidia0."""

LIB = "jax._src.lib"
"""The module that knows a toolkit of CUDA: that of CUDA_ROOT, or of NVIDIA's packages."""

BRIDGE = "jax._src.xla_bridge"
"""The module that starts XLA, and knows for which platforms it can."""

DATA_DIR = "--xla_gpu_cuda_data_dir"
"""XLA's own option for the same."""


def see_a_device(module: Any) -> None:
    """Let the module that looks for device files see one, and tell XLA how to choose."""
    if not hasattr(module, "has_visible_nvidia_gpu"):
        return
    module.has_visible_nvidia_gpu = has_visible_nvidia_gpu
    patches.write_down(f"{LOOKS}.has_visible_nvidia_gpu", False, "our driver has a device, but no device file")
    xla.choose_at_once()


def has_visible_nvidia_gpu() -> bool:
    """Say that there is a device. JAX asks when it starts XLA for CUDA; who computes elsewhere needs none of this."""
    name_a_toolkit()
    return True


@cache
def name_a_toolkit() -> None:
    """Tell JAX of our folder that is laid out as a toolkit, where XLA finds libdevice and ptxas, unless XLA_FLAGS names one.

    JAX hands the folder to XLA with each compilation. XLA_FLAGS would be too late: they are read when another device starts.
    CUDA_ROOT and NVIDIA's packages, which JAX would take, bring a ptxas whose machine code we cannot run.
    """
    lib: Any = sys.modules.get(LIB)
    if not hasattr(lib, "cuda_path") or DATA_DIR in settings.environment().get("XLA_FLAGS", ""):
        return
    # JAX also asks where its plugin for CUDA is not installed, to say that.
    if "cuda" not in getattr(sys.modules.get(BRIDGE), "_backend_factories", {"cuda"}):
        return
    from anywarp.toolchain import cuda_home

    try:
        lib.cuda_path = str(cuda_home.make_with_libdevice())
    except AnywarpError as error:
        print(f"anywarp: {error.diagnostic.as_text()}", file=sys.stderr)
        return
    patches.write_down(
        f"{LIB}.cuda_path", False, "XLA links our mathematical functions (libdevice) and starts our ptxas"
    )


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(after={LOOKS: see_a_device}))

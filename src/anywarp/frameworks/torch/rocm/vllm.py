"""vLLM takes AITER's products of 4 bits for there wherever AITER is, and stops on every GPU but a gfx950: "MXFP4 quantization is not supported on gfx942".

https://github.com/vllm-project/vllm/issues/34641 (0.15, 0.16). The variable is vLLM's own, and off is what later releases choose there themselves.
"""

from __future__ import annotations

from anywarp import settings
from anywarp.devices.hip import topology
from anywarp.frameworks import watching
from anywarp.frameworks.torch import patches, rocm

MODULE = "vllm"
VARIABLE = "VLLM_ROCM_USE_AITER_FP4BMM"


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(before={MODULE: _choose}))


def _choose() -> None:
    gpus = {gpu.architecture for gpu in topology.processors(topology.NODES)}
    if not gpus or "gfx950" in gpus or VARIABLE in settings.environment() or not rocm.concerns(MODULE):
        return
    settings.export({VARIABLE: "0"})
    patches.write_down(f"environment {VARIABLE}", True, f"{', '.join(sorted(gpus))} has no products of 4 bits")

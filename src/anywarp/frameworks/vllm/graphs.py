"""CUDA graphs over several devices: compiled code with collectives in it is run outside of graphs.

A compiled function is one node of a graph, run by a thread that may not call CUDA (`frameworks/torch/compile/captured.py`; on a card its kernels and NCCL's would be
nodes of their own), so its replay would end with CUDA_ERROR_NOT_PERMITTED. Without compilation the collectives are nodes, and graphs stay.
"""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anywarp.frameworks.torch import patches

REASON = "a graph's compiled functions cannot start collectives here: compiled models over several devices run without graphs"


def without_compiled_collectives(real: Callable[..., None]) -> classmethod:
    """Return `check_and_update_config` of vLLM's platform that turns graphs off, as enforce_eager does, where a model is compiled and divided among devices."""

    def check_and_update_config(cls: Any, vllm_config: Any) -> None:
        real.__func__(cls, vllm_config)  # type: ignore[attr-defined]
        compilation = vllm_config.compilation_config
        if (
            vllm_config.parallel_config.tensor_parallel_size == 1
            or not compilation.mode
            or not compilation.cudagraph_mode
        ):
            return
        compilation.cudagraph_mode = type(compilation.cudagraph_mode).NONE
        compilation.max_cudagraph_capture_size, compilation.cudagraph_capture_sizes = 0, []
        patches.write_down("compilation_config.cudagraph_mode=NONE", False, REASON)

    return classmethod(check_and_update_config)

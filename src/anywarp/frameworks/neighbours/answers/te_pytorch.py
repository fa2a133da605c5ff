"""What programs import from `transformer_engine.pytorch`: its layers, 8 bits, checkpointing and graphs."""

# pyright: basic
from __future__ import annotations

import torch

from anywarp.frameworks.neighbours.answers import te_attention, te_fp8, te_module, te_transformer
from anywarp.frameworks.neighbours.answers.te_attention import *  # noqa: F403
from anywarp.frameworks.neighbours.answers.te_distributed import CudaRNGStatesTracker, checkpoint
from anywarp.frameworks.neighbours.answers.te_fp8 import *  # noqa: F403
from anywarp.frameworks.neighbours.answers.te_module import *  # noqa: F403
from anywarp.frameworks.neighbours.answers.te_transformer import *  # noqa: F403

__all__ = [*te_attention.__all__, *te_fp8.__all__, *te_module.__all__, *te_transformer.__all__]  # pyright: ignore
__all__ += ["CudaRNGStatesTracker", "checkpoint", "is_bf16_available", "make_graphed_callables"]


def is_bf16_available(return_reason=False):
    """Say that there is bfloat16."""
    return (True, "") if return_reason else True


def make_graphed_callables(
    modules, sample_args, num_warmup_iters=3, allow_unused_input=False, fp8_enabled=False, enabled=False, **more
):
    """Return torch's graphed callables; in 8 bits they would need histories on the device."""
    if fp8_enabled or enabled:
        raise NotImplementedError("make_graphed_callables with 8 bits is not served by anywarp")
    if any(value is not None for value in more.values()):
        raise NotImplementedError(f"make_graphed_callables: {next(iter(more))} is not served by anywarp")
    return torch.cuda.make_graphed_callables(modules, sample_args, num_warmup_iters, allow_unused_input)

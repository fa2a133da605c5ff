"""What programs name of Transformer Engine's operators, routers and tensors when they are imported, and seldom use: it is refused, by name, when it is used."""

# pyright: basic
from __future__ import annotations

from typing import Any

import torch

OPERATORS = (
    "AllGather", "AllReduce", "BasicLinear", "Bias", "FusibleOperation", "GEGLU", "GELU", "LayerNorm", "Linear", "Quantize", "ReGLU", "ReLU", "ReduceScatter",
    "RMSNorm", "Sequential", "SiLU", "SwiGLU",
)  # fmt: skip
ROUTERS = ("fused_compute_score_for_moe_aux_loss", "fused_moe_aux_loss", "fused_topk_with_score_function")

__all__ = [*OPERATORS, *ROUTERS, "QuantizedTensor"]  # pyright: ignore


def _operator(name: str) -> type:
    def refuse(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(
            f"te.ops.{name} is not served by anywarp; the layers of transformer_engine.pytorch are"
        )

    return type(name, (torch.nn.Module,), {"__init__": refuse, "__doc__": "Refused when it is made."})


def _router(name: str):
    def refuse(*_: Any, **__: Any) -> None:
        raise NotImplementedError(f"{name} is not served by anywarp; leave fused routing off")

    refuse.__name__ = name
    return refuse


globals().update({name: _operator(name) for name in OPERATORS})
globals().update({name: _router(name) for name in ROUTERS})


class QuantizedTensor(torch.Tensor):
    """A tensor in 8 bits, of which there are none: parameters stay in their own type."""

"""What vLLM does with logits by kernels of its own."""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def apply_repetition_penalties_(
    logits: Tensor, prompt_mask: Tensor, output_mask: Tensor, repetition_penalties: Tensor
) -> None:
    """Divide positive logits of tokens that were seen, and multiply the others, by the penalty: logits and masks are (requests, words)."""
    penalties = torch.where(prompt_mask | output_mask, repetition_penalties.unsqueeze(-1), 1.0)
    logits.copy_(torch.where(logits > 0, logits / penalties, logits * penalties))


KERNELS: dict[str, Callable[..., Any]] = {"_C::apply_repetition_penalties_": apply_repetition_penalties_}

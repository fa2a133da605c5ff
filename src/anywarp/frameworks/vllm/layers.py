"""vLLM's layers over torch on the CPU: normalisations, gated activations, rotary positions.

Each is computed in float32 and rounded once to the type of its result, unless vLLM's own definition in Python rounds in between.
"""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def normalised(x: Tensor, weight: Tensor | None, epsilon: float) -> Tensor:
    """Return x / sqrt(mean(x^2) + epsilon) over the last dimension, rounded to the type of `x`, times `weight`."""
    wide = x.float()
    unit = (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + epsilon)).to(x.dtype)
    return unit if weight is None else unit * weight


def rms_norm(result: Tensor, input: Tensor, weight: Tensor | None, epsilon: float) -> None:
    """Write the RMS norm of `input` (..., hidden) to `result`."""
    result.copy_(normalised(input, weight, epsilon).view_as(result))


def fused_add_rms_norm(input: Tensor, residual: Tensor, weight: Tensor | None, epsilon: float) -> None:
    """Add `input` to `residual`, and write the sum's RMS norm to `input`."""
    residual.add_(input)
    input.copy_(normalised(residual, weight, epsilon))


def _gated(activation: Callable[[Tensor], Tensor], gate_first: bool = True) -> Callable[..., None]:
    def kernel(result: Tensor, input: Tensor) -> None:
        first, second = input.chunk(2, -1)
        gate, up = (first, second) if gate_first else (second, first)
        result.copy_(activation(gate) * up)

    return kernel


def _plain(activation: Callable[[Tensor], Tensor]) -> Callable[..., None]:
    def kernel(result: Tensor, input: Tensor) -> None:
        result.copy_(activation(input.float()))

    return kernel


def _gelu_tanh(x: Tensor) -> Tensor:
    return functional.gelu(x, approximate="tanh")


def fatrelu_and_mul(result: Tensor, input: Tensor, threshold: float) -> None:
    """Write where(gate > threshold, gate, 0) * up; the halves of `input` are gate and up."""
    gate, up = input.chunk(2, -1)
    result.copy_(functional.threshold(gate, threshold, 0.0) * up)


def silu_and_mul_with_clamp(result: Tensor, input: Tensor, limit: float, alpha: float = 1.0, beta: float = 0.0) -> None:
    """Write gate * sigmoid(alpha * gate) * (up + beta), gate at most `limit`, up within it."""
    gate, up = (half.float() for half in input.chunk(2, -1))
    gate = gate.clamp(max=limit)
    result.copy_(gate * torch.sigmoid(alpha * gate) * (up.clamp(-limit, limit) + beta))


def swigluoai_and_mul(result: Tensor, input: Tensor, alpha: float = 1.702, limit: float = 7.0) -> None:
    """Write the same with beta 1; gate and up alternate in `input`."""
    gate, up = input[..., ::2].float().clamp(max=limit), input[..., 1::2].float().clamp(-limit, limit)
    result.copy_((up + 1) * (gate * torch.sigmoid(alpha * gate)))


def situ_and_mul(result: Tensor, input: Tensor, beta: float = 1.0, linear_beta: float = -1.0) -> None:
    """Write beta * tanh(gate / beta) * sigmoid(gate) * up, up clipped softly where `linear_beta` is positive."""
    gate, up = (half.float() for half in input.chunk(2, -1))
    if linear_beta > 0:
        up = linear_beta * torch.tanh(up / linear_beta)
    result.copy_(beta * torch.tanh(gate / beta) * torch.sigmoid(gate) * up)


def rotary_embedding(
    positions: Tensor,
    query: Tensor,
    key: Tensor | None,
    head_size: int,
    cos_sin_cache: Tensor,
    is_neox: bool,
    rope_dim_offset: int = 0,
    inverse: bool = False,
) -> None:
    """Rotate `query` and `key` in place.

    positions: whole numbers, (tokens) or (batch, tokens); query, key: (..., heads * head_size) or (..., heads, head_size);
    cos_sin_cache: (positions, rotated), cosines in the first half of a row. Pairs are (i, i + rotated / 2) for NeoX, else (2i, 2i + 1).
    """
    table = cos_sin_cache[positions.reshape(-1)].float()
    cosine, sine = (half.unsqueeze(1) for half in table.chunk(2, -1))
    if inverse:
        sine = -sine
    width = cos_sin_cache.shape[-1]
    for tensor in (query, key):
        if tensor is None:
            continue
        heads = tensor.unflatten(-1, (-1, head_size)) if _flat(tensor, positions) else tensor
        heads = heads.flatten(0, 1) if positions.dim() == 2 else heads
        part = heads[..., rope_dim_offset : rope_dim_offset + width]
        first, second = part.chunk(2, -1) if is_neox else (part[..., ::2], part[..., 1::2])
        turned = first * cosine - second * sine, second * cosine + first * sine
        first.copy_(turned[0])
        second.copy_(turned[1])


def vocab_parallel_embedding(
    out: Tensor,
    input_ids: Tensor,
    weight: Tensor,
    org_vocab_start_index: int,
    org_vocab_end_index: int,
    num_org_vocab_padding: int,
    added_vocab_start_index: int,
    added_vocab_end_index: int,
) -> None:
    """Write the rows of this share of a vocabulary, and zeros for words of other shares: input_ids (words), weight (rows, hidden).

    Rows are those of the first range, padding, and those of the second range.
    """
    first = (input_ids >= org_vocab_start_index) & (input_ids < org_vocab_end_index)
    second = (input_ids >= added_vocab_start_index) & (input_ids < added_vocab_end_index)
    before = org_vocab_end_index - org_vocab_start_index + num_org_vocab_padding
    rows = torch.where(first, input_ids - org_vocab_start_index, input_ids - added_vocab_start_index + before)
    known = first | second
    out.copy_(weight[torch.where(known, rows, 0).long()].masked_fill_(~known.unsqueeze(-1), 0))


def _flat(tensor: Tensor, positions: Tensor) -> bool:
    return tensor.dim() == positions.dim() + 1


KERNELS: dict[str, Callable[..., Any]] = {
    "_C::rms_norm": rms_norm,
    "_C::fused_add_rms_norm": fused_add_rms_norm,
    "_C::rotary_embedding": rotary_embedding,
    "_C::vocab_parallel_embedding": vocab_parallel_embedding,
    "_C::silu_and_mul": _gated(functional.silu),
    "_C::mul_and_silu": _gated(functional.silu, gate_first=False),
    "_C::gelu_and_mul": _gated(functional.gelu),
    "_C::gelu_tanh_and_mul": _gated(_gelu_tanh),
    "_C::fatrelu_and_mul": fatrelu_and_mul,
    "_C::silu_and_mul_with_clamp": silu_and_mul_with_clamp,
    "_C::swigluoai_and_mul": swigluoai_and_mul,
    "_C::situ_and_mul": situ_and_mul,
    "_C::gelu_new": _plain(_gelu_tanh),
    "_C::gelu_fast": _plain(_gelu_tanh),
    "_C::gelu_quick": _plain(lambda x: x * torch.sigmoid(1.702 * x)),
    "_C::gelu_tanh": _plain(_gelu_tanh),
    "_C::relu_squared": _plain(lambda x: torch.relu(x).square()),
}

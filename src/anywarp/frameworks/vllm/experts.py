"""Mixtures of experts: the choice of experts, and the order of tokens by expert that vLLM's Triton kernels want."""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def _choose(
    scores: Tensor, weights: Tensor, indices: Tensor, rows: Tensor, renormalize: bool, bias: Tensor | None
) -> None:
    chosen = torch.topk(scores if bias is None else scores + bias.float(), weights.shape[-1], -1)[1]
    found = scores.gather(-1, chosen)
    if renormalize:
        found = found / found.sum(-1, keepdim=True).clamp_min(torch.finfo(torch.float32).tiny)
    weights.copy_(found)
    indices.copy_(chosen)
    tokens, k = weights.shape
    rows.copy_(torch.arange(k)[None, :] * tokens + torch.arange(tokens)[:, None])


def topk_softmax(
    topk_weights: Tensor,
    topk_indices: Tensor,
    token_expert_indices: Tensor,
    gating_output: Tensor,
    renormalize: bool,
    bias: Tensor | None = None,
    is_padding: Tensor | None = None,
) -> None:
    """Write each token's k most probable experts and their probabilities: (tokens, k), of logits (tokens, experts).

    `bias` takes part in the choice alone. Tokens that are padding get no expert: -1, and the weight 0.
    """
    scores = torch.softmax(gating_output.float(), -1)
    _choose(scores, topk_weights, topk_indices, token_expert_indices, renormalize, bias)
    _mark_padding(topk_weights, topk_indices, is_padding)


def topk_sigmoid(
    topk_weights: Tensor,
    topk_indices: Tensor,
    token_expert_indices: Tensor,
    gating_output: Tensor,
    renormalize: bool,
    bias: Tensor | None = None,
    routed_scaling_factor: float = 1.0,
    is_padding: Tensor | None = None,
) -> None:
    """Do the same with the logits' sigmoid, times `routed_scaling_factor`."""
    scores = torch.sigmoid(gating_output.float())
    _choose(scores, topk_weights, topk_indices, token_expert_indices, renormalize, bias)
    topk_weights.mul_(routed_scaling_factor)
    _mark_padding(topk_weights, topk_indices, is_padding)


def _mark_padding(weights: Tensor, indices: Tensor, is_padding: Tensor | None) -> None:
    """Give tokens that are padding no expert, -1, as vLLM's own routers in Triton do."""
    if is_padding is not None:
        weights.masked_fill_(is_padding.unsqueeze(-1), 0)
        indices.masked_fill_(is_padding.unsqueeze(-1), -1)


def moe_sum(input: Tensor, output: Tensor, topk_ids: Tensor | None = None, expert_map: Tensor | None = None) -> None:
    """Write the sum over the experts: input (tokens, k, hidden), output (tokens, hidden).

    With `topk_ids`, (tokens, k), experts below 0 and those that `expert_map` puts elsewhere (-1) are left out: nobody has computed them.
    """
    wide = input.float()
    if topk_ids is not None:
        here = topk_ids >= 0
        if expert_map is not None:
            here = here & (expert_map[topk_ids.clamp_min(0).long()] >= 0)
        wide = wide.masked_fill(~here.unsqueeze(-1), 0)
    output.copy_(wide.sum(1))


def moe_align_block_size(
    topk_ids: Tensor,
    num_experts: int,
    block_size: int,
    sorted_token_ids: Tensor,
    experts_ids: Tensor,
    num_tokens_post_pad: Tensor,
    maybe_expert_map: Tensor | None = None,
    scatter_idx: Tensor | None = None,
) -> None:
    """Order the choices by expert, each expert's padded to whole blocks.

    topk_ids: (tokens, k). sorted_token_ids gets flat places in it, and their number where there is none; experts_ids the expert of each
    block; num_tokens_post_pad how many places are used. NotImplementedError for what is scattered.
    """
    if scatter_idx is not None:
        raise NotImplementedError("_moe_C::moe_align_block_size: anywarp writes no scatter_idx")
    flat = topk_ids.reshape(-1).long()
    if maybe_expert_map is not None:
        flat = torch.where(
            (flat >= 0) & (flat < num_experts), maybe_expert_map[flat.clamp(0, num_experts - 1)].long(), -1
        )
    order = torch.argsort(flat, stable=True)
    order = order[flat[order] >= 0]
    counts = torch.bincount(flat[flat >= 0], minlength=num_experts)
    padded = (counts + block_size - 1) // block_size * block_size
    starts, ends = padded.cumsum(0) - padded, counts.cumsum(0)
    experts = flat[order]
    places = starts[experts] + torch.arange(order.numel()) - (ends - counts)[experts]
    total = int(padded.sum())
    sorted_token_ids.fill_(flat.numel())
    sorted_token_ids[places] = order.to(sorted_token_ids.dtype)
    experts_ids.fill_(-1 if maybe_expert_map is not None else 0)
    blocks = torch.repeat_interleave(torch.arange(num_experts), padded // block_size)
    experts_ids[: blocks.numel()] = blocks.to(experts_ids.dtype)
    num_tokens_post_pad.fill_(total)


KERNELS: dict[str, Callable[..., Any]] = {
    "_moe_C::topk_softmax": topk_softmax,
    "_moe_C::topk_sigmoid": topk_sigmoid,
    "_moe_C::moe_sum": moe_sum,
    "_moe_C::moe_align_block_size": moe_align_block_size,
}

"""FlashAttention's forward function for sequences of several lengths, over torch on the CPU; keys and values may lie in pages."""

# pyright: basic
from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from anywarp.frameworks.attention import attend_with_sums, window


@dataclass(frozen=True)
class Rules:
    """What bounds and bends the scores; positions are counted from the ends of queries and keys."""

    scale: float
    causal: bool
    left: int
    right: int
    softcap: float

    @property
    def everything(self) -> bool:
        """Tell whether a query sees every key."""
        return not self.causal and self.left < 0 and self.right < 0


def varlen_fwd(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor | None,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    seqused_k: Tensor | None,
    leftpad_k: Tensor | None,
    block_table: Tensor | None,
    alibi_slopes: Tensor | None,
    max_seqlen_q: int,
    max_seqlen_k: int,
    p_dropout: float,
    softmax_scale: float,
    zero_tensors: bool,
    is_causal: bool,
    window_size_left: int,
    window_size_right: int,
    softcap: float,
    return_softmax: bool,
    num_splits: int,
    gen: Any,
) -> list[Tensor]:
    """Return the output (queries, heads, size) and the log-sum-exp of the scores (heads, queries) in float32.

    q: (queries, heads, size); k, v: (keys, kv heads, size), or pages (blocks, block size, kv heads, size) where there is a block table.
    Queries stand at the end of their keys. NotImplementedError for dropout and keys padded on the left.
    """
    if p_dropout > 0 or return_softmax:
        raise NotImplementedError("_vllm_fa2_C::varlen_fwd: anywarp has no attention with dropout for vLLM")
    if leftpad_k is not None:
        raise NotImplementedError("_vllm_fa2_C::varlen_fwd: anywarp reads no keys that are padded on the left")
    rules = Rules(softmax_scale, is_causal, window_size_left, window_size_right, softcap)
    result = torch.empty_like(q) if out is None else out
    sums = torch.empty(q.shape[1], q.shape[0], dtype=torch.float32)
    starts = cu_seqlens_q.tolist()
    starts_k = cu_seqlens_k.tolist() if block_table is None else []
    used = seqused_k.tolist() if seqused_k is not None else [b - a for a, b in itertools.pairwise(starts_k)]
    for i, length in enumerate(used):
        rows = slice(starts[i], starts[i + 1])
        if rows.start == rows.stop:
            continue
        if block_table is None:
            keys, values = (each[starts_k[i] : starts_k[i] + length] for each in (k, v))
        else:
            pages = block_table[i, : -(-length // k.shape[1])].long()
            keys, values = (each[pages].flatten(0, 1)[:length] for each in (k, v))
        slopes = alibi_slopes if alibi_slopes is None or alibi_slopes.dim() == 1 else alibi_slopes[i]
        result[rows], sums[:, rows] = one(q[rows], keys, values, rules, slopes)
    return [result, sums]


def varlen_fwd_shapes(q: Tensor, k: Tensor, v: Tensor, out: Tensor | None, *_rest: Any) -> list[Tensor]:
    """Return what `varlen_fwd` does, as to shapes."""
    result = torch.empty_like(q) if out is None else torch.empty_like(out)
    return [result, q.new_empty((q.shape[1], q.shape[0]), dtype=torch.float32)]


def one(q: Tensor, k: Tensor, v: Tensor, rules: Rules, slopes: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return output (queries, heads, size) and log-sum-exp (heads, queries) of one sequence.

    Rows that see no key have the output 0 and the sum inf, as FlashAttention has it.
    """
    queries, heads, size = q.shape
    keys, groups = k.shape[0], k.shape[1]
    if keys == 0:
        return torch.zeros_like(q), torch.full((heads, queries), torch.inf)
    share = heads // groups
    # (groups, heads of a group, queries, size): each group of heads reads the same keys, which are not copied.
    q = q.unflatten(1, (groups, share)).permute(1, 2, 0, 3)
    k, v = (each.transpose(0, 1).unsqueeze(1) for each in (k, v))
    mask = None if rules.everything and slopes is None else seen(queries, keys, rules)
    if mask is not None and queries == 1 and slopes is None and bool(mask.all()):
        mask = None
    if rules.softcap > 0 or slopes is not None or (mask is not None and not bool(mask.any(-1).all())):
        bias = None if slopes is None else -slopes.float().reshape(groups, share, 1, 1) * distances(queries, keys).abs()
        out, sums = attend_with_sums(q, k, v, mask, bias, scale=rules.scale, softcap=rules.softcap)
    else:
        if mask is None:  # heads of a group as rows
            q = q.reshape(groups, 1, share * queries, size)
        else:
            mask = torch.zeros(mask.shape, dtype=q.dtype).masked_fill_(~mask, -torch.inf)
            k, v = (each.expand(-1, share, -1, -1) for each in (k, v))
        out, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            q, k, v, 0.0, False, attn_mask=mask, scale=rules.scale
        )
    out = out.reshape(heads, queries, size).transpose(0, 1)
    return out, sums.reshape(heads, queries).float()


def distances(queries: int, keys: int) -> Tensor:
    """Return how far each key (second dimension) stands behind the own place of each query (first)."""
    return torch.arange(keys)[None, :] - (torch.arange(queries)[:, None] + (keys - queries))


def seen(queries: int, keys: int, rules: Rules) -> Tensor:
    """Return which key (second dimension) which query (first) sees."""
    return window(distances(queries, keys), rules.causal, rules.left, rules.right)


def merge_attn_states(
    output: Tensor,
    output_lse: Tensor | None,
    prefix_output: Tensor,
    prefix_lse: Tensor,
    suffix_output: Tensor,
    suffix_lse: Tensor,
    prefill_tokens_with_context: int | None = None,
    output_scale: Tensor | None = None,
) -> None:
    """Write the attention over two sets of keys, of that over each: outputs (tokens, heads, size), sums (heads, tokens).

    Tokens from `prefill_tokens_with_context` on have no prefix. NotImplementedError for a result of 8 bits.
    """
    if output_scale is not None:
        raise NotImplementedError("_C::merge_attn_states: anywarp merges no attention into 8-bit floats")
    # inf is FlashAttention's sum over no keys.
    first, second = (torch.where(each == torch.inf, -torch.inf, each.float()) for each in (prefix_lse, suffix_lse))
    if prefill_tokens_with_context is not None:
        first[:, prefill_tokens_with_context:] = -torch.inf
    total = torch.logaddexp(first, second)
    shares = [torch.exp(each - total).nan_to_num(0.0).transpose(0, 1).unsqueeze(-1) for each in (first, second)]
    parts = [
        torch.where(share > 0, share * each.float(), 0.0)
        for share, each in zip(shares, (prefix_output, suffix_output), strict=True)
    ]
    output.copy_(parts[0] + parts[1])
    if output_lse is not None:
        output_lse.copy_(total)


KERNELS: dict[str, Callable[..., Any]] = {
    "_vllm_fa2_C::varlen_fwd": varlen_fwd,
    "_C::merge_attn_states": merge_attn_states,
}

SHAPES: dict[str, Callable[..., Any]] = {"_vllm_fa2_C::varlen_fwd": varlen_fwd_shapes}

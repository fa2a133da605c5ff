"""FlashAttention's functions as of 2.8 (its README and the comments of flash_attn_interface.py say what they compute).

Tensors are (batch, rows, heads, width), or (all rows, heads, width) with the beginnings of the sequences; causal masks and windows end at the last
row and the last column together. What cannot be computed raises NotImplementedError with the name of the argument.
"""

# pyright: basic
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from anywarp.frameworks.attention import attend, attend_with_sums, window
from anywarp.frameworks.neighbours.answers.flash_attn_rotary import rotate

__all__ = [
    "flash_attn_func",
    "flash_attn_kvpacked_func",
    "flash_attn_qkvpacked_func",
    "flash_attn_varlen_func",
    "flash_attn_varlen_kvpacked_func",
    "flash_attn_varlen_qkvpacked_func",
    "flash_attn_with_kvcache",
]

PAGE = 256
"""Rows of a page of a cache are a multiple of this."""


def flash_attn_func(
    q: Tensor, k: Tensor, v: Tensor, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
    alibi_slopes=None, deterministic=False, return_attn_probs=False,
) -> Any:  # fmt: skip
    """Return attention of (batch, rows, heads, width) tensors; k and v may have fewer heads.

    With `return_attn_probs` also the logarithms of the rows' sums and an empty tensor. `deterministic` is what every gradient here is.
    """
    _check(q, k, v, softcap, dropout_p, return_attn_probs)
    result = _attend(q, k, v, dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes, return_attn_probs)
    return (*result, _no_probabilities(q)) if return_attn_probs else result[0]


def flash_attn_kvpacked_func(q: Tensor, kv: Tensor, *given, **named):
    """Return attention where k and v are kv[:, :, 0] and kv[:, :, 1]."""
    k, v = kv.unbind(2)
    return flash_attn_func(q, k, v, *given, **named)


def flash_attn_qkvpacked_func(qkv: Tensor, *given, **named):
    """Return attention where q, k and v are qkv[:, :, 0] to qkv[:, :, 2]."""
    q, k, v = qkv.unbind(2)
    return flash_attn_func(q, k, v, *given, **named)


def flash_attn_varlen_func(
    q: Tensor, k: Tensor, v: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, max_seqlen_q: int, max_seqlen_k: int, dropout_p=0.0,
    softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None, deterministic=False, return_attn_probs=False,
    block_table=None,
):  # fmt: skip
    """Return attention within each sequence of (all rows, heads, width) tensors; with `block_table` k and v are pages, of a cache.

    Rows beyond the last sequence are zero. The sums' logarithms are (heads, all rows).
    """
    _check(q, k, v, softcap, dropout_p, return_attn_probs)
    outs, sums = [], []
    for number, (rows, columns) in enumerate(zip(_spans(cu_seqlens_q), _spans(cu_seqlens_k), strict=True)):
        if block_table is None:
            part_k, part_v = k[columns], v[columns]
        else:
            many = columns.stop - columns.start
            part_k, part_v = (_pages(each, block_table[number : number + 1], many)[0] for each in (k, v))
        slopes = (
            alibi_slopes[number : number + 1] if alibi_slopes is not None and alibi_slopes.dim() == 2 else alibi_slopes
        )
        out, part = _attend(
            q[rows][None], part_k[None], part_v[None], dropout_p, softmax_scale, causal, window_size, softcap, slopes, return_attn_probs
        )  # fmt: skip
        outs.append(out[0])
        sums.append(part[0] if part is not None else None)
    rest = q.shape[0] - sum(each.shape[0] for each in outs)
    out = torch.cat([*outs, q.new_zeros(rest, *q.shape[1:-1], v.shape[-1])])
    if not return_attn_probs:
        return out
    ends = [each for each in sums if each is not None]
    return out, torch.cat([*ends, torch.zeros(q.shape[1], rest, device=q.device)], 1), _no_probabilities(q)


def flash_attn_varlen_kvpacked_func(q: Tensor, kv: Tensor, *given, **named):
    """Return attention within sequences where k and v are kv[:, 0] and kv[:, 1]."""
    k, v = kv.unbind(1)
    return flash_attn_varlen_func(q, k, v, *given, **named)


def flash_attn_varlen_qkvpacked_func(qkv: Tensor, cu_seqlens: Tensor, max_seqlen: int, *given, **named):
    """Return attention within sequences where q, k and v are qkv[:, 0] to qkv[:, 2]."""
    q, k, v = qkv.unbind(1)
    return flash_attn_varlen_func(q, k, v, cu_seqlens, cu_seqlens, max_seqlen, max_seqlen, *given, **named)


@torch.no_grad()
def flash_attn_with_kvcache(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, k=None, v=None, rotary_cos=None, rotary_sin=None, cache_seqlens=None, cache_batch_idx=None,
    cache_leftpad=None, block_table=None, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, rotary_interleaved=True,
    alibi_slopes=None, num_splits=0, return_softmax_lse=False,
):  # fmt: skip
    """Write k and v into the cache behind what is in it, and return the attention of q over all of it; no gradients.

    A cache is (batch, rows, heads, width), or pages of it named by `block_table`, (batch, pages). `cache_seqlens` says how much is in it.
    `num_splits` is how a card divides the work, and changes no result.
    """
    _check(q, k_cache, v_cache, softcap, 0.0, False)
    if rotary_cos is not None and cache_leftpad is not None:
        raise NotImplementedError(
            "flash_attn_with_kvcache: rotary_cos together with cache_leftpad is not served by anywarp"
        )
    if block_table is not None and (cache_batch_idx is not None or cache_leftpad is not None):
        raise RuntimeError("Paged KVcache does not support cache_batch_idx, nor cache_leftpad")
    if block_table is not None and k_cache.shape[1] % PAGE:
        raise RuntimeError(f"Paged KV cache block size must be divisible by {PAGE}")
    if (k is None) != (v is None) or (rotary_cos is None) != (rotary_sin is None):
        raise RuntimeError("k and v, and rotary_cos and rotary_sin, must be passed together")
    batch, rows = q.shape[:2]
    whole = k_cache.shape[1] if block_table is None else block_table.shape[1] * k_cache.shape[1]
    if cache_seqlens is None:
        cache_seqlens = whole
    lengths = torch.as_tensor(cache_seqlens, device=q.device).long().expand(batch)
    if rotary_cos is not None and rotary_sin is not None:
        if k is None:
            raise RuntimeError(
                "If rotary cos/sin are provided, new key / value to be appended to KV cache must also be provided"
            )
        moving = bool(causal) or tuple(window_size) != (-1, -1)
        at = lengths[:, None] + torch.arange(rows, device=q.device) * int(moving)
        q = rotate(q, rotary_cos, rotary_sin, at, rotary_interleaved)
        at = lengths[:, None] + torch.arange(k.shape[1], device=q.device)
        k = rotate(k, rotary_cos, rotary_sin, at, rotary_interleaved)
    if k is not None and v is not None:
        _append(k_cache, k, lengths, cache_batch_idx, block_table)
        _append(v_cache, v, lengths, cache_batch_idx, block_table)
        lengths = lengths + k.shape[1]
    longest = int(lengths.max()) if batch else 0
    if block_table is not None:
        keys, values = (_pages(each, block_table, longest) for each in (k_cache, v_cache))
    else:
        which = slice(None, batch) if cache_batch_idx is None else cache_batch_idx.long()
        keys, values = (each[which, :longest] for each in (k_cache, v_cache))
    column = torch.arange(longest, device=q.device)
    seen = column < lengths[:, None]
    if cache_leftpad is not None:
        seen = seen & (column >= cache_leftpad[:, None])
    # Where a row's own column would be: rows end together with what is in the cache.
    own = lengths[:, None, None] - rows + torch.arange(rows, device=q.device)[:, None]
    seen = (seen[:, None, :] & window(column - own, causal, *window_size))[:, None]
    bias = None if alibi_slopes is None else _slopes(alibi_slopes, (column - own)[:, None])
    both = (q.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2), seen, bias)
    if return_softmax_lse:
        out, sums = attend_with_sums(*both, scale=softmax_scale, softcap=softcap)
        return out.transpose(1, 2), sums
    return attend(*both, scale=softmax_scale, softcap=softcap).transpose(1, 2)


def _check(q: Tensor, k: Tensor, v: Tensor, softcap: float, dropout: float, probabilities: bool) -> None:
    """Refuse what FlashAttention refuses, in its words, and what is not served."""
    if q.dtype not in (torch.float16, torch.bfloat16):
        raise RuntimeError("FlashAttention only support fp16 and bf16 data type")
    for name, each in (("q", q), ("k", k), ("v", v)):
        if each.dtype != q.dtype:
            raise RuntimeError(
                "query and key must have the same dtype" if name == "k" else "query and value must have the same dtype"
            )
        if not each.is_cuda:
            raise RuntimeError(f"{name} must be on CUDA")
    if q.shape[-2] % k.shape[-2]:
        raise RuntimeError("Number of heads in key/value must divide number of heads in query")
    if q.shape[-1] > 256:
        raise RuntimeError("FlashAttention forward only supports head dimension at most 256")
    if softcap and dropout:
        raise RuntimeError("Softcapping does not support dropout for now")
    if probabilities and dropout:
        raise NotImplementedError(
            "return_attn_probs with dropout_p is not served by anywarp: its tensor of dropped probabilities is for tests of its kernels"
        )


def _attend(q, k, v, dropout, scale, causal, sides, softcap, slopes, with_sums) -> tuple[Tensor, Tensor | None]:
    """Attend over (batch, rows, heads, width) tensors; the sums are None unless asked for."""
    rows, columns = q.shape[1], k.shape[1]
    square = causal and rows == columns and tuple(sides) in ((-1, -1), (-1, 0)) and slopes is None and not with_sums
    seen = bias = None
    if not square and (causal or tuple(sides) != (-1, -1) or slopes is not None):
        here = torch.arange(rows, device=q.device)[:, None] + columns - rows
        away = torch.arange(columns, device=q.device) - here
        seen = window(away, causal, *sides)
        bias = None if slopes is None else _slopes(slopes, away)
    both = (q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), seen, bias)
    if with_sums:
        out, sums = attend_with_sums(*both, scale=scale, softcap=softcap, dropout=dropout)
        return out.transpose(1, 2), sums
    out = attend(*both, scale=scale, softcap=softcap, dropout=dropout, square_causal=square)
    return out.transpose(1, 2), None


def _slopes(slopes: Tensor, away: Tensor) -> Tensor:
    """Return what ALiBi adds: the distance by each head's slope, negative; slopes are (heads) or (batch, heads)."""
    return -slopes.float()[..., None, None] * away.abs()


def _spans(beginnings: Tensor) -> Iterator[slice]:
    at = beginnings.tolist()
    return (slice(begin, end) for begin, end in itertools.pairwise(at))


def _pages(cache: Tensor, table: Tensor, rows: int) -> Tensor:
    """Return the first rows of the sequences that pages of a cache make, (batch, rows, heads, width)."""
    size = cache.shape[1]
    needed = table[:, : -(-rows // size)].long().clamp_min(0)
    return cache[needed].flatten(1, 2)[:, :rows]


def _append(cache: Tensor, new: Tensor, lengths: Tensor, which: Tensor | None, table: Tensor | None) -> None:
    """Write new rows into a cache, behind what each sequence has there."""
    at = lengths[:, None] + torch.arange(new.shape[1], device=new.device)
    if table is not None:
        size = cache.shape[1]
        cache[table.long().gather(1, at // size), at % size] = new
        return
    batch = torch.arange(new.shape[0], device=new.device) if which is None else which.long()
    cache[batch[:, None], at] = new


def _no_probabilities(q: Tensor) -> Tensor:
    return torch.empty(0, dtype=q.dtype, device=q.device)

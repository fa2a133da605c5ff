"""Rotary embeddings as FlashAttention's layers have them."""

# pyright: basic
from __future__ import annotations

import torch
from torch import Tensor

from anywarp.frameworks import rotary

__all__ = ["apply_rotary_emb", "apply_rotary_emb_func", "apply_rotary_emb_kv_", "apply_rotary_emb_qkv_"]


def rotate(x: Tensor, cos: Tensor, sin: Tensor, at: Tensor, interleaved: bool) -> Tensor:
    """Return x turned: x is (..., rows, heads, width), cos and sin (positions, half of what is turned), `at` (..., rows) the rows' positions."""
    cos, sin = (rotary.for_both(each[at].float().unsqueeze(-2), interleaved) for each in (cos, sin))
    return rotary.turn(x, cos, sin, interleaved)


def apply_rotary_emb(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    interleaved=False,
    inplace=False,
    seqlen_offsets=0,
    cu_seqlens=None,
    max_seqlen=None,
) -> Tensor:
    """Return x, (batch, rows, heads, width) or with `cu_seqlens` (all rows, heads, width), turned; `inplace` writes it into x."""
    device = x.device
    if cu_seqlens is None:
        at = torch.arange(x.shape[1], device=device).expand(x.shape[0], -1)
        at = at + (seqlen_offsets[:, None].long() if isinstance(seqlen_offsets, Tensor) else seqlen_offsets)
    else:
        begin, lengths = cu_seqlens[:-1].long(), cu_seqlens.diff().long()
        offsets = (
            seqlen_offsets.long() if isinstance(seqlen_offsets, Tensor) else torch.full_like(begin, seqlen_offsets)
        )
        at = torch.arange(x.shape[0], device=device) - torch.repeat_interleave(
            begin - offsets, lengths, output_size=x.shape[0]
        )
    out = rotate(x, cos, sin, at, interleaved)
    return x.copy_(out) if inplace else out


apply_rotary_emb_func = apply_rotary_emb


def apply_rotary_emb_qkv_(
    qkv: Tensor, cos: Tensor, sin: Tensor, cos_k=None, sin_k=None, interleaved=False, seqlen_offsets=0, num_heads_q=None
) -> Tensor:
    """Turn q and k of qkv, (batch, rows, 3, heads, width), in place; keys by `cos_k` and `sin_k` where these are given."""
    if num_heads_q is not None or qkv.dim() != 5:
        raise NotImplementedError(
            "apply_rotary_emb_qkv_: num_heads_q (q, k and v along the heads) is not served by anywarp"
        )
    q, k, v = qkv.unbind(2)
    q = apply_rotary_emb(q, cos, sin, interleaved, False, seqlen_offsets)
    k = apply_rotary_emb(
        k, cos if cos_k is None else cos_k, sin if sin_k is None else sin_k, interleaved, False, seqlen_offsets
    )
    return qkv.copy_(torch.stack([q, k, v], 2))


def apply_rotary_emb_kv_(kv: Tensor, cos: Tensor, sin: Tensor, interleaved=False, seqlen_offsets=0) -> Tensor:
    """Turn k of kv, (batch, rows, 2, heads, width), in place."""
    k, v = kv.unbind(2)
    return kv.copy_(torch.stack([apply_rotary_emb(k, cos, sin, interleaved, False, seqlen_offsets), v], 2))

"""Attention with what FlashAttention and xformers add to torch's: soft caps, windows, slopes, and the logarithm of each row's sum."""

# pyright: basic
from __future__ import annotations

import math

import torch
from torch import Tensor


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    seen: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
    square_causal: bool = False,
) -> Tensor:
    """Return softmax(cap(scale q k') + bias) v; a row that sees nothing is zero.

    Shapes: q (batch, heads, rows, width), k and v (batch, heads or a divisor, columns, width); `seen` (bool) and `bias` broadcast to
    (batch, heads, rows, columns). `square_causal`: rows and columns are as many, and each row sees up to itself.
    """
    if softcap:
        return _explicit(q, k, v, _lower(q, k, seen, square_causal), bias, scale, softcap, dropout)[0]
    nothing = None
    mask = bias
    if seen is not None:
        nothing = ~seen.any(-1, keepdim=True)
        seen = seen | nothing  # such a row sees all, and is dropped below: its gradients stay numbers
        mask = seen if bias is None else torch.where(seen, bias, -torch.inf)
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.to(q.dtype) if q.dtype == torch.float64 else mask.float()
        if q.dtype != mask.dtype:  # a bias as exact as the slopes are, not rounded to the factors' type
            return _explicit(q, k, v, seen, bias, scale, 0.0, dropout, nothing)[0]
    out = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=square_causal and mask is None, scale=scale,
        enable_gqa=q.shape[1] != k.shape[1],
    )  # fmt: skip
    return out if nothing is None else out.masked_fill(nothing, 0.0)


def attend_with_sums(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    seen: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Return the same and, in float32, the logarithm of each row's sum of exponentials, (batch, heads, rows): infinite where a row sees nothing."""
    return _explicit(q, k, v, seen, bias, scale, softcap, dropout)


def window(away: Tensor, causal: bool, left: int, right: int) -> Tensor:
    """Tell which columns a row sees, by how far they stand behind its own; -1 is no limit, and `causal` none behind it."""
    if causal:
        right = 0
    seen = torch.ones_like(away, dtype=torch.bool)
    if right >= 0:
        seen = seen & (away <= right)
    return seen & (away >= -left) if left >= 0 else seen


def _lower(q: Tensor, k: Tensor, seen: Tensor | None, square_causal: bool) -> Tensor | None:
    if not square_causal:
        return seen
    lower = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).tril()
    return lower if seen is None else seen & lower


def _explicit(
    q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None, bias: Tensor | None, scale: float | None, softcap: float, dropout: float,
    nothing: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Compute by the definition, in float32 or better, with the scores in memory."""
    exact = torch.promote_types(q.dtype, torch.float32)
    times = q.shape[1] // k.shape[1]
    wide_k, wide_v = (each.to(exact).repeat_interleave(times, 1) if times > 1 else each.to(exact) for each in (k, v))
    scores = q.to(exact) @ wide_k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias.to(exact)
    if seen is not None:
        if nothing is None:
            nothing = ~seen.any(-1, keepdim=True)
        scores = scores.masked_fill(~(seen | nothing), -torch.inf)
    sums = scores.logsumexp(-1, keepdim=True)
    shares = (scores - sums).exp()
    if nothing is not None:
        shares, sums = shares.masked_fill(nothing, 0.0), sums.masked_fill(nothing, torch.inf)
    if dropout:
        shares = torch.nn.functional.dropout(shares, dropout)
    return (shares @ wide_v).to(q.dtype), sums.squeeze(-1)

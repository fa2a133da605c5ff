"""Rotary embeddings: pairs of the first numbers of each head are turned by an angle of their row (Su et al., RoFormer, section 3.2.2).

A pair is two neighbours where they are interleaved, else number i and number i of the second half.
"""

# pyright: basic
from __future__ import annotations

import torch
from torch import Tensor


def for_both(angles: Tensor, interleaved: bool) -> Tensor:
    """Return what is known for each pair for both of its numbers: (..., n) becomes (..., 2 n)."""
    return torch.stack((angles, angles), -1).flatten(-2) if interleaved else torch.cat((angles, angles), -1)


def turn(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """Return x (..., width) turned in float32; cos and sin, for both numbers of each pair, are as wide as what is turned and broadcast to x otherwise."""
    width = cos.shape[-1]
    turned, rest = x[..., :width].float(), x[..., width:]
    if interleaved:
        other = torch.stack((-turned[..., 1::2], turned[..., ::2]), -1).flatten(-2)
    else:
        one, two = turned.chunk(2, -1)
        other = torch.cat((-two, one), -1)
    return torch.cat(((turned * cos + other * sin).to(x.dtype), rest), -1)

"""FlashAttention 2 (`flash_attn`): attention, caches, padding and rotary embeddings, as its interface of 2.8 has them."""

# pyright: basic
from __future__ import annotations

from collections.abc import Iterator

from anywarp.frameworks.neighbours.answered import Answered
from anywarp.frameworks.neighbours.neighbour import Difference, Ran

ANSWERS = {
    "flash_attn": "flash_attn",
    "flash_attn.flash_attn_interface": "flash_attn",
    "flash_attn.bert_padding": "flash_attn_padding",
    "flash_attn.layers": "holder",
    "flash_attn.layers.rotary": "flash_attn_rotary",
}


def test() -> Iterator[Difference]:
    """Compare causal attention of grouped heads with a window, in bfloat16, with its definition in double precision."""
    import torch

    from anywarp.frameworks.neighbours.answers import flash_attn as ours

    draw = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(2, rows, heads, 16, generator=draw).bfloat16() for rows, heads in ((5, 4), (9, 2), (9, 2)))
    found = ours.flash_attn_func(q.cuda(), k.cuda(), v.cuda(), causal=True, window_size=(3, 0)).cpu().double()
    k, v = (each.double().repeat_interleave(2, 2) for each in (k, v))
    scores = torch.einsum("bihd,bjhd->bhij", q.double(), k) / 4
    at = torch.arange(9) - torch.arange(5)[:, None] - 4
    wanted = torch.einsum("bhij,bjhd->bihd", scores.masked_fill((at > 0) | (at < -3), -torch.inf).softmax(-1), v)
    yield Difference("flash_attn_func", float((found - wanted).abs().max() / wanted.abs().max()), 2e-2)


NEIGHBOUR = Answered(
    name="flash_attn",
    distribution="flash-attn",
    version="2.8.3+anywarp",
    oldest=(2, 1),
    kernels=("flash_attn_2_cuda*.so",),
    answers=ANSWERS,
    ran=(
        Ran(
            "2.8",
            "replaced by",
            "torch's operators, with gradients; names not listed on this page do not exist in it",
            "2026-11-29",
            "tests/frameworks/torch/test_flash_attn.py",
        ),
    ),
    test=test,
)

"""Five kinds of models, small, from fixed seeds: what the recordings in tests/cases/recordings.tar.xz are of. `python zoo.py KIND DTYPE` runs one; `broken` gives its last linear layer a wrong factor.

Weights are drawn by Python's own generator, so that every version of PyTorch has the same ones.
"""

from __future__ import annotations

import random
import sys

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, WORDS = 16, 2, 29
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class Attention(nn.Module):
    def __init__(self, causal: bool):
        super().__init__()
        self.causal, self.qkv, self.proj = causal, nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (HEADS, -1)).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.proj(out.transpose(1, 2).flatten(2))


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.act, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return self.down(self.act(self.up(x)))


class Experts(nn.Module):
    """A layer of experts: each token goes to the two of four that its gate prefers."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(WIDTH, 4), nn.ModuleList(Feed() for _ in range(4))

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(-1).topk(2, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            share = (weights * (chosen == number)).sum(-1, keepdim=True)
            out = out + share * expert(x)
        return out


class Block(nn.Module):
    def __init__(self, causal: bool, feed: nn.Module):
        super().__init__()
        self.norm1, self.attn, self.norm2, self.mlp = nn.LayerNorm(WIDTH), Attention(causal), nn.LayerNorm(WIDTH), feed

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Language(nn.Module):
    def __init__(self, causal: bool, feed: nn.Module, words: int):
        super().__init__()
        self.embed, self.block = nn.Embedding(WORDS, WIDTH), Block(causal, feed)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, words)

    def forward(self, tokens):
        return self.head(self.norm(self.block(self.embed(tokens))))


class Pictures(nn.Module):
    """A small residual network with batch norms and a classifier."""

    def __init__(self):
        super().__init__()
        self.first, self.norm1 = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.second, self.norm2 = nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.act, self.head = nn.ReLU(), nn.Linear(8, 10)

    def forward(self, x):
        x = self.act(self.norm1(self.first(x)))
        x = self.act(x + self.norm2(self.second(x)))
        return self.head(x.mean((2, 3)))


class Diffusion(nn.Module):
    """A block of a UNet: down, up with what was left out, a time added between, group norms and SiLU."""

    def __init__(self):
        super().__init__()
        self.norm, self.act, self.time = nn.GroupNorm(2, 8), nn.SiLU(), nn.Linear(8, 16)
        self.enter, self.down = nn.Conv2d(4, 8, 3, padding=1), nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.up, self.leave = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 4, 3, padding=1)
        self.head = nn.Linear(4, 4)

    def forward(self, x, time):
        kept = self.act(self.norm(self.enter(x)))
        inner = self.down(kept) + self.time(time)[:, :, None, None]
        out = self.leave(torch.cat([self.up(self.act(inner)), kept], 1))
        return self.head(out.movedim(1, -1))


KINDS = {
    "decoder": lambda: Language(True, Feed(), WORDS),
    "encoder": lambda: Language(False, Feed(), 3),
    "experts": lambda: Language(True, Experts(), WORDS),
    "pictures": Pictures,
    "diffusion": Diffusion,
}  # fmt: skip


def build(kind: str, dtype: str) -> nn.Module:
    """Return a model with weights that only its kind and dtype decide."""
    torch.manual_seed(0)
    model, drawn = KINDS[kind](), random.Random(f"{kind} {dtype}")
    with torch.no_grad():
        for name, each in model.named_parameters():
            one = "norm" in name and name.endswith("weight")
            size = 0.2 if each.ndim < 2 else each[0].numel() ** -0.5
            each.copy_(torch.tensor([drawn.gauss(float(one), size) for _ in range(each.numel())]).view_as(each))
    return model.to(DTYPES[dtype]).eval()


def given(kind: str, dtype: str) -> tuple[torch.Tensor, ...]:
    """Return what a model is given."""
    drawn = random.Random(kind)

    def normal(*shape: int) -> torch.Tensor:
        values = [drawn.gauss(0, 1) for _ in range(torch.Size(shape).numel())]
        return torch.tensor(values).view(shape).to(DTYPES[dtype])

    if kind == "pictures":
        return (normal(2, 3, 8, 8),)
    if kind == "diffusion":
        return normal(1, 4, 8, 8), normal(1, 8)
    return (torch.tensor([[drawn.randrange(WORDS) for _ in range(12)]]),)


def run(model: nn.Module, kind: str, dtype: str, device: str = "cpu") -> torch.Tensor:
    """Call a model as the recording did."""
    with torch.no_grad():
        return model.to(device)(*(each.to(device) for each in given(kind, dtype)))


def break_head(model: nn.Module) -> None:
    """Have the last linear layer give three hundredths too much."""
    forward = model.head.forward
    model.head.forward = lambda x: forward(x) * 1.03


def main() -> None:
    kind, dtype, *more = sys.argv[1:]
    model = build(kind, dtype)
    if "broken" in more:
        break_head(model)
    print(tuple(run(model, kind, dtype, "cuda" if "cuda" in more else "cpu").shape))


if __name__ == "__main__":
    main()

"""What recording statistics costs a transformer of 100 million parameters on the processor: with and without, in turns, by processor time.

    python benchmarks/record_overhead.py [--batch 4] [--length 256] [--turns 7]

Prints the median of the ratios of neighbouring turns. The goal is 5 % at most.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional

from anywarp.check.record.plan import Plan
from anywarp.check.record.session import Session
from anywarp.check.record.torch import calls

WIDTH, HEADS, LAYERS, WORDS = 768, 12, 12, 20000


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.act, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (HEADS, -1)).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, -1))
        out = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(out.transpose(1, 2).flatten(2))
        return x + self.down(self.act(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.blocks = nn.Embedding(WORDS, WIDTH), nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def seconds(work) -> float:
    before = time.process_time()
    with torch.no_grad():
        work()
    return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--turns", type=int, default=7)
    given = parser.parse_args()
    torch.manual_seed(0)
    model = Model().eval()
    tokens = torch.randint(0, WORDS, (given.batch, given.length))
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.0f} million parameters, {given.batch} x {given.length}")
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Plan(folder, mode="statistics", calls=1 << 30))
        recorder = calls.Recorder(session)

        def recorded() -> None:
            restore = calls.install(recorder)
            try:
                model(tokens)
            finally:
                restore()

        first = seconds(recorded)  # with the digests of all parameters
        plain = seconds(lambda: model(tokens))
        ratios = []
        for _ in range(given.turns):
            with_it = seconds(recorded)
            before, plain = plain, seconds(lambda: model(tokens))
            ratios.append(with_it / ((before + plain) / 2))
        session.finish()
    print(f"the first call, with digests of the parameters: {first:.2f} s; a plain call: {plain:.2f} s")
    print(
        f"recording costs {100 * (statistics.median(ratios) - 1):.1f} % (from {100 * (min(ratios) - 1):.1f} to {100 * (max(ratios) - 1):.1f})"
    )


if __name__ == "__main__":
    main()

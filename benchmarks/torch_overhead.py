"""Measure what `cuda` costs over plain CPU torch: the same operators and models on both devices, in one process, in turns.

One thread on one processor. Each figure is the best of several rounds that alternate between the devices; the ratio is between
those. It starts itself again under `anywarp run`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

Action = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One workload: best times on both devices in microseconds."""

    name: str
    cpu: float
    cuda: float

    @property
    def ratio(self) -> float:
        return self.cuda / self.cpu


def measure(name: str, make: Callable[[str], Action], calls: int, rounds: int = 12) -> Row:
    """Time `calls` calls per round of the actions for both devices, which take turns."""
    actions = {device: make(device) for device in ("cpu", "cuda")}
    best = dict.fromkeys(actions, float("inf"))
    for action in actions.values():
        action()
    for number in range(rounds):
        for device in ("cpu", "cuda") if number % 2 else ("cuda", "cpu"):
            action = actions[device]
            start = time.perf_counter()
            for _ in range(calls):
                action()
            best[device] = min(best[device], (time.perf_counter() - start) / calls * 1e6)
    return Row(name, best["cpu"], best["cuda"])


def operators(torch: Any) -> list[tuple[str, Callable[[str], Action], int]]:
    """Return single operators on 8 elements, where the fixed cost is all there is."""

    def on(function: Callable[[Any], Action], *shape: int, grad: bool = False) -> Callable[[str], Action]:
        return lambda device: function(torch.ones(*(shape or (8,)), device=device, requires_grad=grad))

    return [
        ("x + x, 8 elements", on(lambda x: lambda: x + x), 5000),
        ("x.add_(1)", on(lambda x: lambda: x.add_(1)), 5000),
        ("x.view(2, 4)", on(lambda x: lambda: x.view(2, 4)), 5000),
        ("x.sum()", on(lambda x: lambda: x.sum()), 5000),
        ("x @ x, 8 by 8", on(lambda x: lambda: x @ x, 8, 8), 5000),
        ("(x + x).sum().backward()", on(lambda x: lambda: (x + x).sum().backward(), grad=True), 500),
    ]


def block(torch: Any, width: int, batch: int, length: int) -> Callable[[str], Action]:
    """Return forward and backward of one transformer encoder layer."""

    def make(device: str) -> Action:
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True).to(device)
        x = torch.randn(batch, length, width).to(device)
        return lambda: layer(x).sum().backward()

    return make


class Gpt:
    """A decoder of about 100 million parameters, as GPT-2's smallest."""

    def __init__(self, torch: Any, device: str):
        torch.manual_seed(0)
        nn = torch.nn
        layer = nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True, norm_first=True)
        self.embed = nn.Embedding(20000, 768).to(device)
        self.body = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).to(device)
        self.head = nn.Linear(768, 20000, bias=False).to(device)
        self.mask = nn.Transformer.generate_square_subsequent_mask(64).to(device)
        self.tokens = torch.randint(0, 20000, (1, 64)).to(device)
        self.parameters = [*self.embed.parameters(), *self.body.parameters(), *self.head.parameters()]
        self.torch = torch

    def __call__(self) -> Any:
        return self.head(self.body(self.embed(self.tokens), mask=self.mask, is_causal=True))


def forward(torch: Any) -> Callable[[str], Action]:
    """Return inference of the large model."""

    def make(device: str) -> Action:
        model = Gpt(torch, device)

        def run() -> object:
            with torch.no_grad():
                return model()

        return run

    return make


def training(torch: Any) -> Callable[[str], Action]:
    """Return a training step of the large model: forward, backward, AdamW."""

    def make(device: str) -> Action:
        model = Gpt(torch, device)
        optimizer = torch.optim.AdamW(model.parameters, lr=1e-4)

        def step() -> None:
            loss = torch.nn.functional.cross_entropy(model().flatten(0, 1), model.tokens.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        return step

    return make


def residual(torch: Any) -> Callable[[str], Action]:
    """Return forward and backward of a small residual convolution net with batch norms."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, width: int):
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width),
            )  # fmt: skip

        def forward(self, x: Any) -> Any:
            return torch.relu(x + self.body(x))

    def make(device: str) -> Action:
        torch.manual_seed(0)
        net = nn.Sequential(
            nn.Conv2d(3, 32, 3, 2, 1),
            *(Block(32) for _ in range(4)),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(32, 10),
        )
        net = net.to(device)
        x = torch.randn(4, 3, 32, 32).to(device)
        return lambda: net(x).sum().backward()

    return make


def rows(quick: bool) -> list[Row]:
    """Run every workload."""
    import torch

    torch.set_num_threads(1)
    found = [measure(name, make, calls) for name, make, calls in operators(torch)]
    found.append(measure("transformer block, 2 x 16 x 32, f+b", block(torch, 32, 2, 16), 30))
    found.append(measure("transformer block, 4 x 128 x 256, f+b", block(torch, 256, 4, 128), 2))
    found.append(measure("residual net, 4 x 3 x 32 x 32, f+b", residual(torch), 5))
    if not quick:
        found.append(measure("100 M parameters, forward", forward(torch), 1, 6))
        found.append(measure("100 M parameters, training step", training(torch), 1, 4))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--quick", action="store_true", help="leave out the large model")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        sys.exit("this benchmark needs torch")
    if not arguments.here:
        command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, __file__, "--here", *sys.argv[1:]]
        sys.exit(subprocess.run(command, check=False).returncode)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    found = rows(arguments.quick)
    if arguments.format == "json":
        print(json.dumps([{**asdict(row), "ratio": row.ratio} for row in found], indent=2))
        return
    print(f"{'':40} {'cpu us':>12} {'cuda us':>12} {'+us':>9} {'ratio':>6}")
    for row in found:
        print(f"{row.name:40} {row.cpu:12.2f} {row.cuda:12.2f} {row.cuda - row.cpu:9.2f} {row.ratio:6.2f}")


if __name__ == "__main__":
    main()

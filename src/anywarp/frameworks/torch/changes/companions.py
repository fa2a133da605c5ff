"""Packages that bring operators of their own, built for a CUDA build of torch: their kernels for the CPU take the place of those for cards.

Their kernels are machine code for NVIDIA's cards, as torch's own are.
"""

# pyright: basic
from __future__ import annotations

from functools import partial
from typing import Any

from anywarp.frameworks.torch import load, patches

SPACES = {"torchvision.extension": "torchvision", "torchaudio._extension": "torchaudio"}
"""By the module that loads the package's library: the name space of its operators."""


def _served(space: str, module: Any) -> None:
    assert load.over_cuda is not None
    load.over_cuda.awt_take_the_place(space.encode(), 0)
    reason = "the package's kernels for cards are machine code; those for the CPU run on device tensors"
    patches.write_down(f"torch.ops.{space}", False, reason)


for _name, _space in SPACES.items():
    patches.when_imported(_name)(partial(_served, _space))

"""Random numbers: which card is followed, and the generators that `torch.cuda.default_generators` holds.

Generators themselves are torch's own objects around ours (native/torch/generator.cpp).
"""

# pyright: basic
from __future__ import annotations

import ctypes
from typing import Any

from anywarp import settings


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Tell the stand-in the card to follow; there are no names to return."""
    card = settings.TORCH_RANDOM.get()
    if library.awt_random_card(int(card.philox), card.multiprocessors, card.threads) != 0:
        raise settings.SettingError(
            f"{settings.TORCH_RANDOM.name}: no card has such numbers of multiprocessors and threads"
        )
    return {}


def default_generator(device: int) -> Any:
    """Return the torch.Generator around the default generator of a device."""
    import torch

    with torch._C._DisableTorchDispatch():  # a mode in force may ask for CUDA, which is about to be brought up
        return torch.ops.anywarp.default_generator(device)

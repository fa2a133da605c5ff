"""What Inductor's caches know of the system: this device and this version of anywarp, which decide what is compiled."""

# pyright: basic
from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import torch

from anywarp import __version__, settings


def system_with_anywarp() -> Callable[[], dict[str, Any]]:
    """Return Inductor's description of the system, a part of every key of its caches, for this device."""

    @functools.cache
    def described(generator: str) -> dict[str, Any]:
        system = {
            "device": {"name": "anywarp cpu"},
            "version": {"anywarp": __version__, "torch": str(torch.__version__)},
            "generator": generator,
        }
        return {**system, "hash": hashlib.sha256(repr(sorted(system.items())).encode()).hexdigest()}

    return lambda: described(settings.TORCH_INDUCTOR.get())

"""The recording's values as tensors, found by where they were in the program."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

from typing import Any

import torch

from anywarp.check.bundle import Bundle, Entry
from anywarp.check.record.torch.values import from_bytes

_SIDES = {"tokens": "input", "logits": "output"}


class Reference:
    """A recording that a program is held against."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.models: dict[str, Any] = bundle.manifest.get("models") or {}
        self._entries: dict[tuple[str, int, int, str], dict[str, Entry]] = {}
        for entry in bundle.entries:
            side = _SIDES.get(entry.role, entry.role)
            self._entries.setdefault((entry.name, entry.call, entry.visit, side), {}).setdefault(entry.slot, entry)

    def slots(self, name: str, call: int, visit: int, side: str) -> dict[str, Entry]:
        """Return what was recorded of one side (input, output, buffer) of a module's call, by slot."""
        return self._entries.get((name, call, visit, side), {})

    def tensor(self, entry: Entry, like: torch.Tensor) -> torch.Tensor:
        """Return an entry's values on the device and in the dtype of `like`; AnywarpError where the recording is damaged."""
        content = self.bundle.read(entry)
        found = from_bytes(content, entry.dtype, entry.shape, entry.layout).to(like.device)
        if like.dtype == found.dtype:
            return found
        return found.to(like.dtype) if like.is_floating_point() and found.is_floating_point() else found

"""How requests are divided between the pools."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traffic:
    """How requests are to be divided: always the whole of it, so that saying it twice changes nothing."""

    stage: str
    share: float
    """The target's share of what callers are answered, from 0 to 1."""
    compare: float = 0.0
    """The share of requests that is replayed on the other side."""

"""Files and links in folders that several processes make at once: each is made beside its place and moved there, whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def put(place: Path, make: Callable[[Path], None]) -> None:
    """Have `make` write a file or link beside its place, and move it there, over what is there."""
    early = place.with_name(f".{place.name}.{os.getpid()}")
    early.unlink(missing_ok=True)
    make(early)
    os.replace(early, place)


def link(place: Path, target: Path) -> None:
    """Have a link lead to a target, wherever it leads now."""
    if not place.is_symlink() or Path(os.readlink(place)) != target:
        put(place, lambda early: early.symlink_to(target))

"""The headers that translated sources include for what HIP has in another way: files of this package, copied beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "support"
_INCLUDE = re.compile(rb'^#include "(anywarp_\w+\.h)"', re.MULTILINE)


@cache
def read(name: str) -> bytes:
    """Return the text of a support header."""
    return (FOLDER / name).read_bytes()


@cache
def exists(name: str) -> bool:
    """Say whether there is a support header of that name."""
    return (FOLDER / name).is_file()


def included(text: bytes) -> list[str]:
    """Return the names of the support headers that a text includes."""
    return [each.decode() for each in _INCLUDE.findall(text)]


def closure(names: Iterable[str]) -> list[str]:
    """Return the names, sorted, with those of the support headers that they include."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += included(read(name))
    return sorted(found)

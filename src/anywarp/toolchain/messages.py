"""Places that clang's messages name."""

from __future__ import annotations

import re
from pathlib import Path

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PLACE = re.compile(
    r"^(?P<file>[^\s:][^\n:]*):(?P<line>\d+):(?P<column>\d+): (?:fatal error|error|note): ", re.MULTILINE
)


def plain(said: str) -> str:
    """Return messages without colours."""
    return _COLOUR.sub("", said)


def places(said: str, words: str = ".*") -> dict[Path, list[tuple[int, int]]]:
    """Return the places, line and column from 1, of the errors with these words (a regular expression; all without them), by file."""
    found: dict[Path, list[tuple[int, int]]] = {}
    pattern = rf"^(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): error: {words}$"
    for place in re.finditer(pattern, plain(said), re.MULTILINE):
        found.setdefault(Path(place["file"]).absolute(), []).append((int(place["line"]), int(place["column"])))
    return found


def files(said: str) -> list[Path]:
    """Return the files that errors and notes name, each once."""
    return list(dict.fromkeys(Path(place["file"]).absolute() for place in _PLACE.finditer(plain(said))))

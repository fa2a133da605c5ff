"""Places that clang's messages name."""

from __future__ import annotations

import re
from collections.abc import Sequence
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


def line_starts(text: str) -> list[int]:
    """Return where each line of a text begins."""
    return [0, *(found.end() for found in re.finditer("\n", text))]


def offset(text: str, starts: Sequence[int], line: int, column: int) -> int | None:
    """Return where a place of a message lies in a text with these `line_starts`; None where the line was counted by a #line of the source."""
    if line > len(starts):
        return None
    start = starts[line - 1]
    before = text[start : start + column - 1].encode("utf-8", "surrogateescape")[: column - 1]  # clang counts bytes
    return start + len(before.decode("utf-8", "surrogateescape"))

"""C++ text as a scanner sees it: comments and strings blanked at equal length, so that a name found is code and its place is right.

Every scanner of C++ needs this, for files and for sources inside strings of Python.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

_NOISE = re.compile(
    rb"//[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*"
    rb"|/\*.*?(?:\*/|\Z)"
    rb'|(?:\bu8|\b[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"'
    rb'|"[^"\\\n]*(?:\\(?:\r\n|.)[^"\\\n]*)*"'
    rb"|(?<![\w])'[^'\\\n]*(?:\\.[^'\\\n]*)*'",
    re.DOTALL,
)
_INCLUDE = re.compile(
    rb"""^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:<([^>\n]{1,300})>|"([^"\n]{1,300})")""", re.MULTILINE
)
_LINE = re.compile(rb"\n")
_EXCERPT, _BEFORE = 160, 100


def plain(data: bytes) -> bytes:
    """Return `data` with comments and literals blanked; line ends stay, so offsets and lines are those of the original."""
    return _NOISE.sub(_blank, data)


def _blank(found: re.Match[bytes]) -> bytes:
    text = found[0]
    if b"\n" not in text:
        return b" " * len(text)
    return b"\n".join(b" " * len(part) for part in text.split(b"\n"))


def includes(data: bytes, masked: bytes) -> Iterator[tuple[int, str]]:
    """Yield the offset and name of each header that the code includes."""
    for found in _INCLUDE.finditer(data):
        start = found.start() + found[0].index(b"#")
        if masked[start : start + 1] == b"#":  # not inside a comment
            group = 1 if found[1] is not None else 2
            yield found.start(group), found[group].decode("utf-8", "replace")


class Lines:
    """Where the lines of a text begin, for the place of an offset and the line around it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts: list[int] | None = None

    def place(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column (in bytes) of an offset."""
        if self._starts is None:
            self._starts = [0, *(found.end() for found in _LINE.finditer(self._data))]
        row = bisect_right(self._starts, offset)
        return row, offset - self._starts[row - 1] + 1

    def text(self, offset: int) -> str:
        """Return the line around an offset, cut to what a report can show."""
        data = self._data
        first = max(0, offset - _BEFORE)
        begin = data.rfind(b"\n", first, offset) + 1 or first
        end = data.find(b"\n", offset, begin + _EXCERPT)
        return data[begin : end if end >= 0 else begin + _EXCERPT].decode("utf-8", "replace").strip()

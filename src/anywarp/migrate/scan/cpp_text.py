"""Places in the text of a program: the headers it includes, and the lines of offsets in bytes.

Scanners of C++ and of Python need the latter, for files and for sources inside strings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

_INCLUDE = re.compile(
    rb"""^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:<([^>\n]{1,300})>|"([^"\n]{1,300})")""", re.MULTILINE
)
_LINE = re.compile(rb"\n")
_EXCERPT, _BEFORE = 160, 100


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

"""Places in PTX text as people name them: lines, the instruction that stands there, and the source line that `.loc` gives it.

Compilers write `.loc` before the instructions that a source line became; a place belongs to the last one before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from anywarp.diagnostics import Source, Span

_FILE = re.compile(r"^[ \t]*\.file[ \t]+(\d+)[ \t]+\"([^\"\n]*)\"", re.MULTILINE)
_LOC = re.compile(r"^[ \t]*\.loc[ \t]+(\d+)[ \t]+(\d+)", re.MULTILINE)
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the PTX (from 1), the instruction there, and where it comes from ("" if the text does not say)."""

    line: int
    instruction: str
    source: str = ""


class Places:
    """Finds places in one text."""

    def __init__(self, source: Source) -> None:
        self._text = source.text
        self._lines = [0, *(m.end() for m in re.finditer("\n", source.text))]
        self._files = {int(n): name for n, name in _FILE.findall(source.text)}
        self._locs = [(m.start(), int(m[1]), int(m[2])) for m in _LOC.finditer(source.text)]

    def line(self, span: Span) -> int:
        """Return the line in which a span begins."""
        return bisect_right(self._lines, span.start)

    def at(self, span: Span) -> Place:
        """Return the place of a span."""
        line = self.line(span)
        start = self._lines[line - 1]
        end = self._text.find(";", span.start)
        text = " ".join(self._text[max(start, span.start) : end if end >= 0 else start + _SHOWN].split())
        return Place(line, text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...", self._source(span.start))

    def _source(self, offset: int) -> str:
        found = bisect_right(self._locs, offset, key=lambda loc: loc[0])
        if not found:
            return ""
        _, file, line = self._locs[found - 1]
        return f"{self._files.get(file, f'file {file}')}:{line}"

"""Places in PTX text as people name them: the line, the instruction that stands there, and what it was compiled from."""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.diagnostics import Source, Span
from anywarp.ptx.lines import LineTable

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
        self._lines = LineTable(source.text)

    def line(self, span: Span) -> int:
        """Return the line in which a span begins."""
        return self._lines.line_of(span.start)

    def at(self, span: Span) -> Place:
        """Return the place of a span."""
        line = self.line(span)
        end = self._text.find(";", span.start)
        text = " ".join(self._text[span.start : end if end >= 0 else span.start + _SHOWN].split())
        source = self._lines.source_of(line)
        return Place(line, text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...", str(source or ""))

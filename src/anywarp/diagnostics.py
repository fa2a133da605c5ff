"""The one type in which every room reports a problem, with stable codes and two renderings.

A diagnostic must stand alone for a user who knows nothing of our internals: what is wrong, where, and what to do now.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Source:
    """A text a diagnostic may point into: its display name and its content."""

    name: str
    text: str

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of a character offset."""
        offset = max(0, min(offset, len(self.text)))
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - (self.text.rfind("\n", 0, offset) + 1) + 1

    def line(self, offset: int) -> str:
        """Return the text of the line that holds `offset`, without its line end."""
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        return self.text[start : len(self.text) if end < 0 else end]


@dataclass(frozen=True)
class Span:
    """A half-open range of characters `[start, end)` in a source text."""

    start: int
    end: int


@dataclass(frozen=True)
class Diagnostic:
    """One finding: a stable code (room letter and three digits), a message, where, and what to do."""

    code: str
    message: str
    severity: Severity = "error"
    source: Source | None = None
    span: Span | None = None
    help: str = ""
    details: dict[str, Any] = field(default_factory=dict[str, Any])

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping; `line` and `column` are 1-based and present only with a span."""
        out: dict[str, Any] = {"code": self.code, "severity": self.severity, "message": self.message}
        if self.source is not None:
            out["file"] = self.source.name
        if self.source is not None and self.span is not None:
            out["line"], out["column"] = self.source.position(self.span.start)
        if self.help:
            out["help"] = self.help
        if self.details:
            out["details"] = self.details
        return out

    def as_text(self) -> str:
        """Render as plain text: headline, place with caret, help."""
        parts = [f"{self.severity}[{self.code}]: {self.message}"]
        if self.source is not None and self.span is not None:
            parts += self._excerpt(self.source, self.span)
        if self.help:
            parts.append(f"  help: {self.help}")
        return "\n".join(parts)

    @staticmethod
    def _excerpt(source: Source, span: Span, width: int = 100) -> list[str]:
        line, column = source.position(span.start)
        text = source.line(span.start)
        first = max(0, column - 1 - width // 2)  # very long lines (10 MB of PTX on one) are cut around the caret
        shown = text[first : first + width].replace("\t", " ")
        length = max(1, min(span.end - span.start, width - (column - 1 - first)))
        mark = " " * (column - 1 - first) + "^" * length
        return [f"  --> {source.name}:{line}:{column}", f"   | {shown}", f"   | {mark}"]


class AnywarpError(Exception):
    """Raised by every room for a problem in what the user gave; carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.as_text())
        self.diagnostic = diagnostic

"""The codes of what can go wrong with costs, and how it is raised."""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic, Source, Span

PRICES, LEVEL = "V042", "V043"


def problem(code: str, text: str, help: str = "") -> AnywarpError:
    """Return what is to be raised."""
    return AnywarpError(Diagnostic(code, text, help=help))


def at(source: Source, line: int, text: str, help: str = "") -> AnywarpError:
    """Return what is to be raised for a line (from 1) of a price file."""
    lines = source.text.split("\n")
    start = sum(len(each) + 1 for each in lines[: line - 1])
    shown = lines[line - 1] if line <= len(lines) else ""
    begin = start + len(shown) - len(shown.lstrip())
    span = Span(begin, max(begin + 1, start + len(shown.rstrip())))
    return AnywarpError(Diagnostic(PRICES, text, source=source, span=span, help=help))

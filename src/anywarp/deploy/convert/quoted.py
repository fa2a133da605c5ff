"""Texts inside quotes: convert what the quotes hold, and put the changes back with the escapes that the quotes need.

Expressions and commands stand in JSON and YAML strings; their places must be found again behind escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from anywarp.deploy.convert.model import Change, Finding
from anywarp.migrate.formats.quoted import Style, meant


def inside(
    data: bytes, start: int, end: int, style: Style, convert: Callable[[bytes], Iterable[Finding]]
) -> Iterator[Finding]:
    """Yield what `convert` finds in the text that the bytes `[start, end)`, between quotes, stand for; places are in `data`."""
    text, offsets = meant(data[start:end], style)
    offsets.append(end - start)
    for finding in convert(text):
        first, last = start + offsets[finding.start], start + offsets[finding.end]
        if isinstance(finding, Change):
            yield replace(finding, start=first, end=last, replacement=_written(finding.replacement, style))
        else:
            yield replace(finding, start=first, end=last)


def value(data: bytes, start: int, end: int, style: Style) -> str:
    """Return the text that bytes between quotes stand for."""
    return meant(data[start:end], style)[0].decode("utf-8", "replace")


def _written(text: bytes, style: Style) -> bytes:
    if style == "double":
        text = text.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n").replace(b"\t", b"\\t")
    return text.replace(b"'", b"''") if style == "single" else text

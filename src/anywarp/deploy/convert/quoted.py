"""Texts inside quotes: convert what the quotes hold, and put the changes back with the escapes that the quotes need.

Expressions and commands stand in JSON and YAML strings; their places must be found again behind escapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Literal

from anywarp.deploy.convert.model import Change, Finding

Style = Literal["plain", "double", "single"]
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}


def inside(
    data: bytes, start: int, end: int, style: Style, convert: Callable[[bytes], Iterable[Finding]]
) -> Iterator[Finding]:
    """Yield what `convert` finds in the text that the bytes `[start, end)`, between quotes, stand for; places are in `data`."""
    text, offsets = _read(data[start:end], style)
    offsets.append(end - start)
    for finding in convert(text):
        first, last = start + offsets[finding.start], start + offsets[finding.end]
        if isinstance(finding, Change):
            yield replace(finding, start=first, end=last, replacement=_written(finding.replacement, style))
        else:
            yield replace(finding, start=first, end=last)


def value(data: bytes, start: int, end: int, style: Style) -> str:
    """Return the text that bytes between quotes stand for."""
    return _read(data[start:end], style)[0].decode("utf-8", "replace")


def _read(raw: bytes, style: Style) -> tuple[bytes, list[int]]:
    if style == "plain" or (b"\\" not in raw and b"''" not in raw):
        return raw, list(range(len(raw)))
    text, pieces, offsets, place = raw.decode("latin-1"), bytearray(), list[int](), 0
    pattern = _ESCAPE if style == "double" else re.compile("''")
    for found in pattern.finditer(text):
        pieces += raw[place : found.start()]
        offsets += range(place, found.start())
        one = _meant(found) if style == "double" else b"'"
        pieces += one
        offsets += [found.start()] * len(one)
        place = found.end()
    pieces += raw[place:]
    offsets += range(place, len(raw))
    return bytes(pieces), offsets


def _meant(found: re.Match[str]) -> bytes:
    code = found[1] or found[2] or found[3]
    if code:
        number = int(code, 16)
        return (chr(number) if number < 0x110000 else "?").encode("utf-8", "replace")
    return _SIMPLE.get(found[4], found[4]).encode("latin-1")


def _written(text: bytes, style: Style) -> bytes:
    if style == "double":
        text = text.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n").replace(b"\t", b"\\t")
    return text.replace(b"'", b"''") if style == "single" else text

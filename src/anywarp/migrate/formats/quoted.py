"""Texts inside quotes, in JSON and YAML: what they stand for, and where each byte of that is written."""

from __future__ import annotations

import re
from typing import Literal

Style = Literal["plain", "double", "single"]
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}


def meant(raw: bytes, style: Style) -> tuple[bytes, list[int]]:
    """Return the bytes that those between quotes stand for, and the place of each in them."""
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

"""Matches brackets and splits arguments in code whose comments and literals are blanked.

Enough structure for calls and launches at the speed of a regular expression; every search is bounded, so that
brackets that never close cost nothing more.
"""

from __future__ import annotations

import re

REACH = 1 << 16
"""Bytes after an opening bracket within which its closing one is looked for."""

_BRACKET = re.compile(rb"[()\[\]{}]")
_ARGUMENT = re.compile(rb"[()\[\]{},<>;]")
_CLOSES = {b")": b"(", b"]": b"[", b"}": b"{"}


def closing(code: bytes, place: int) -> int:
    """Return the place of the bracket that closes the one at `place`, or -1 (mismatched, or out of reach)."""
    stack = list[bytes]()
    for match in _BRACKET.finditer(code, place, min(len(code), place + REACH)):
        bracket = match.group()
        if bracket in b"([{":
            stack.append(bracket)
        elif not stack or stack.pop() != _CLOSES[bracket]:
            return -1
        elif not stack:
            return match.start()
    return -1


def arguments(code: bytes, place: int, end: int) -> list[tuple[int, int]]:
    """Return the trimmed ranges of the arguments between the brackets at `place` and `end`, split at outer commas.

    Commas inside template arguments split only where `<...>` cannot be told from comparisons (`a < b, c > d`).
    """
    found = list[tuple[int, int]]()
    depth, start, angles = 0, place + 1, list[int]()
    for match in _ARGUMENT.finditer(code, place + 1, end):
        sign, at = match.group(), match.start()
        if sign in b"([{":
            depth += 1
        elif sign in b")]}":
            depth -= 1
        elif sign == b"<" and depth == 0 and _opens_template(code, at, end):
            angles.append(at)
        elif sign == b">" and depth == 0 and angles and code[at - 1 : at] != b"-":
            angles.pop()
        elif sign == b"," and depth == 0 and not angles:
            found.append(_trimmed(code, start, at))
            start = at + 1
    last = _trimmed(code, start, end)
    if found or last[0] < last[1]:
        found.append(last)
    return found


_TEMPLATE = re.compile(rb"<[\w\s:,*&.()\[\]<>+\-]*?>(?=\s*(?:::|[({>,*&)]|\w|\Z|<<<))")


def _opens_template(code: bytes, at: int, end: int) -> bool:
    """Say whether `<` after a name begins template arguments: they close again before the argument list ends."""
    before = code[:at].rstrip()[-1:] if at < 64 else code[at - 64 : at].rstrip()[-1:]
    if not (before.isalnum() or before == b"_") or code[at + 1 : at + 2] in (b"<", b"="):
        return False
    return _TEMPLATE.match(code, at, min(end, at + 400)) is not None


def _trimmed(code: bytes, start: int, end: int) -> tuple[int, int]:
    piece = code[start:end]
    left = len(piece) - len(piece.lstrip())
    return (start + left, start + left + len(piece.strip())) if piece.strip() else (end, end)


def call(code: bytes, end_of_name: int) -> tuple[int, int] | None:
    """Return the places of the brackets of the call whose name ends there, or None if no call follows."""
    at = end_of_name
    while code[at : at + 1].isspace():
        at += 1
    if code[at : at + 1] != b"(":
        return None
    close = closing(code, at)
    return None if close < 0 else (at, close)


def previous(code: bytes, place: int) -> int:
    """Return the place of the last character before `place` that is no white space, or -1."""
    at = place - 1
    while at >= 0 and code[at : at + 1].isspace():
        at -= 1
    return at


def word_before(code: bytes, place: int) -> bytes:
    """Return the identifier that ends right before `place` (white space skipped), or empty bytes."""
    end = previous(code, place) + 1
    start = end
    while start > 0 and (code[start - 1 : start].isalnum() or code[start - 1 : start] == b"_"):
        start -= 1
    return code[start:end]

"""Matches brackets and splits arguments in code whose comments and literals are blanked.

Enough structure for calls and launches at the speed of a regular expression; every search is bounded, so that
brackets that never close cost nothing more.
"""

from __future__ import annotations

import re
from functools import lru_cache

MOST = 1 << 20
"""Brackets of a text that are matched; a text with more of them is no source."""
SIGNS = 2000
"""Commas and brackets of one call that are looked at."""

_BRACKET = re.compile(rb"[()\[\]{}]")
_ARGUMENT = re.compile(rb"[()\[\]{},<>;]")
_CALLED = re.compile(rb"\s*\(")
_CLOSES = {b")": b"(", b"]": b"[", b"}": b"{"}
_BACK = 64


def closing(code: bytes, place: int) -> int:
    """Return the place of the bracket that closes the one at `place`, or -1."""
    return _pairs(code).get(place, -1)


@lru_cache(maxsize=2)
def _pairs(code: bytes) -> dict[int, int]:
    """Return where each bracket that closes does so, in one pass; one that fits nothing near is passed over."""
    found, stack = dict[int, int](), list[tuple[bytes, int]]()
    for count, match in enumerate(_BRACKET.finditer(code)):
        bracket = match.group()
        opens = _CLOSES.get(bracket)
        if opens is None:
            stack.append((bracket, match.start()))
        elif stack and stack[-1][0] == opens:
            found[stack.pop()[1]] = match.start()
        else:
            _mend(stack, opens, found, match.start())
        if count > MOST:
            break
    return found


def _mend(stack: list[tuple[bytes, int]], opens: bytes, found: dict[int, int], place: int) -> None:
    for back in range(2, min(len(stack), _BACK) + 1):
        if stack[-back][0] == opens:
            found[stack[-back][1]] = place
            del stack[-back:]
            return


def arguments(code: bytes, place: int, end: int) -> list[tuple[int, int]]:
    """Return the trimmed ranges of the arguments between the brackets at `place` and `end`, split at outer commas.

    Nothing for a call that is longer than any that a person or a generator writes. Commas inside template arguments split only where `<...>` cannot be told from comparisons (`a < b, c > d`).
    """
    found = list[tuple[int, int]]()
    depth, start, angles = 0, place + 1, list[int]()
    for count, match in enumerate(_ARGUMENT.finditer(code, place + 1, end)):
        if count > SIGNS:
            return []
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
    match = _CALLED.match(code, end_of_name)
    if match is None:
        return None
    at = match.end() - 1
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

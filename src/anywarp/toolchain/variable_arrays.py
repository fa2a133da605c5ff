"""Arrays of variable length with initialisers, `int a[2][n] = {{1, 2}, {3, 4}};`: g++ and so nvcc take them, clang does not.

Where clang refuses some, it is shown the same arrays filled by statements; lines stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from anywarp.toolchain.masked import closed, masked
from anywarp.toolchain.messages import line_starts, offset, places

_REFUSED = "variable-sized object may not be initialized"
_DECLARES = re.compile(
    r"\s*(?P<const>const\s+)?(?P<type>(?!static\b|constexpr\b)[A-Za-z_][\w:<>\s*]*?)\s*\b(?P<name>[A-Za-z_]\w*)\s*(?=\[)"
)
_REACH = 4096
"""Characters of a declaration before its bounds."""
_ASSIGNS = re.compile(r"\s*=\s*(?=\{)")


def refused(messages: str) -> dict[Path, list[tuple[int, int]]]:
    """Return the places, line and column from 1, that clang's messages say are such arrays, by file."""
    return places(messages, _REFUSED)


def filled(text: str, refusals: Iterable[tuple[int, int]]) -> str:
    """Return a source in which the arrays declared at these places are filled by statements; those of another form stay."""
    code = masked(text)
    starts = line_starts(text)
    for line, column in sorted(refusals, reverse=True):
        at = offset(text, starts, line, column)
        made = None if at is None else _declaration(text, code, at)
        if made is not None:
            start, end, new = made
            text = text[:start] + new + text[end:]
    return text


def _declaration(text: str, code: str, place: int) -> tuple[int, int, str] | None:
    """Return where the declaration around a place in its first bound begins and ends, and what stands for it."""
    start = max(code.rfind(mark, 0, place) for mark in ";{}") + 1
    declares = _DECLARES.match(code, start, place) if place - start <= _REACH else None
    if declares is None:
        return None
    at, depth = declares.end(), 0
    while code[at : at + 1] == "[":
        at, depth = closed(code, at), depth + 1
        at += len(code[at:]) - len(code[at:].lstrip(" \t"))
    bounds = at
    assigns = _ASSIGNS.match(code, bounds)
    if assigns is None or not declares.end() <= place < bounds:
        return None
    end = closed(code, assigns.end())
    if code[end : end + 1] != ";":
        return None
    name, kind = declares["name"], declares["type"]
    try:
        fills = "".join(_fills(text, code, (assigns.end(), end), depth, kind, name))
    except ValueError:
        return None
    begin = declares.start("const") if declares["const"] else declares.start("type")
    declared = text[declares.start("type") : bounds].rstrip()
    gap = "\n" * text.count("\n", bounds, assigns.end())
    return begin, end + 1, f"{declared};{gap}__builtin_memset({name}, 0, sizeof {name});{fills}"


def _fills(text: str, code: str, braces: tuple[int, int], depth: int, kind: str, target: str) -> Iterator[str]:
    """Yield the statements that fill an array of so many dimensions, and the line breaks between; ValueError where the braces are others."""
    start, end = braces
    inner = code[start + 1 : end - 1]
    nested = inner.lstrip().startswith("{")
    if nested != (depth > 1) and inner.strip():
        raise ValueError(inner)
    if depth == 1:
        if inner.strip():
            values = text[start:end]
            yield f" {{ {kind} anywarp_values[] = {values}; __builtin_memcpy({target}, anywarp_values, sizeof anywarp_values); }}"
        return
    at, index = start + 1, 0
    while (found := re.compile(r"[\s,]*(?=\{)").match(code, at, end - 1)) is not None:
        yield "\n" * text.count("\n", at, found.end())
        close = closed(code, found.end())
        yield from _fills(text, code, (found.end(), close), depth - 1, kind, f"{target}[{index}]")
        at, index = close, index + 1
    if code[at : end - 1].strip(", \t\n"):
        raise ValueError(code[at : end - 1])
    yield "\n" * text.count("\n", at, end)

"""Launches whose brackets a formatter took apart, `kernel << <grid, block >> > (a)`: nvcc reads them, clang does not.

clang is shown such files with the brackets together (shown.py); lines and columns stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.toolchain.masked import masked

Range = tuple[int, int]

_OPENS = re.compile(r"<(?:[ \t]+<[ \t]*<|<[ \t]+<)(?!<)")
_SIGN = re.compile(r"[()\[\]{};]|>[ \t]*>[ \t]*>(?!>)")
_REACH = 4096


def joined(text: str) -> str:
    """Return a source in which the brackets of launches stand together; what stands in comments and literals stays."""
    if _OPENS.search(text) is None:
        return text
    out: list[str] = []
    done = 0
    for launch in launches(masked(text)):
        if launch[0][0] < done:
            continue
        for (start, end), bracket in zip(launch, ("<<<", ">>>"), strict=True):
            out += [text[done:start], bracket.ljust(end - start)]
            done = end
    return "".join([*out, text[done:]])


def launches(code: str) -> Iterator[tuple[Range, Range]]:
    """Yield, in code without comments and literals, where such brackets open and where they close."""
    for opens in _OPENS.finditer(code):
        closes = _end(code, opens.end())
        if closes is not None:
            yield opens.span(), closes


def _end(code: str, at: int) -> Range | None:
    """Return the range of the brackets that end the configuration which begins at `at`."""
    depth = 0
    for match in _SIGN.finditer(code, at, min(len(code), at + _REACH)):
        sign = match[0]
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (depth == 0 and sign == ";"):
            return None
        if depth == 0 and sign.startswith(">"):
            return match.span()
    return None

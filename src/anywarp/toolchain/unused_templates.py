"""Bodies of templates that nobody uses: for the device nvcc reads no more of them than their brackets, clang refuses names that are declared nowhere.

Where clang refuses something in such a body, it is shown one that cannot be used. nvcc's half for the host refuses these bodies, so programs
have them where `__CUDA_ARCH__` is defined (seen with nvcc 13.0; its names are looked up where the template stands, not later).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from anywarp.toolchain.masked import closed, masked
from anywarp.toolchain.messages import line_starts, offset

MARK = "anywarp: the body of this template was refused"
_BRACE = re.compile(r"[{}]")
_FUNCTION = re.compile(
    r"\)\s*(?:(?:const|volatile|noexcept|override|final|&&?)\s*)*(?:->[^(){}]*|:(?!:)\s*[A-Za-z_][\w:<>,\s]*\(.*\)\s*)?$",
    re.DOTALL,
)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|endif|el)", re.MULTILINE)
_REACH = 4096
"""Characters of a declaration before its body."""


def emptied(text: str, refusals: Iterable[tuple[int, int]]) -> str:
    """Return a source without the bodies of the function templates, and of the functions of class templates, around these places; lines stay."""
    code = masked(text)
    starts = line_starts(text)
    places = (offset(text, starts, line, column) for line, column in refusals)
    bodies = {body for place in places if place is not None and (body := _body(code, place)) is not None}
    for start, end in sorted(bodies, reverse=True):
        text = f'{text[:start]} static_assert(false, "{MARK}"); {chr(10) * text.count(chr(10), start, end)}{text[end:]}'
    return text


def _body(code: str, place: int) -> tuple[int, int] | None:
    """Return where the inside of the outermost function around a place begins and ends, where it is of a template and in one piece."""
    templated = False
    for brace, head in _around(code, place):
        templated = templated or re.search(r"\btemplate\b", head) is not None
        if _FUNCTION.search(head):
            end = closed(code, brace) - 1
            return (brace + 1, end) if templated and code[end] == "}" and _whole(code[brace:end]) else None
    return None


def _around(code: str, place: int) -> Iterator[tuple[int, str]]:
    """Yield the braces around a place from outside, with what stands before each since the last statement or brace."""
    opened: list[int] = []
    for found in _BRACE.finditer(code, 0, place):
        if found[0] == "{":
            opened.append(found.start())
        elif opened:
            opened.pop()
    for brace in opened:
        start = max(code.rfind(mark, max(0, brace - _REACH), brace) for mark in ";{}") + 1
        yield brace, code[max(start, brace - _REACH) : brace]


def _whole(body: str) -> bool:
    """Whether the conditions of the preprocessor in a body begin and end there."""
    depth = 0
    for found in _CONDITION.finditer(body):
        depth += {"if": 1, "endif": -1, "el": 0}[found[1]]
        if depth < (found[1] == "el"):
            return False
    return depth == 0

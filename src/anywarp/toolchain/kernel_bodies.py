"""Bodies of kernels in the host's half: nvcc leaves them away there, clang checks them, and a program may have other classes for the host.

Where clang refuses the host's half for something in a kernel, it is shown the kernels with empty bodies: the host calls their stubs only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.toolchain.masked import blank, masked

_GLOBAL = re.compile(r"\b__global__\b")
_SIGN = re.compile(r"[()\[\]{};]")
_REACH = 4096
"""Characters from `__global__` to the body."""


def emptied(text: str) -> str:
    """Return a source whose kernels have empty bodies; lines stay."""
    if "__global__" not in text:
        return text
    code = masked(text)
    out: list[str] = []
    done = 0
    for start, end in _bodies(code):
        if start >= done:
            out += [text[done : start + 1], blank(text[start + 1 : end])]
            done = end
    return "".join([*out, text[done:]])


def _bodies(code: str) -> Iterator[tuple[int, int]]:
    """Yield where the braces of kernels' bodies open and close."""
    for word in _GLOBAL.finditer(code):
        line = code.rfind("\n", 0, word.start()) + 1
        if code[line : word.start()].lstrip().startswith("#"):
            continue  # a macro
        start = _opening(code, word.end())
        if start is None:
            continue
        end = _closing(code, start)
        if end is None:
            return  # all that follows lies in it
        yield start, end


def _opening(code: str, at: int) -> int | None:
    depth = 0
    for sign in _SIGN.finditer(code, at, min(len(code), at + _REACH)):
        if depth == 0 and sign[0] in "{;}":
            return sign.start() if sign[0] == "{" else None
        depth += (sign[0] in "([{") - (sign[0] in ")]}")
    return None


def _closing(code: str, start: int) -> int | None:
    depth = 0
    for sign in _SIGN.finditer(code, start):
        depth += (sign[0] == "{") - (sign[0] == "}")
        if depth == 0:
            return sign.start()
    return None

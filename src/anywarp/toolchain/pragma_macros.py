"""Macros that stand for a pragma, `#define UNROLL #pragma unroll`: nvcc reads what they become as a pragma, clang takes `_Pragma("unroll")` alone."""

from __future__ import annotations

import re

_MACRO = re.compile(
    r"^(?P<head>[ \t]*#[ \t]*define[ \t]+\w+[ \t]+)#[ \t]*pragma[ \t]+(?P<words>[^\s\\](?:[^\n\\]*[^\s\\])?)(?P<end>[ \t]*)$",
    re.MULTILINE,
)


def written(text: str) -> str:
    """Return a source whose macros without parameters say `_Pragma(...)` for `#pragma ...`; lines stay."""
    return _MACRO.sub(_operator, text) if "pragma" in text else text


def _operator(found: re.Match[str]) -> str:
    words = found["words"].replace('"', '\\"')
    return f'{found["head"]}_Pragma("{words}"){found["end"]}'

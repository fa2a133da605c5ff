"""Templates of classes that are not known yet, `typename A::rebind<T>`: nvcc and g++ need no `template` behind `typename`, clang does.

The words are optional there since C++23 (P1787R6), and before it for both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from anywarp.toolchain.messages import line_starts, offset, places

_REFUSED = r"use 'template' keyword to treat '[^'\n]+' as a dependent template name"
_TYPE = re.compile(r"\btypename\b[^;{}]{0,400}::\s*$")


def refused(said: str) -> dict[Path, list[tuple[int, int]]]:
    """Return the places, line and column from 1, where clang's messages ask for `template`, by file."""
    return places(said, _REFUSED)


def named(text: str, asked: Iterable[tuple[int, int]]) -> str:
    """Return a source with `template` at those of the places that follow a `typename`; lines stay."""
    starts = line_starts(text)
    for line, column in sorted(set(asked), reverse=True):
        at = offset(text, starts, line, column)
        if at is not None and _TYPE.search(text[starts[max(0, line - 6)] : at]):
            text = f"{text[:at]}template {text[at:]}"
    return text

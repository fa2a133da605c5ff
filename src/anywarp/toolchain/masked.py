"""C++ without what is no code, in its places: for who looks for brackets and words, and needs no parser."""

from __future__ import annotations

import re

_NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_NO_BREAK = re.compile(r"[^\n]")
_BRACKET = re.compile(r"[()\[\]{}]")
_BRACKETS = {"[": "]", "{": "}", "(": ")"}


def masked(text: str) -> str:
    """Return as many characters, lines as they are, with blanks for comments and literals."""
    return _NO_CODE.sub(lambda found: blank(found[0]), text)


def blank(text: str) -> str:
    """Return as many blanks, and the line breaks."""
    return _NO_BREAK.sub(" ", text)


def closed(code: str, at: int) -> int:
    """Return where the bracket at a place is closed, behind it; the end of the code where it is not."""
    waiting: list[str] = []
    for found in _BRACKET.finditer(code, at):
        if found[0] in _BRACKETS:
            waiting.append(_BRACKETS[found[0]])
        elif not waiting or waiting.pop() != found[0]:
            return len(code)
        if not waiting:
            return found.end()
    return len(code)

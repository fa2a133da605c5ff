"""C++ without what is no code, in its places: for who looks for brackets and words, and needs no parser."""

from __future__ import annotations

import re

_NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_NO_BREAK = re.compile(r"[^\n]")


def masked(text: str) -> str:
    """Return as many characters, lines as they are, with blanks for comments and literals."""
    return _NO_CODE.sub(lambda found: blank(found[0]), text)


def blank(text: str) -> str:
    """Return as many blanks, and the line breaks."""
    return _NO_BREAK.sub(" ", text)

"""A small reader of C++ tokens, independent of the translator's own, that says where each token lies."""

from __future__ import annotations

import re

_RAW = r'(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=delimiter)"'

_TOKEN = re.compile(
    rf"(?P<blank>(?:\s|\\\n)+|//(?:[^\n\\]|\\(?:.|\n))*|/\*(?:.|\n)*?\*/)"
    rf"|(?P<text>{_RAW}|(?:u8|[uUL])?\"(?:[^\"\\\n]|\\(?:.|\n))*\"|(?:u8|[uUL])?'(?:[^'\\\n]|\\(?:.|\n))*')"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<mark><<<|>>>|->\*|\.\.\.|<<=|>>=|<=>|::|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|##|.)"
)


def tokens(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, spelling) of every token; blanks and comments are left out."""
    return [(m.start(), m.end(), m.group()) for m in _TOKEN.finditer(text) if m.lastgroup != "blank"]

"""TOML with places: every string and the table and key it belongs to, read in one pass and never refused.

The standard reader gives values without places, and a project file that another tool would refuse still says which packages it wants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r'(?P<comment>#[^\n]*)|(?P<text>"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^\']|\'(?!\'\'))*\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<header>^[ \t]*\[\[?[^\]\n]*\]\]?)|(?P<key>(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')(?:[ \t]*\.[ \t]*(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*'))*[ \t]*=(?!=))"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<line>\n)|(?P<other>[^\s#\"'\[\]{}=,]+|.)",
    re.DOTALL | re.MULTILINE,
)


MOST_DEPTH = 64
"""Arrays and inline tables inside each other; a text that has more is read up to there."""


class Text(NamedTuple):
    """A string: the table it stands in, its keys joined by dots (keys of inline tables after them), its value, where it begins."""

    table: str
    key: str
    value: str
    offset: int
    first: bool  # whether it opens a new element of an array of tables


def strings(text: str) -> Iterator[Text]:
    """Yield every string of a TOML text in order."""
    table, keys, depth, first = "", list[tuple[int, str]](), 0, False
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            place += 1
            continue
        place, kind = found.end(), found.lastgroup
        if kind == "key" or (
            kind == "text" and depth == 0 and not keys and re.match(r"[ \t]*=", text[place : place + 20])
        ):
            keys = [one for one in keys if one[0] < depth]
            keys.append((depth, re.sub(r"[\"' \t]", "", found[0].rstrip("= \t"))))
        elif kind == "header" and depth == 0:
            table, keys = re.sub(r"[\[\]\"' \t]", "", found[0]), []
            first = found[0].lstrip().startswith("[[")
        elif kind == "header":  # an array inside an array, at the beginning of a line
            place = found.start() + found[0].index("[") + 1
            depth += 1
        elif kind == "text":
            inner = found[0][3:-3] if found[0].startswith(('"""', "'''")) else found[0][1:-1]
            yield Text(table, ".".join(key for _, key in keys), inner, found.start(), first)
            first = False
        elif kind == "open":
            depth += 1
            if depth > MOST_DEPTH:
                return
        elif kind == "close":
            depth = max(0, depth - 1)
            keys = [one for one in keys if one[0] <= depth]
        elif kind == "line" and depth == 0:
            keys = []

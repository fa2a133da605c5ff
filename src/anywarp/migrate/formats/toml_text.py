"""TOML with places: every string with the table and keys it stands under and where it is; read in one pass and never refused.

The standard reader gives values without places, and a project file that another tool would refuse still says which packages it wants.
Project files are edited in their text, so that comments and the form of arrays stay; libraries that keep a document's form tell no places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LONG = r'(?P<long>"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\')|(?P<endless>"""|\'\'\')|'
_BASIC = r'(?P<string>"(?:[^"\\\n]|\\[^\n])*")|(?P<unclosed>"(?:[^"\\\n]|\\[^\n])*)|'
_REST = (
    r"(?P<blank>[ \t\r]+|#[^\n]*)|(?P<literal>'[^'\n]*')"
    r"|(?P<newline>\n)|(?P<sign>[\[\]{}=,.])|(?P<bare>[^\s\[\]{}=,.#\"']+)"
)
_ALL, _SHORT, _LITERAL = (re.compile(one + _REST, re.DOTALL) for one in (_LONG + _BASIC, _BASIC, ""))

MOST_DEPTH = 64
"""Arrays and inline tables inside each other; what is deeper is read as if it stood there."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string: the table it stands in and its keys there (an array's entries share theirs), its bounds without and with quotes.

    `entry`: it stands in an array; `first`: it is the first of an element of an array of tables;
    `stray`: it stands later in a line than TOML could be read, under the keys before it.
    """

    header: tuple[str, ...]
    keys: tuple[str, ...]
    text: str
    start: int
    end: int
    outer: tuple[int, int]
    entry: bool
    first: bool
    stray: bool

    @property
    def path(self) -> tuple[str, ...]:
        """All keys above it, the table's first."""
        return self.header + self.keys

    @property
    def table(self) -> str:
        """The table's name as it is written."""
        return ".".join(self.header)

    @property
    def key(self) -> str:
        """Its keys in the table, those of inline tables last."""
        return ".".join(self.keys)


def texts(text: str) -> Iterator[Text]:
    """Yield the strings of a document, in order. Of a line that is no TOML, the rest is stray; takes linear time."""
    yield from _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.at = 0
        self.header: tuple[str, ...] = ()
        self.first = False

    def kind(self) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            return "", ""
        kind, start, end = self.tokens[self.at]
        return kind, self.text[start:end]

    def document(self) -> Iterator[Text]:
        while self.at < len(self.tokens):
            if self.kind()[1] == "[":
                self.at += 1
                self.first = self.kind()[1] == "["
                self.at += self.first
                self.header = self.keys()
                keys = ()
            elif (keys := self.keys()) and self.kind()[1] == "=":
                self.at += 1
                yield from self.value(keys, 0)
            yield from self.line_end(keys)

    def line_end(self, keys: tuple[str, ...]) -> Iterator[Text]:
        while self.at < len(self.tokens) and self.tokens[self.at][0] != "newline":
            if keys and self.tokens[self.at][0] in ("string", "long"):
                yield self.string(keys, entry=False, stray=True)
            else:
                self.at += 1
        self.at += 1

    def lines_end(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "newline":
            self.at += 1

    def keys(self) -> tuple[str, ...]:
        found: list[str] = []
        while True:
            kind, word = self.kind()
            if kind not in ("bare", "string"):
                return tuple(found)
            found.append(word if kind == "bare" else word[1:-1])
            self.at += 1
            if self.kind()[1] != ".":
                return tuple(found)
            self.at += 1

    def value(self, keys: tuple[str, ...], depth: int, entry: bool = False) -> Iterator[Text]:
        kind, word = self.kind()
        if kind in ("string", "long"):
            yield self.string(keys, entry)
        elif word == "[":
            yield from self.array(keys, depth + 1)
        elif word == "{":
            yield from self.inline(keys, depth + 1)
        elif kind and kind != "newline":
            self.at += 1

    def string(self, keys: tuple[str, ...], entry: bool, stray: bool = False) -> Text:
        kind, start, end = self.tokens[self.at]
        self.at += 1
        width = 3 if kind == "long" else 1
        first, self.first = self.first, False
        inner = self.text[start + width : end - width]
        return Text(self.header, keys, inner, start + width, end - width, (start, end), entry, first, stray)

    def array(self, keys: tuple[str, ...], depth: int) -> Iterator[Text]:
        self.at += 1
        while self.at < len(self.tokens) and depth < MOST_DEPTH:
            self.lines_end()
            if self.kind()[1] == "]":
                self.at += 1
                return
            yield from self.value(keys, depth, entry=True)

    def inline(self, keys: tuple[str, ...], depth: int) -> Iterator[Text]:
        self.at += 1
        while self.at < len(self.tokens) and depth < MOST_DEPTH:
            self.lines_end()
            _, word = self.kind()
            if word in ("}", ","):
                self.at += 1
                if word == "}":
                    return
                continue
            inner = self.keys()
            if self.kind()[1] != "=":
                return
            self.at += 1
            yield from self.value((*keys, *inner), depth)


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the tokens. Where a string has no end, no other of its form is looked for: that would take the square of the time."""
    pattern, place, unclosed = _ALL, 0, 0
    while place < len(text):
        found = (pattern if place >= unclosed else _LITERAL).match(text, place)
        if found is None:
            place += 1
        elif found.lastgroup == "endless":
            pattern = _SHORT
        elif found.lastgroup == "unclosed":
            unclosed, place = found.end(), place + 1
        else:
            place = found.end()
            if found.lastgroup != "blank":
                yield "string" if found.lastgroup == "literal" else str(found.lastgroup), found.start(), found.end()

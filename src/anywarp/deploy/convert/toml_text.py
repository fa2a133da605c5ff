"""TOML with places: every string with the keys it stands under and its bytes.

Project files are edited in their text, so that comments and the form of arrays stay; libraries that keep a document's form tell no places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r'(?P<blank>[ \t\r]+|#[^\n]*)|(?P<string>"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<newline>\n)|(?P<sign>\[\[|\]\]|[\[\]{}=,.])|(?P<bare>[^\s\[\]{}=,.#\"']+)",
    re.DOTALL,
)
MOST_DEPTH = 60


@dataclass(frozen=True, slots=True)
class Text:
    """A string: the keys above it (an array's entries share theirs), and its bytes without and with quotes.

    `entry`: it stands in an array; `key`: where the last key is written, `table`: where the inline table around it begins, if any.
    """

    path: tuple[str, ...]
    text: str
    start: int
    end: int
    outer: tuple[int, int]
    entry: bool
    key: tuple[int, int] | None
    table: int | None


def texts(data: bytes) -> Iterator[Text]:
    """Yield the strings of a document, in order. What is no TOML ends the reading where it stands; takes linear time."""
    reader = _Reader(data.decode("latin-1"))
    yield from reader.document()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.at = 0

    def kind(self) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            return "", ""
        kind, start, end = self.tokens[self.at]
        return kind, self.text[start:end]

    def skip(self, lines: bool = False) -> None:
        while self.at < len(self.tokens) and (self.tokens[self.at][0] == "newline") and lines:
            self.at += 1

    def document(self) -> Iterator[Text]:
        table: tuple[str, ...] = ()
        while self.at < len(self.tokens):
            kind, word = self.kind()
            if kind == "newline":
                self.at += 1
            elif word in ("[", "[["):
                self.at += 1
                table, _ = self.keys()
                self.line_end()
            else:
                keys, place = self.keys()
                if self.kind()[1] != "=" or not keys:
                    self.line_end()
                    continue
                self.at += 1
                yield from self.value((*table, *keys), place, 0)
                self.line_end()

    def line_end(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at][0] != "newline":
            self.at += 1

    def keys(self) -> tuple[tuple[str, ...], tuple[int, int] | None]:
        found: list[str] = []
        place: tuple[int, int] | None = None
        while True:
            kind, word = self.kind()
            if kind not in ("bare", "string"):
                return tuple(found), place
            _, start, end = self.tokens[self.at]
            found.append(word if kind == "bare" else word[1:-1])
            place = (start, end)
            self.at += 1
            if self.kind()[1] != ".":
                return tuple(found), place
            self.at += 1

    def value(
        self,
        path: tuple[str, ...],
        key: tuple[int, int] | None,
        depth: int,
        entry: bool = False,
        table: int | None = None,
    ) -> Iterator[Text]:
        kind, word = self.kind()
        if kind == "string":
            _, start, end = self.tokens[self.at]
            self.at += 1
            width = 3 if word.startswith(('"""', "'''")) else 1
            yield Text(path, word[width:-width], start + width, end - width, (start, end), entry, key, table)
        elif word in ("[", "[["):
            yield from self.array(path, key, depth + 1, table)
        elif word == "{":
            yield from self.inline(path, depth + 1)
        elif kind and kind != "newline":
            self.at += 1

    def array(
        self, path: tuple[str, ...], key: tuple[int, int] | None, depth: int, table: int | None
    ) -> Iterator[Text]:
        opened = len(self.kind()[1])
        self.at += 1
        while opened and self.at < len(self.tokens) and depth < MOST_DEPTH:
            self.skip(lines=True)
            _, word = self.kind()
            if word in ("]", "]]"):
                opened -= len(word)
                self.at += 1
            elif word in (",", "."):
                self.at += 1
            else:
                before = self.at
                yield from self.value(path, key, depth, entry=True, table=table)
                self.at += self.at == before

    def inline(self, path: tuple[str, ...], depth: int) -> Iterator[Text]:
        begin = self.tokens[self.at][1]
        self.at += 1
        while self.at < len(self.tokens) and depth < MOST_DEPTH:
            self.skip(lines=True)
            _, word = self.kind()
            if word == "}":
                self.at += 1
                return
            if word == ",":
                self.at += 1
                continue
            keys, place = self.keys()
            if self.kind()[1] != "=":
                return
            self.at += 1
            yield from self.value((*path, *keys), place, depth, table=begin)


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            place += 1
            continue
        place = found.end()
        if found.lastgroup != "blank":
            yield str(found.lastgroup), found.start(), found.end()

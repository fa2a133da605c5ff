"""A text with its places: offsets become lines and columns, also for a piece of text inside another file.

Shell scripts hide in Dockerfiles, workflows and manifests, requirements in all of these; a finding must name the line of the file that
a person opens.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from anywarp.migrate.findings import Use

_TEMPLATE = re.compile(r"\{\{.*?\}\}")

WIDTH = 200
"""Characters of a line that a finding shows at most."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file's text: its first character stands at `line` and `column`, later lines begin `indent` columns into theirs."""

    text: str
    line: int = 1
    column: int = 1
    indent: int = 0

    def place(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column in the file of an offset in the text."""
        row = self.text.count("\n", 0, offset)
        if not row:
            return self.line, self.column + offset
        return self.line + row, self.indent + offset - self.text.rfind("\n", 0, offset)

    def part(self, start: int, end: int) -> Piece:
        """Return a part of this piece, with its places in the file."""
        line, column = self.place(start)
        return Piece(self.text[start:end], line, column, self.indent)


class Lines:
    """A file's text, decoded without ever failing, and the uses found in it."""

    def __init__(self, data: bytes) -> None:
        self.text = decode(data)
        self._starts: list[int] | None = None
        self._met: dict[tuple[str, int], object] = {}  # holds what it has met, so that nothing new gets its identity

    @property
    def starts(self) -> list[int]:
        """The offset of each line's first character."""
        if self._starts is None:
            self._starts = line_starts(self.text)
        return self._starts

    def first(self, reader: str, thing: object) -> bool:
        """Tell whether a reader meets this very thing for the first time: any number of aliases may lead to one list."""
        key = (reader, id(thing))
        if key in self._met:
            return False
        self._met[key] = thing
        return True

    def place(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset."""
        row = bisect_right(self.starts, offset) - 1
        return row + 1, offset - self.starts[row] + 1

    def line(self, number: int) -> str:
        """Return a line (1-based) without the white space around it, cut short."""
        if not 0 < number <= len(self.starts):
            return ""
        start = self.starts[number - 1]
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[start : min(end, start + 4 * WIDTH)].strip()[:WIDTH]

    def piece(self, start: int, end: int) -> Piece:
        """Return a part of the text with its places."""
        line, column = self.place(start)
        return Piece(self.text[start:end], line, column, 0)

    def use(self, subject: str, name: str, offset: int, **details: str) -> Use:
        """Make the use of `name` that stands at an offset; empty details are left out."""
        return self.use_at(subject, name, *self.place(offset), **details)

    def use_at(self, subject: str, name: str, line: int, column: int, **details: str) -> Use:
        """Make the use of `name` that stands at a line and column; empty details are left out."""
        kept = tuple((key.rstrip("_"), value[:WIDTH]) for key, value in details.items() if value)
        return Use(subject, name[:WIDTH], line, column, self.line(line), kept)

    def found_in(self, piece: Piece, seen: Iterator[Seen]) -> Iterator[Use]:
        """Make uses of what was seen in a piece of this text."""
        starts: list[int] = []
        for one in seen:
            starts = starts or line_starts(piece.text)
            row = bisect_right(starts, one.offset) - 1
            column = (piece.indent + 1 if row else piece.column) + one.offset - starts[row]
            yield self.use_at(one.subject, one.name, piece.line + row, column, **dict(one.details))


@dataclass(frozen=True, slots=True)
class Seen:
    """Something seen in a piece of text, at an offset in it."""

    subject: str
    name: str
    offset: int
    details: tuple[tuple[str, str], ...] = ()


def seen(subject: str, name: str, offset: int, **details: str) -> Seen:
    """Make what was seen; empty details are left out."""
    return Seen(subject, name, offset, tuple((key.rstrip("_"), value) for key, value in details.items() if value))


def line_starts(text: str) -> list[int]:
    """Return the offset of each line's first character."""
    starts, place = [0], text.find("\n")
    while place >= 0:
        starts.append(place + 1)
        place = text.find("\n", place + 1)
    return starts


def filled(text: str, by: str, template: re.Pattern[str] = _TEMPLATE) -> str:
    """Return a text with other words where templates stand, `{{ .Values.x }}`; one that does not end on its line stays."""
    if "}}" not in text:
        return text
    parts: list[str] = []
    for line in text.split("\n"):
        end = (
            line.rfind("}}") + 2 if "}}" in line else 0
        )  # behind it nothing ends, and is not looked for from every beginning
        parts.append(template.sub(by, line[:end]) + line[end:])
    return "\n".join(parts)


def utf8(data: bytes) -> bytes:
    """Return a text as UTF-8 where its first bytes say that it is UTF-16, else as it is; then its bytes can be searched."""
    return decode(data).encode("utf-8", "replace") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else data


def decode(data: bytes) -> str:
    """Return a file's bytes as text: UTF-8 or, with its mark, UTF-16; what is neither becomes replacement characters."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return bytes(data).decode("utf-16", "replace").replace("\r\n", "\n")
    return bytes(data).decode("utf-8-sig", "replace").replace("\r\n", "\n")

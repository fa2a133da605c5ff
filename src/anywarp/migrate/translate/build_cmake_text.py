"""Taking the text of a CMake file apart into commands and their arguments, with places, so that it can be edited as text.

After the manual cmake-language(7): comments, bracket and quoted arguments, unquoted ones with their legacy forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_SKIP = re.compile(r"(?:[ \t\r\n]+|#\[(?P<e>=*)\[[\s\S]*?\](?P=e)\]|#[^\n]*)+")
_NAME = re.compile(r"([A-Za-z_]\w*)[ \t\r\n]*\(")
_ARGUMENT = re.compile(
    r"(?P<bracket>\[(?P<b>=*)\[[\s\S]*?\](?P=b)\])"
    r'|(?P<quoted>"(?:[^"\\]|\\[\s\S])*")'
    r'|(?P<plain>(?:[^\s()#"\\]|\\[\s\S]|(?<=\S)"(?:[^"\\]|\\[\s\S])*")+)'
    r"|(?P<paren>[()])"
)

Kind = Literal["plain", "quoted", "bracket", "paren"]


@dataclass(frozen=True)
class Argument:
    """One argument: its text without quotes, and where that text (again without quotes) lies."""

    start: int
    end: int
    text: str
    kind: Kind

    @property
    def outer(self) -> tuple[int, int]:
        """The place with quotes."""
        return (self.start - 1, self.end + 1) if self.kind == "quoted" else (self.start, self.end)


@dataclass(frozen=True)
class Command:
    """One command: its name in lower case, where the name and the whole command lie, and its arguments."""

    name: str
    start: int
    name_end: int
    end: int
    arguments: tuple[Argument, ...]

    def words(self) -> list[str]:
        """Return the texts of the arguments."""
        return [argument.text for argument in self.arguments]


def commands(text: str) -> tuple[list[Command], int | None]:
    """Return the commands of a CMake file, and the place from which on it cannot be read (None: all was read)."""
    found: list[Command] = []
    at = 0
    while True:
        blank = _SKIP.match(text, at)
        at = blank.end() if blank else at
        if at >= len(text):
            return found, None
        head = _NAME.match(text, at)
        read = _arguments(text, head.end()) if head else None
        if head is None or read is None:
            return found, at
        arguments, end = read
        found.append(Command(head[1].lower(), head.start(), head.end(1), end, tuple(arguments)))
        at = end


def _arguments(text: str, at: int) -> tuple[list[Argument], int] | None:
    found: list[Argument] = []
    depth = 1
    while True:
        blank = _SKIP.match(text, at)
        at = blank.end() if blank else at
        match = _ARGUMENT.match(text, at)
        if match is None:
            return None
        at = match.end()
        if match["paren"]:
            depth += 1 if match["paren"] == "(" else -1
            if depth == 0:
                return found, at
            found.append(Argument(match.start(), at, match["paren"], "paren"))
        elif match["quoted"] is not None:
            found.append(Argument(match.start() + 1, at - 1, match["quoted"][1:-1], "quoted"))
        else:
            kind = "bracket" if match["bracket"] else "plain"
            found.append(Argument(match.start(), at, match.group(), kind))


def indentation(text: str, start: int) -> str | None:
    """Return the blanks before a command that begins its line; None where something else stands before it."""
    line = text.rfind("\n", 0, start) + 1
    before = text[line:start]
    return before if not before.strip(" \t") else None

"""Shell commands as words with places: what is written where, and what must go for a word or a command to go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from anywarp.migrate.scan import shell
from anywarp.migrate.scan.wrappers import started

ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command: its words as meant and as written, with the bytes of each."""

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    text: str

    def end(self) -> int:
        return self.spans[-1][1]

    def raw(self, place: int) -> str:
        """Return a word as it is written."""
        return self.text[slice(*self.spans[place])]

    def removal(self, first: int, last: int) -> tuple[int, int]:
        """Return the bytes that must go for the words from `first` to `last` to go, with the space before them, or after them on their line."""
        before = self.text[self.spans[first - 1][1] : self.spans[first][0]] if first else ""
        if "\n" in before and last + 1 < len(self.spans):
            after = self.text[self.spans[last][1] : self.spans[last + 1][0]]
            if "\n" not in after:
                return self.spans[first][0], self.spans[last + 1][0]
        start = self.spans[first - 1][1] if first else self.spans[first][0]
        return start, self.spans[last][1]


def unix(text: str) -> str:
    """Return text of the same length in which lines end as shells want it: a carriage return is a space."""
    return text.replace("\\\r\n", " \\\n").replace("\r\n", " \n") if "\r\n" in text else text


def split(text: str) -> Iterator[Command]:
    """Yield the simple commands of shell text."""
    for words in shell.split(text):
        spans = tuple((start, shell.word_end(text, start)) for _, start in words)
        yield Command(tuple(word for word, _ in words), spans, text)


def is_read(command: Command) -> bool:
    """Tell whether a program reads what a command prints: it goes into a pipe, or stands where its output is wanted."""
    before = command.text[max(0, command.spans[0][0] - 200) : command.spans[0][0]].rstrip()
    after = command.text[command.end() : command.end() + 200].lstrip(" \t\\\n")
    return before.endswith(("$(", "`", "<(")) or (after.startswith("|") and not after.startswith("||"))


def program(command: Command) -> int:
    """Return which word is the program: assignments, and programs that start it such as sudo, come before it."""
    return min(started(command.words)[1], len(command.words) - 1)


def line_of(command: Command) -> tuple[int, int]:
    """Return the bytes of a command, with its line where nothing else is on it."""
    start, end = command.spans[0][0], command.end()
    head = command.text.rfind("\n", 0, start) + 1
    tail = command.text.find("\n", end)
    tail = len(command.text) if tail < 0 else tail
    if not command.text[head:start].strip() and not command.text[end:tail].strip():
        return head, min(tail + 1, len(command.text))
    after = re.compile(r"[ \t]*(?:&&|;)[ \t]*(?:\\\n[ \t]*)?").match(command.text, end)
    if after:
        return start, after.end()
    before = re.search(
        r"[ \t]*(?:\\\n[ \t]*)?(?:&&|;)[ \t]*(?:\\\n[ \t]*)?\Z", command.text[max(0, start - 200) : start]
    )
    return (start - len(before[0]), end) if before else (start, end)


def bare_span(command: Command, place: int) -> tuple[int, int]:
    """Return the bytes of a word without the quotes around all of it."""
    start, end = command.spans[place]
    raw = command.raw(place)
    return (start + 1, end - 1) if raw[:1] in "\"'" and raw[-1:] == raw[:1] and len(raw) > 1 else (start, end)

"""Shell commands as words with places: what is written where, and what must go for a word or a command to go. Nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from anywarp.migrate.formats.wrappers import started

ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<blank>(?:[ \t]|\\\n)+)|(?P<end>&&|\|\||[;\n|&](?!>))|(?P<comment>\#[^\n]*)|(?P<open>\$\(|[(){}`]|\bthen\b|\bdo\b|\belse\b)"""
    r"""|(?P<word>(?:[^\s\\"'`;|&()#{}$]|(?<=[^\s])\#|\\.|"(?:[^"\\$]|\\.|\$\((?:[^()"]|"[^"]*"|\([^()]*\)){0,400}\)|\$)*"|'[^']*'|\$\{\{[^\n]{0,500}?\}\}|\$\{(?:[^{}\n]|\{[^{}\n]{0,200}\}){0,400}\}|\$(?!\()|\{[^}\s]{0,300}\}|[{}](?=[^\s;)])|(?<=>)&|["'])+)"""
    r"""|(?P<other>.)""",
    re.DOTALL,
)  # fmt: skip
_HEREDOC = re.compile(r"<<(-?)\s*(['\"]?)(\w+)\2")

MOST_WORDS = 4000
"""Words of one command that are looked at."""

Word = tuple[str, int]
"""A word as it is meant, and its offset."""


_ENDINGS = (".sh", ".bash", ".zsh", ".ksh", ".bats", ".env", ".envrc", ".job")
_NAMES = frozenset({".bashrc", ".profile", ".bash_profile", ".zshrc", ".env", ".envrc"})
_SLURMS = re.compile(
    r"(?:task)?(?:prolog|epilog)(?:[._-]\w+)*|.*\.(?:prolog|epilog)"
)  # run by what its configuration says, wherever they lie
_INTERPRETER = re.compile(rb"#!.*\b(?:ba|z|k|da|a)?sh\b")


def named(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a script for a shell or a file of variables, by its name or its first line."""
    name = path.name.lower()
    if name.endswith(_ENDINGS) or name in _NAMES or name.startswith(".env."):
        return True
    if _SLURMS.fullmatch(name):
        return b"\0" not in head
    return not path.suffix and _INTERPRETER.match(head.split(b"\n", 1)[0]) is not None


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


def split_words(text: str) -> Iterator[list[Word]]:
    """Yield the simple commands of shell text, each as its words with their offsets, quotes removed."""
    words: list[Word] = []
    place, skip_to = 0, ("", "")
    unended: set[tuple[str, str]] = set()  # here-documents that never end: looked for once
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            place += 1
            continue
        place = found.end()
        kind = found.lastgroup
        if kind == "word":
            here = _HEREDOC.search(found[0]) or (
                _HEREDOC.match(text, found.start()) if found[0].startswith("<<") else None
            )
            if here:
                skip_to = here[1], here[3]
            elif len(words) < MOST_WORDS:
                words.append((unquoted(found[0]), found.start()))
        elif kind in ("end", "open"):
            if words:
                yield words
            words = []
            if skip_to[1] and found[0] == "\n":
                after = place if skip_to in unended else _after_heredoc(text, place, *skip_to)
                if after == place:
                    unended.add(skip_to)
                place, skip_to = after, ("", "")
    if words:
        yield words


def _after_heredoc(text: str, place: int, dash: str, mark: str) -> int:
    """Return where the lines of a here-document end: at its mark alone on a line, behind tabs where it began with `<<-`.

    That is POSIX's rule. A script inside another text may be indented as a whole: where no line is the mark alone, blanks around it count for nothing.
    """
    tabs = "\t*" if dash else ""
    for around in (rf"^{tabs}{re.escape(mark)}$", rf"^[ \t]*{re.escape(mark)}[ \t]*$"):
        if end := re.compile(around, re.MULTILINE).search(text, place):
            return end.end()
    return place


def word_end(text: str, start: int) -> int:
    """Return where the word that begins at an offset ends, quotes included."""
    found = _TOKEN.match(text, start)
    return found.end() if found else start


def unquoted(word: str) -> str:
    """Return a word without its quotes and with continued lines joined."""
    if "\\\n" in word:
        word = word.replace("\\\n", "")
    if '"' in word or "'" in word:
        word = re.sub(
            r'"([^"\\]*(?:\\.[^"\\]*)*)"|\'([^\']*)\'',
            lambda found: found[1] if found[1] is not None else found[2],
            word,
        )
    return word


def split(text: str) -> Iterator[Command]:
    """Yield the simple commands of shell text."""
    for words in split_words(text):
        spans = tuple((start, word_end(text, start)) for _, start in words)
        yield Command(tuple(word for word, _ in words), spans, text)


def is_read(text: str, start: int, end: int) -> bool:
    """Tell whether a program reads what a command prints: it goes into a pipe, or stands where its output is wanted."""
    before = text[max(0, start - 200) : start].rstrip()
    after = text[end : end + 200].lstrip(" \t\\\n")
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

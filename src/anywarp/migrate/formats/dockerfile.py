"""Dockerfiles: directives, comments and instructions with their places, by the Dockerfile reference (docs.docker.com/reference/dockerfile).

Only the reference's rules hold: which lines go on, where a here-document ends, what the escape character is. A line that is no instruction is
given out as such. Places are offsets in the text given; the arguments of an instruction are as long as they are written, so that a place in
them is one in the text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Literal, cast

from anywarp.migrate.formats.shell_words import unquoted

Kind = Literal["instruction", "directive", "comment", "blank", "other"]

_NAME = re.compile(r"(?i)(?:.*[._-])?(?:docker|container)file(?:[._-].*)?$|.*\.(?:docker|container)file$")
_NOT = (".md", ".py", ".yml", ".yaml", ".json", ".html", ".go")
_MARKS = ("\ufeff", "\xef\xbb\xbf")  # of UTF-8, as it is or decoded as Latin-1
_DIRECTIVE = re.compile(r"#[ \t]*(syntax|escape|check)[ \t]*=[ \t]*(\S[^\n]*?)[ \t\r]*(?:\n|\Z)", re.IGNORECASE)
_KEYWORD = {
    mark: re.compile(rf"[ \t]*([A-Za-z]+)(?=[ \t\r\n]|\Z|{re.escape(mark)}[ \t]*(?:\r?\n|\Z))") for mark in ("\\", "`")
}
_GAP = r"(?:[ \t\n]|\\\n)"
_BLANK = re.compile(rf"{_GAP}*")
_BEGIN = re.compile(rf"{_GAP}*(?:--(?!\S){_GAP}*)?")
_INNER = re.compile(rf"([A-Za-z]+)(?:{_GAP}+|\Z)")
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'"
_WORD = re.compile(rf"(?:{_QUOTED}|\\[^\n]|[^\s\\\"']|[\"'])+", re.DOTALL | re.ASCII)
_OPTION = re.compile(
    rf"--(?P<name>[A-Za-z][\w-]*)(?:=(?P<value>(?:{_QUOTED}|\\[^\n]|[^\s\\\"'])*))?(?:{_GAP}+|\Z)", re.DOTALL | re.ASCII
)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_ARRAY = re.compile(rf"\[\s*(?:{_STRING.pattern}\s*(?:,\s*{_STRING.pattern}\s*)*)?\]\s*\Z")
_HEREDOC = re.compile(r"\d*<<(-?)([\"']?)([^\s<\"']+)\2", re.ASCII)
_SHELLS = frozenset("bash sh zsh dash ksh ash".split())
_WITH_OPTIONS = frozenset("FROM RUN COPY ADD HEALTHCHECK".split())
_WITH_HEREDOCS = frozenset("RUN COPY ADD".split())


@dataclass(frozen=True)
class Part:
    """Lines `[start, end)` of a text, their ends included."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is meant, and where it stands in the arguments, as it is written (in JSON without its quotes)."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Option:
    """`--name=value` before the arguments; the places of all of it and of its value, in the arguments."""

    name: str
    value: str
    start: int
    end: int
    value_start: int


@dataclass(frozen=True, slots=True)
class Pair:
    """`NAME=value` (value None: no value is given), as it is meant, with the places of all of it and of its value, in the arguments."""

    name: str
    value: str | None
    start: int
    end: int
    value_start: int


@dataclass(frozen=True, slots=True)
class Heredoc:
    """A here-document: its mark, and where operator, lines, and the line of the mark end, in the arguments."""

    name: str
    operator: tuple[int, int]
    lines: tuple[int, int]
    end: int


@dataclass(frozen=True)
class Instruction(Part):
    """An instruction: its name in capitals, its arguments, and where these begin in the text.

    `arguments` are as long as they are written. A comment between their lines is blank, an empty line joins its neighbours, a line that goes on
    ends in a backslash whatever the escape character is, and lines end in a line feed. Here-documents are a part of them, as they are written.
    """

    name: str
    at: int
    arguments: str
    heredocs: tuple[Heredoc, ...] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        """The options before the arguments proper."""
        found: list[Option] = []
        if self.arguments[:1] != "-" or self.name not in _WITH_OPTIONS:
            return ()
        place = 0
        while one := _OPTION.match(self.arguments, place):
            value = one["value"] or ""
            start, end = one.span("value") if one["value"] is not None else (one.end("name"), one.end("name"))
            found.append(Option(one["name"].lower(), unquoted(value), one.start(), end, start))
            place = one.end()
        return tuple(found)

    @property
    def begin(self) -> int:
        """Where the arguments proper begin, behind options."""
        if self.arguments[:1] != "-" or self.name not in _WITH_OPTIONS:
            return 0
        found = _BEGIN.match(self.arguments, self.options[-1].end if self.options else 0)
        return cast(re.Match[str], found).end()

    @property
    def head(self) -> int:
        """Where the arguments end that are no lines of a here-document."""
        return self.heredocs[0].lines[0] if self.heredocs else len(self.arguments)

    @property
    def array(self) -> tuple[Word, ...] | None:
        """The words of the form `["program", "word"]`; None where the arguments have another."""
        if not self.arguments.startswith("[", self.begin):
            return None
        text = self.arguments[self.begin : self.head].replace("\\\n", "  ")
        if _ARRAY.match(text) is None:
            return None
        try:
            meant = cast(list[str], json.loads(text))
        except (ValueError, RecursionError):
            return None
        places = (found.span() for found in _STRING.finditer(text))
        return tuple(
            Word(word, self.begin + start + 1, self.begin + end - 1)
            for word, (start, end) in zip(meant, places, strict=True)
        )

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of the arguments proper without quotes, here-documents left out; of the form of JSON its strings."""
        if self.array is not None:
            return self.array
        found = _WORD.finditer(self.arguments, self.begin, self.head)
        return tuple(Word(unquoted(one[0]), *one.span()) for one in found)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """What ARG, ENV and LABEL set: `NAME=value` as often as it stands, or `NAME the rest of the line`."""
        found = list(_WORD.finditer(self.arguments, self.begin))
        if found and self.name != "ARG" and "=" not in found[0][0]:
            first, last = found[1].start() if len(found) > 1 else found[0].end(), found[-1].end()
            value = self.arguments[first:last].replace("\\\n", "") if len(found) > 1 else None
            return (Pair(unquoted(found[0][0]), value, found[0].start(), last, first),)
        return tuple(_pair(one) for one in found)

    @property
    def inner(self) -> Instruction | None:
        """The instruction that ONBUILD keeps for later, and the CMD of HEALTHCHECK; None where there is none."""
        if self.name not in ("ONBUILD", "HEALTHCHECK"):
            return None
        found = _INNER.match(self.arguments, self.begin)
        if found is None or (self.name == "HEALTHCHECK" and found[1].upper() != "CMD"):
            return None
        arguments, at = self.arguments[found.end() :], self.at + found.end()
        return _instruction(self.start, self.end, found[1].upper(), at, arguments, self.heredocs, found.end())

    @property
    def script(self) -> str | None:
        """The arguments with all blank that no shell runs, as long as they are; None for the form of JSON, which no shell reads.

        A here-document alone is the script, or what a shell reads that is started without another; one that begins with `#!` is for whom
        that names. Of any other command the here-document is what it reads, and stays for who splits the command.
        """
        if self.array is not None:
            return None
        text = " " * self.begin + self.arguments[self.begin :]
        if not self.heredocs or not self._starts_shell():
            return text
        start, end = self.heredocs[0].lines
        first = text[start:end].partition("\n")[0]
        if first.startswith("#!") and not re.search(r"\b(?:ba|da|a|k|z)?sh\b", first):
            end = start
        return _hidden(text[:start]) + text[start:end] + _hidden(text[end:])

    def _starts_shell(self) -> bool:
        """Tell whether the command before a here-document is none or a shell that reads its script from it."""
        marks = {one.operator[0] for one in self.heredocs}
        words = [one.text for one in self.words if one.start not in marks]
        if not words:
            return True
        options = [word for place, word in enumerate(words) if place and not re.fullmatch(r"-\w*o", words[place - 1])]
        return words[0].rpartition("/")[2] in _SHELLS and all(
            re.fullmatch(r"[-+](?!\w*c)\w*", word) for word in options
        )


def named(path: PurePath) -> bool:
    """Tell whether a file describes how an image is made, by its name."""
    return _NAME.match(path.name) is not None and not path.name.lower().endswith(_NOT)


def instructions(text: str) -> Iterator[Instruction]:
    """Yield the instructions of a text, in order."""
    return (one for one in parts(text) if isinstance(one, Instruction))


def parts(text: str) -> Iterator[Part]:
    """Yield all lines of a text as directives, comments, instructions and others: together they are the text. Takes linear time."""
    place, escape = 0, "\\"
    for mark in _MARKS:
        if text.startswith(mark):
            place = len(mark)
            yield Part("blank", 0, place)
    while found := _DIRECTIVE.match(text, place):
        if found[1].lower() == "escape" and found[2] in _KEYWORD:
            escape = found[2]
        yield Part("directive", place, found.end())
        place = found.end()
    marks = _Marks(text)
    while place < len(text):
        end = _line_end(text, place)
        line = text[place:end].strip(" \t\r\n")
        keyword = _KEYWORD[escape].match(text, place) if line[:1].isalpha() else None
        if keyword:
            one = _read(text, place, keyword, escape, marks)
            yield one
            place = one.end
        else:
            yield Part("comment" if line[:1] == "#" else "other" if line else "blank", place, end)
            place = end


def _line_end(text: str, place: int) -> int:
    """Return where the next line begins."""
    return text.find("\n", place) + 1 or len(text)


def _read(text: str, start: int, keyword: re.Match[str], escape: str, marks: _Marks) -> Instruction:
    shown: list[str] = []
    place, kept, end, goes_on = keyword.end(), 0, start, False
    while place < len(text):
        stop = _line_end(text, place)
        line, goes_on, says = _line(text[place:stop], escape, bool(shown))
        shown.append(line)
        place = stop
        if says:
            kept, end = len(shown), stop
        if not goes_on:
            break
    end = end if shown else len(text)
    arguments = "".join(shown[:kept])
    if kept and goes_on:  # but nothing follows
        arguments = arguments.rstrip("\n")[:-1].ljust(len(arguments))
    blank = cast(re.Match[str], _BLANK.match(arguments)).end() if arguments[:1] in " \t\n\\" else 0
    name, at, arguments = keyword[1].upper(), keyword.end() + blank, arguments[blank:]
    found: list[Heredoc] = []
    if "<<" in arguments and (
        name in _WITH_HEREDOCS or (name == "ONBUILD" and arguments.split()[0].upper() in _WITH_HEREDOCS)
    ):
        found, end = _heredocs(text, arguments, at, end, marks)
    if found:
        arguments += text[at + len(arguments) : end].replace("\r\n", " \n")
    return Instruction("instruction", start, end, name, at, arguments.removesuffix("\n"), tuple(found))


def _line(raw: str, escape: str, later: bool) -> tuple[str, bool, bool]:
    """Return a line of an instruction as its arguments show it, whether the next belongs to it, and whether it says anything."""
    content = raw.rstrip("\r\n")
    ending = "\n" if raw.endswith("\n") else ""
    bare, width = content.strip(" \t"), len(raw) - len(ending)
    if later and not bare:
        return " " * len(raw), True, False
    if later and bare[0] == "#":
        return " " * (width - 1) + "\\" + ending, True, False
    if (
        bare.endswith(escape) and bare[-2:-1] != escape
    ):  # two are one that is meant (BuildKit; the manual shows the builder before it)
        return (content.rstrip(" \t")[:-1]).ljust(width - 1) + "\\" + ending, True, True
    return content.ljust(width) + ending, False, True


class _Marks:
    """The lines of a text by what they hold, for who looks for the end of a here-document; made when one is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _lines(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        plain: dict[str, list[int]] = {}
        tabs: dict[str, list[int]] = {}
        place = 0
        while place < len(self.text):
            end = _line_end(self.text, place)
            line = self.text[place:end].rstrip("\r\n")
            plain.setdefault(line, []).append(place)
            tabs.setdefault(line.lstrip("\t"), []).append(place)
            place = end
        return plain, tabs

    def after(self, place: int, name: str, dash: str) -> int:
        """Return where the first line begins, from a place on, that is a mark alone; -1 where there is none."""
        found = self._lines[1 if dash else 0].get(name, [])
        index = bisect_left(found, place)
        return found[index] if index < len(found) else -1


def _heredocs(text: str, arguments: str, at: int, end: int, marks: _Marks) -> tuple[list[Heredoc], int]:
    """Return the here-documents whose operators stand in arguments, and where the last of them ends in the text."""
    found: list[Heredoc] = []
    for word in _WORD.finditer(arguments):
        operator = _HEREDOC.fullmatch(word[0])
        close = marks.after(end, operator[3], operator[1]) if operator else -1
        if operator is None or close < 0:
            continue
        after = _line_end(text, close)
        found.append(Heredoc(operator[3], word.span(), (end - at, close - at), after - at))
        end = after
    return found, end


def _instruction(
    start: int, end: int, name: str, at: int, arguments: str, heredocs: tuple[Heredoc, ...], back: int
) -> Instruction:
    """Make an instruction; its here-documents begin so much further on than they stand in its arguments."""
    moved = (
        Heredoc(
            one.name,
            (one.operator[0] - back, one.operator[1] - back),
            (one.lines[0] - back, one.lines[1] - back),
            one.end - back,
        )
        for one in heredocs
    )
    return Instruction("instruction", start, end, name, at, arguments, tuple(moved))


def _pair(found: re.Match[str]) -> Pair:
    name, sign, value = found[0].partition("=")
    start = found.start() + len(name) + len(sign)
    return Pair(unquoted(name), unquoted(value) if sign else None, *found.span(), start)


def _hidden(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)

"""Files of requirements and constraints, line by line with places, by pip's description of the format (pip.pypa.io, requirements file format).

A line that ends in a backslash goes on, a comment does not; a comment begins a line or stands behind white space, and is taken off when lines
are joined. What comes behind a requirement and begins with a dash is an option of it. No requirement is judged here: that is PEP 508's matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

_NAME = re.compile(
    r"(?i)(?:.*[-_.])?(?:requirements?|constraints?)(?:[-_.].*)?\.(?:txt|in|pip)$|reqs?(?:[-_.].*)?\.txt$"
)
_FOLDERS = ("requirements", "reqs", "constraints")
_FITTING = re.compile(
    rb"[ \t]*(?:-{1,2}[a-z-]+[ =]\S+|[A-Za-z0-9][\w.-]*(?:\[[\w, -]*\])?(?:[ \t]*,?[ \t]*[<>=!~]=?=?[ \t]*[\w.*+-]+)*[ \t]*(?:;.*|#.*|\\)?)[ \t]*\r?$"
)
_PINNED = re.compile(
    rb"^[ \t]*[A-Za-z0-9][\w.-]*(?:\[[\w, -]*\])?[ \t]*[=~>]=[ \t]*\d|^--?(?:extra-index-url|index-url|r|f)[ =]"
)
_PHYSICAL = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_MARKS = ("\ufeff", "\xef\xbb\xbf")  # of UTF-8, as it is or decoded as Latin-1
_BLANKS = " \t\r\n\f\v"
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.DOTALL | re.ASCII)
_OPTION = re.compile(r"(?<!\S)(?:(?P<short>-[A-Za-z])=?|(?P<long>--[A-Za-z][\w-]*)(?:=|(?!\S)))", re.ASCII)
_VALUE = re.compile(r"\s*(?:(?P<quote>[\"'])(?P<quoted>.*?)(?P=quote)|(?!-\S)(?P<bare>\S*))", re.ASCII)
_LONG = {
    "-i": "--index-url",
    "-f": "--find-links",
    "-r": "--requirement",
    "-c": "--constraint",
    "-e": "--editable",
    "-C": "--config-settings",
}
_ALONE = frozenset("--no-index --pre --prefer-binary --require-hashes --isolated".split())
"""Options without a value."""

INDEXES = ("--index-url", "--extra-index-url", "--find-links")
"""Options that say where packages come from."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option by its long name, its value and where that stands in the text; `written` is where the option itself begins."""

    name: str
    value: str
    start: int
    end: int
    written: int


@dataclass(frozen=True)
class Line:
    """A line as pip reads it, made of the lines `[start, end)` of the text.

    `text` is as long as those: a backslash and the line's end behind it are blank, and so is a comment.
    """

    start: int
    end: int
    text: str
    comment: tuple[int, int] | None

    @cached_property
    def _split(self) -> int:
        """Where in the text of the line its options begin."""
        found = _OPTION.search(self.text)
        return found.start() if found else len(self.text)

    @cached_property
    def request(self) -> str:
        """The requirement, "" on a line of options alone."""
        return self.text[: self._split].strip(_BLANKS)

    @property
    def span(self) -> tuple[int, int]:
        """Where the requirement stands in the text."""
        start = self.start + len(self.text) - len(self.text.lstrip(_BLANKS))
        return start, start + len(self.request)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """The options of the line, in order."""
        found: list[Option] = []
        place = self._split
        while one := _OPTION.search(self.text, place):
            name = one["long"] or _LONG.get(one["short"], one["short"])
            place = one.end()
            value = None if name in _ALONE else _VALUE.match(self.text, place)
            first, last = value.span("quoted" if value["quote"] else "bare") if value else (place, place)
            found.append(
                Option(name, self.text[first:last], self.start + first, self.start + last, self.start + one.start())
            )
            place = value.end() if value else place
        return tuple(found)

    @property
    def hashed(self) -> bool:
        """Whether the requirement is bound to files by their hashes."""
        return any(option.name == "--hash" for option in self.options)


def named(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is one of requirements: by its name, its folder's, or by its first bytes where most lines are requirements."""
    if _NAME.match(path.name):
        return True
    if path.suffix in (".txt", ".in", ".pip") and _looks_like_it(head):
        return True
    return path.suffix in (".txt", ".in") and path.parent.name.lower() in _FOLDERS


def _looks_like_it(head: bytes) -> bool:
    """Tell whether a text of any name is a list of requirements: most of its first lines are, and one at least has a version."""
    text = head[: head.rfind(b"\n")] if len(head) >= 4096 else head
    told = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith((b"#", b"--hash"))][:40]
    fitting = sum(1 for line in told if _FITTING.match(line))
    return bool(told) and fitting * 10 >= len(told) * 9 and any(_PINNED.search(line) for line in told)


def lines(text: str) -> Iterator[Line]:
    """Yield the lines of a text, empty ones among them: together they are the text. Takes linear time."""
    place = 0
    for mark in _MARKS:
        if text.startswith(mark):
            place = len(mark)
            yield Line(0, place, " " * place, None)
    while place < len(text):
        start, shown = place, list[str]()
        while place < len(text):
            found = _PHYSICAL.match(text, place)
            assert found is not None
            line, place = found[0], found.end()
            content = line.rstrip("\r\n")
            noted = content.lstrip(_BLANKS)[:1] == "#"
            goes_on = content.endswith("\\") and not noted and place < len(text)
            shown.append((content[:-1] if goes_on else content).ljust(len(line)))
            if not goes_on:
                break
        yield _line(start, place, "".join(shown))


def single(text: str) -> Line:
    """Read a single line that stands elsewhere, as tools write what pip is given: in a list of conda's, in a key of a project."""
    return _line(0, len(text), text)


def _line(start: int, end: int, text: str) -> Line:
    found = _COMMENT.search(text)
    if found is None:
        return Line(start, end, text, None)
    noted = (start + found.start(), start + len(text.rstrip(_BLANKS)))
    return Line(start, end, text[: found.start()].ljust(len(text)), noted)

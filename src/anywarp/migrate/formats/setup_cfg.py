"""setup.cfg: the requirements in its lists, with places, by what configparser reads and setuptools makes of it.

A key stands at the beginning of a line, its value behind `=` or `:` and on the lines after it that are indented; lines that begin with `#` or
`;` are comments. A list is a line for each entry or, all on the key's own line, entries between semicolons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_HEADER = re.compile(r"\[([^\]\n]+)\]")
_KEY = re.compile(r"([^\s=:\[][^\n=:]*?)[ \t]*[=:][ \t]*")
_BLANKS = " \t\r\n"
_LISTS = frozenset({("options", "install_requires"), ("options", "setup_requires"), ("options", "tests_require")})


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a list, where it stands in the text, and the line that is its own, None where it shares one with its key or others."""

    section: str
    key: str
    text: str
    start: int
    end: int
    line: tuple[int, int] | None


def requirements(text: str) -> Iterator[Entry]:
    """Yield the entries of the lists that setuptools reads as requirements."""
    held: list[Entry] = []
    for one in _entries(text):
        if held and (one.section, one.key) != (held[0].section, held[0].key):
            yield from _apart(held)
            held = []
        if (one.section, one.key) in _LISTS or one.section == "options.extras_require":
            held.append(one)
    yield from _apart(held)


def _entries(text: str) -> Iterator[Entry]:
    section = key = ""
    place = 0
    while place < len(text):
        found = _LINE.match(text, place)
        assert found is not None
        line, start, place = found[0], place, found.end()
        body = line.strip(_BLANKS)
        if not body or body[0] in "#;":
            continue
        offset = line.index(body)
        if not offset and (header := _HEADER.match(line)):
            section, key = header[1], ""
            continue
        begin = None if offset else _KEY.match(line)
        if begin:
            key, body = begin[1], line[begin.end() :].strip(_BLANKS)
            offset = begin.end()
        if key and body:
            yield Entry(
                section, key, body, start + offset, start + offset + len(body), None if begin else (start, place)
            )


def _apart(held: list[Entry]) -> Iterator[Entry]:
    """Yield the entries of a list: one on its key's own line may be several."""
    if len(held) != 1 or held[0].line is not None:
        yield from held
        return
    one, place = held[0], held[0].start
    for part in one.text.split(";"):
        body = part.strip(_BLANKS)
        start = place + part.find(body)
        if body:
            yield replace(one, text=body, start=start, end=start + len(body))
        place += len(part) + 1

"""From a line of PTX to the line of the source that it was compiled from, as `.file` and `.loc` have it.

Read from the text when somebody asks, which is when something went wrong: compilations pay nothing for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d+)[ \t]+"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_LOC = re.compile(
    r"^[ \t]*\.loc[ \t]+(\d+)[ \t]+(\d+)[ \t]+\d+"
    r"(?:[ \t]*,[ \t]*function_name[^,\n]*)?(?:[ \t]*,[ \t]*inlined_at[ \t]+(\d+)[ \t]+(\d+))?",
    re.MULTILINE,
)
_OPCODE = re.compile(r"^\s*(?:@!?\S+\s+)?([a-z]\w*)")
_REGISTER = re.compile(r"%[A-Za-z_$][\w$]*")
_LOAD = re.compile(r"^\s*(?:@!?\S+\s+)?ld\w*(?:\.[\w:]+)*\s+(\{[^}]*\}|%\S+?)\s*,")
_ACCESSES = (
    "ld",
    "st",
    "atom",
    "red",
    "cp",
    "tex",
    "tld4",
    "suld",
    "sust",
    "sured",
    "wmma",
    "prefetch",
    "call",
    "mbarrier",
)
_FUNCTION = re.compile(r"^[ \t]*(?:\.\w+[ \t]+)*\.(?:entry|func)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A place in a source file; with the place of the call when that code was inlined (0: it was not)."""

    file: str
    line: int
    inlined_file: str = ""
    inlined_line: int = 0

    def __str__(self) -> str:
        """Write `file:line`, with the call that was inlined."""
        call = f" (inlined at {self.inlined_file}:{self.inlined_line})" if self.inlined_line else ""
        return f"{self.file}:{self.line}{call}"


class LineTable:
    """The lines of one module. PTX ISA, debugging directives: a `.loc` holds for what follows it in its function."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _breaks(self) -> list[int]:
        return [m.start() for m in re.finditer("\n", self._text)]

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.split("\n")

    @cached_property
    def _files(self) -> dict[int, str]:
        return {int(number): name for number, name in _FILE.findall(self._text)}

    @cached_property
    def _marks(self) -> list[tuple[int, tuple[int, int, int, int] | None]]:
        """PTX lines where the source line changes, in order; None where a function begins."""
        marks: list[tuple[int, tuple[int, int, int, int] | None]] = []
        for found in _LOC.finditer(self._text):
            file, line, inlined_file, inlined_line = (int(g or 0) for g in found.groups())
            marks.append((self.line_of(found.start()), (file, line, inlined_file, inlined_line)))
        if marks:
            marks += [(self.line_of(found.start()), None) for found in _FUNCTION.finditer(self._text)]
        return sorted(marks, key=lambda mark: mark[0])

    def line_of(self, offset: int) -> int:
        """Return the 1-based line of a character offset."""
        return bisect_right(self._breaks, offset - 1) + 1 if offset > 0 else 1

    def source_of(self, line: int) -> SourceLine | None:
        """Return what a line of PTX was compiled from; None where nothing says so."""
        place = bisect_right(self._marks, line, key=lambda mark: mark[0]) - 1
        if line < 1 or place < 0:
            return None
        mark = self._marks[place][1]
        if mark is None or mark[0] not in self._files or mark[1] == 0:
            return None
        return SourceLine(self._files[mark[0]], mark[1], self._files.get(mark[2], ""), mark[3])

    def access_behind(self, line: int) -> int:
        """Return the line of the access that a processor's fault at `line` is about.

        Machine code may load and compute in one instruction, which carries the line of the computation: then it is the nearest
        load before whose result that line reads. A line that has nothing to do with memory stays as it is.
        """
        lines = self._lines
        if not 1 <= line <= len(lines):
            return line
        found = _OPCODE.match(lines[line - 1])
        if found is None or found.group(1).startswith(_ACCESSES):
            return line
        read = set(_REGISTER.findall(lines[line - 1].partition(",")[2]))
        for number in range(line - 1, 0, -1):
            if lines[number - 1].startswith("{"):
                break
            load = _LOAD.match(lines[number - 1])
            if load is not None and read & set(_REGISTER.findall(load.group(1))):
                return number
        return line

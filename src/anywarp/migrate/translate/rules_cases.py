"""Labels of a `switch` over codes of CUDA: those without a counterpart, and those whose counterpart has a label already, are taken out.

Functions that spell error codes name every code there is. ROCm has fewer, and a code that does not exist is never
returned; two labels of one value do not compile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.catalogue.identifiers import Identifier
from anywarp.migrate.translate.brackets import closing
from anywarp.migrate.translate.edits import Edit, Outcome, Problem
from anywarp.migrate.translate.rules_names import interesting
from anywarp.migrate.translate.unit import Unit

_CASE = re.compile(rb"\bcase\s+(\w+)\s*:(?!:)[ \t]*")
_SWITCH = re.compile(rb"\bswitch\s*\(")
_BODY = re.compile(rb"\s*(?:return\b[^;{}]*;|(?:[^;{}:]*;\s*){0,2}break\s*;)")
_ENDS = re.compile(rb"(?:\{|\breturn\b[^;{}]*;|\bbreak\s*;|\})\s*\Z")
_LABEL = re.compile(rb"\s*(?:case\b|default\b)")


class Cases:
    """Takes such labels out, with what follows them where nothing else leads there."""

    name = "cases"
    words = frozenset((b"case",))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        known = interesting(unit.target.rocm)
        if unit.options.keep_cuda:
            return
        cases = [each for each in _CASE.finditer(unit.code) if each.group(1) in known]
        bodies = _switches(unit.code) if cases else []
        seen = set[tuple[int, str]]()
        for match in cases:
            row = known[match.group(1)]
            switch = max((start for start, end in bodies if start < match.start() < end), default=-1)
            double = bool(row.target) and (switch, row.target) in seen
            seen.add((switch, row.target))
            if row.kind == "constant" and (double or not row.target):
                yield from self._taken(unit, match, row, double)

    def _taken(self, unit: Unit, match: re.Match[bytes], row: Identifier, double: bool) -> Iterator[Outcome]:
        code = unit.code
        end = match.end()
        if not _LABEL.match(code, end):
            body = _BODY.match(code, end)
            before = code[max(0, match.start() - 512) : match.start()]
            if body is not None and _ENDS.search(before):
                end = body.end()
            elif not before.rstrip().endswith(b":"):
                return  # what follows is not the label's alone: a person decides
        start = match.start()
        line = unit.data.rfind(b"\n", 0, start) + 1
        if not unit.data[line:start].strip():
            rest = re.compile(rb"[ \t]*\r?\n").match(unit.data, end)
            start, end = (line, rest.end()) if rest is not None else (start, end)
        why = f"{row.target} has a label already" if double else f"ROCm has no {row.name}, so it never comes"
        yield Edit(start, end, b"", self.name, why)
        message = f"the label for {row.name} was taken out: {why}"
        yield Problem(match.start(1), match.end(1), "M114", message, "nothing need be done", "note")


def _switches(code: bytes) -> list[tuple[int, int]]:
    """Return the ranges of the bodies of all switches that can be matched."""
    found = list[tuple[int, int]]()
    for match in _SWITCH.finditer(code):
        close = closing(code, match.end() - 1)
        brace = re.compile(rb"\s*\{").match(code, close + 1) if close >= 0 else None
        end = closing(code, brace.end() - 1) if brace is not None else -1
        if brace is not None and end >= 0:
            found.append((brace.start(), end))
    return found


RULES = (Cases(),)

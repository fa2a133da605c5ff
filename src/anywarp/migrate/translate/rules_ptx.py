"""Inline PTX becomes C++ of the same meaning, or is told with what to write instead.

The translation itself is `inline_ptx.py`; here statements are found, put where they stand, and headers are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.migrate.translate.edits import Edit, Kept, Need, Outcome, Problem
from anywarp.migrate.translate.inline_ptx import Converted, NoPtx, Untranslatable, convert
from anywarp.migrate.translate.inline_ptx_text import AsmStatement, statements
from anywarp.migrate.translate.inline_ptx_values import Text
from anywarp.migrate.translate.unit import Unit

_DEFINE = re.compile(rb"[ \t]*#[ \t]*define\b")


class InlinePtx:
    """Translates `asm` statements whose constraints and template are PTX."""

    name = "inline-ptx"
    words = frozenset((b"asm", b"__asm__", b"__asm"))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        apart, dead = unit.apart, unit.untaken
        for statement in statements(unit.code, unit.data):
            if statement.start in apart or any(each.first <= statement.start < each.last for each in dead):
                continue
            macro = _in_macro(unit.code, statement.start)
            try:
                made = convert(statement, unit.data, macro=macro)
            except NoPtx:
                continue
            except Untranslatable as why:
                message = f"inline PTX is not translated: {why}"
                yield Problem(statement.start, statement.end, "M130", message, why.help)
                continue
            yield from self._edits(unit, statement, made, macro)

    def _edits(self, unit: Unit, statement: AsmStatement, made: Converted, macro: bool) -> Iterator[Outcome]:
        if macro and any(isinstance(p, str) and re.search(r"^\t\w+:$", p, re.MULTILINE) for p in made.text):
            message = "inline PTX is not translated: a macro with labels could be used only once in a function"
            yield Problem(statement.start, statement.end, "M130", message, "make a function of the macro")
            return
        end = statement.end
        text = made.text
        if made.block:
            semicolon = re.compile(rb"\s*;").match(unit.code, end)
            if semicolon is not None and not macro:
                end = semicolon.end()
            else:
                text = ("do ", *text, " while (0)")
        text = _on_one_line(text) if macro else _indented(text, _indentation(unit.data, statement.start))
        reason = "PTX by its meaning: " + " ".join(statement.template.split())[:80]
        if unit.options.keep_cuda:
            if macro:
                return
            text, end = _for_both(unit, statement, end, text, made.block)
        replacement = tuple(part.encode() if isinstance(part, str) else part for part in text)
        yield Edit(statement.start, end, replacement, self.name, reason)
        for need in sorted(made.needs):
            yield Need(need, "inline PTX was translated to its functions")
        for note in dict.fromkeys(made.notes):
            yield Problem(statement.start, statement.end, "M131", f"inline PTX: {note}", "", "note")


def _in_macro(code: bytes, place: int) -> bool:
    """Say whether a place is in the body of a macro."""
    start = code.rfind(b"\n", 0, place) + 1
    while start > 1 and code[:start].rstrip(b"\r\n").endswith(b"\\") and code[start - 2 : start - 1] in b"\\\r":
        start = code.rfind(b"\n", 0, start - 1) + 1
    return _DEFINE.match(code, start) is not None


def _indentation(data: bytes, place: int) -> str:
    line = data[data.rfind(b"\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())].decode("utf-8", "replace")


def _indented(text: Text, indentation: str) -> Text:
    return tuple(p.replace("\n", "\n" + indentation).replace("\t", "    ") if isinstance(p, str) else p for p in text)


def _on_one_line(text: Text) -> Text:
    return tuple(re.sub(r"[\n\t]+", " ", p) if isinstance(p, str) else p for p in text)


def _for_both(unit: Unit, statement: AsmStatement, end: int, text: Text, block: bool) -> tuple[Text, int]:
    """Both vendors' code under conditions, on lines of their own."""
    if not block:
        semicolon = re.compile(rb"\s*;").match(unit.code, end)
        end = end if semicolon is None else semicolon.end()
        text = (*text, ";") if semicolon is not None else text
    line = unit.code.rfind(b"\n", 0, statement.start) + 1
    first = "" if not unit.code[line : statement.start].strip() else "\n"
    rest = unit.code.find(b"\n", end)
    last = "" if rest >= 0 and not unit.data[end:rest].strip() else "\n"
    after: Text = ("\n#else\n", Kept(statement.start, end), "\n#endif" + last)
    return (first + "#if defined(__HIP__)\n", *text, *after), end


RULES = (InlinePtx(),)

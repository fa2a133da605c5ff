"""Reads the directives of a unit, and says where a header that the translation needs is included.

An include belongs before the first that is there, outside conditions and linkage blocks, and only once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anywarp.migrate.translate.rules import Edit, Need

if TYPE_CHECKING:
    from anywarp.migrate.translate.unit import Unit

_DIRECTIVE = re.compile(
    rb"#[ \t]*(include_next|include|import|ifdef|ifndef|if|elifdef|elifndef|elif|else|endif|define|undef|pragma)\b"
)
_INDENT = 400
"""Most white space before a directive."""
_NAME = re.compile(rb'[ \t]*(?:<([^>\n]*)>|"([^"\n]*)")')
_GUARD = re.compile(rb"[ \t]*(\w+)")


@dataclass(frozen=True)
class Directive:
    """A directive: `word`, the place of its line's first and behind its last byte, where its text begins, and the
    conditions around it (each a number of its own for each branch; an include guard is none)."""

    word: bytes
    start: int
    text: int
    end: int
    conditions: tuple[int, ...]


@dataclass(frozen=True)
class Include:
    """An include: what it names, the range of the name with its quotes or brackets, and whether it has quotes."""

    directive: Directive
    name: str
    start: int
    end: int
    quoted: bool


@dataclass(frozen=True)
class Wanted:
    """The edits that include the headers needed, and the names of the support files among them."""

    edits: tuple[Edit, ...]
    support: tuple[str, ...]


def directives(code: bytes) -> tuple[Directive, ...]:
    """Return the directives of blanked code with the conditions around each."""
    found, stack, fresh, guard = list[Directive](), list[int](), 0, _guard(code)
    for match, start in _found(code):
        word = match.group(1)
        closes = word in (b"endif", b"else") or word.startswith(b"elif")
        last = stack.pop() if closes and stack else 0
        conditions = tuple(each for each in stack if each)
        end = code.find(b"\n", match.end())
        found.append(Directive(word, start, match.end(1), len(code) if end < 0 else end, conditions))
        if word.startswith((b"if", b"el")):
            fresh += 1
            stack.append(0 if start == guard or (last == 0 and word.startswith(b"el")) else fresh)
        if len(stack) > 1000:
            break  # nested beyond what any compiler takes
    return tuple(found)


def _found(code: bytes) -> Iterator[tuple[re.Match[bytes], int]]:
    """Yield the directives with the starts of their lines: nothing but white space, or a byte order mark, is before them."""
    for match in _DIRECTIVE.finditer(code):
        sign = match.start()
        low = max(0, sign - _INDENT)
        start = code.rfind(b"\n", low, sign) + 1 or low
        before = code[start:sign].lstrip(b" \t\r") if start != sign else b""
        if not before:
            yield match, start
        elif before == b"\xef\xbb\xbf" and start == 0:
            yield match, 3


def _guard(code: bytes) -> int:
    """Return where the include guard begins, or -1: `#ifndef X` and `#define X` before anything else."""
    first = _found(code)
    (one, start), (two, _) = next(first, (None, 0)), next(first, (None, 0))
    if one is None or two is None or one.group(1) not in (b"ifndef", b"if") or two.group(1) != b"define":
        return -1
    if code[: one.start()].strip(b" \t\r\n\xef\xbb\xbf"):
        return -1
    text = code[one.end() : code.find(b"\n", one.end())]
    defined = _GUARD.match(code, two.end())
    return start if defined is not None and re.search(rb"\b" + defined.group(1) + rb"\b", text) else -1


def includes(unit: Unit) -> tuple[Include, ...]:
    """Return the includes of a unit; those whose name is a macro are left out."""
    found = list[Include]()
    for each in unit.directives:
        if each.word not in (b"include", b"include_next", b"import"):
            continue
        match = _NAME.match(unit.data, each.text, each.end)
        if match is not None:
            quoted = match.group(2) is not None
            name = match.group(2) if quoted else match.group(1)
            start = match.end() - len(name) - 2
            found.append(Include(each, name.decode("utf-8", "replace"), start, match.end(), quoted))
    return tuple(found)


def needed(unit: Unit, needs: Sequence[Need], edits: Sequence[Edit]) -> Wanted:
    """Return the edits that include what is needed and not there yet, neither before nor after `edits`."""
    if not needs:
        return Wanted((), ())
    there = _there(unit, edits)
    texts, support = list[bytes](), list[str]()
    for each in {need.header: need for need in needs}.values():
        name = each.header[1:-1].decode()
        header = each.header
        if header.startswith(b'"'):
            support.append(name)
            header = b'"' + b"../" * (len(unit.path.parts) - 1) + header[1:]
        if header not in there:
            texts.append(b"#include " + header)
    if not texts:
        return Wanted((), tuple(support))
    line_end = b"\r\n" if b"\r\n" in unit.data else b"\n"
    place = place_of_include(unit)
    text = b"".join(each + line_end for each in texts)
    reason = "; ".join(dict.fromkeys(need.reason for need in needs))
    return Wanted((Edit(place, place, text, "needs", reason),), tuple(support))


def _there(unit: Unit, edits: Sequence[Edit]) -> set[bytes]:
    """Return the headers included outside conditions once the edits are applied, with quotes or brackets."""
    replaced = {(each.start, each.end): each.replacement for each in edits}
    found = set[bytes]()
    for include in includes(unit):
        if include.directive.conditions:
            continue
        new = replaced.get((include.start, include.end), unit.data[include.start : include.end])
        if isinstance(new, bytes):
            found.add(new)
    return found


def place_of_include(unit: Unit) -> int:
    """Return where includes are inserted: the start of a line, before the first include and what is around it."""
    code = unit.code
    first = len(code) - len(code.lstrip(b" \t\r\n\xef\xbb\xbf"))
    top = 3 if code.startswith(b"\xef\xbb\xbf") else 0
    earliest = max(top, code.rfind(b"\n", 0, first) + 1) if first < len(code) else top
    outer: int | None = None
    guard = _guard(code)
    for index, each in enumerate(unit.directives):
        guards = each.start == guard or (index > 0 and unit.directives[index - 1].start == guard)
        once = each.word == b"pragma" and code[each.text : each.end].strip() == b"once" and outer is None
        if guards or once:
            earliest = min(each.end + 1, len(code))
        elif each.word.startswith(b"if") and not each.conditions:
            outer = each.start
        elif each.word == b"include":
            place = each.start if not each.conditions or outer is None else outer
            place = max(top, place)
            return place if b"{" not in code[:place] else earliest
    return earliest

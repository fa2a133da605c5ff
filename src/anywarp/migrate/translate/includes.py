"""Reads the directives of a source: the conditions around each, and what its includes name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


def directives(code: bytes) -> tuple[Directive, ...]:
    """Return the directives of blanked code with the conditions around each."""
    found, stack, fresh, guard = list[Directive](), list[int](), 0, guard_of(code)
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


def guard_of(code: bytes) -> int:
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


def includes(data: bytes, directives: Sequence[Directive]) -> tuple[Include, ...]:
    """Return the includes among the directives of a text; those whose name is a macro are left out."""
    found = list[Include]()
    for each in directives:
        if each.word not in (b"include", b"include_next", b"import"):
            continue
        match = _NAME.match(data, each.text, each.end)
        if match is not None:
            quoted = match.group(2) is not None
            name = match.group(2) if quoted else match.group(1)
            start = match.end() - len(name) - 2
            found.append(Include(each, name.decode("utf-8", "replace"), start, match.end(), quoted))
    return tuple(found)

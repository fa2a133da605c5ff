"""Reading an `asm` statement of CUDA C++: its template, operands and constraints, from the text as it stands.

The template is read the way nvcc does: neighbouring literals joined, escapes resolved, `%%` for `%`, `%n` for operand n. What the
text alone does not say (a template made by macros) is told apart from what is no PTX at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

OPENING = re.compile(rb"\b(?:__asm__|__asm|asm)\b\s*((?:(?:volatile|__volatile__|__volatile|inline|goto)\b\s*)*)\(")
_STRING = re.compile(rb'(?:u8|[uUL])?(R)?"')
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b'"': b'"', b"\\": b"\\", b"0": b"\0", b"'": b"'"}
REGISTERS = {"h": "i16", "r": "i32", "l": "i64", "f": "f32", "d": "f64", "q": "i128", "n": "i32", "i": "i32", "C": ""}
"""The value types of NVIDIA's constraints."""


@dataclass(frozen=True)
class AsmOperand:
    """One operand: its constraint letter, whether it is written and read, and where its expression stands in the source."""

    letter: str
    written: bool
    read: bool
    start: int
    end: int


@dataclass(frozen=True)
class AsmStatement:
    """`asm(...)` at `[start, end)` of the source, up to behind the closing bracket; `template` is what the assembler would see.

    `broken` says why the template is not known, empty when it is. `foreign`: the constraints are not NVIDIA's.
    """

    start: int
    end: int
    template: str
    operands: tuple[AsmOperand, ...]
    broken: str = ""
    foreign: bool = False


def statements(code: bytes, data: bytes) -> list[AsmStatement]:
    """Find every asm statement; `code` is `data` with comments and the inside of literals blanked at the same places."""
    found: list[AsmStatement] = []
    place = 0
    while (match := OPENING.search(code, place)) is not None:
        end = _closing(code, match.end())
        if end < 0:
            break
        found.append(_statement(code, data, match.start(), match.end(), end))
        place = end + 1
    return found


def _closing(code: bytes, start: int, limit: int = 1 << 16) -> int:
    """Return the place of the bracket that closes the one before `start`, or -1."""
    depth = 1
    for match in re.compile(rb"[()]").finditer(code, start, min(len(code), start + limit)):
        depth += 1 if match.group() == b"(" else -1
        if depth == 0:
            return match.start()
    return -1


def _statement(code: bytes, data: bytes, start: int, inside: int, end: int) -> AsmStatement:
    sections = _sections(code, inside, end)
    template, broken = _template(code, data, *sections[0])
    operands: list[AsmOperand] = []
    foreign = False
    for n, (first, last) in enumerate(sections[1:3]):
        found = _operands(code, data, first, last, written=n == 0)
        foreign = foreign or found is None
        operands += found or ()
    if not broken:
        template = _percent(template, bool(len(sections) > 1))
    return AsmStatement(start, end + 1, template, tuple(operands), broken, foreign)


def _sections(code: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Split at colons outside brackets; `::` is two of them here, except inside an expression."""
    return _split(code, start, end, b":")


def _split(code: bytes, start: int, end: int, separator: bytes) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    depth, first = 0, start
    for match in re.compile(rb"[()\[\]{}]|\?|" + re.escape(separator)).finditer(code, start, end):
        mark = match.group()
        if mark in b"([{":
            depth += 1
        elif mark in b")]}":
            depth -= 1
        elif mark == separator and depth == 0:
            pieces.append((first, match.start()))
            first = match.end()
    return [*pieces, (first, end)]


def _template(code: bytes, data: bytes, start: int, end: int) -> tuple[str, str]:
    """Join the literals of a template; the second result says why it is not known."""
    pieces: list[bytes] = []
    place = start
    while True:
        place += len(re.compile(rb"(?:\s|\\\r?\n)*").match(code, place, end).group())  # type: ignore[union-attr]
        if place >= end:
            return b"".join(pieces).decode("utf-8", "replace"), "" if pieces else "it is empty"
        match = _STRING.match(code, place, end)
        if match is None:
            return "", "its text is made by macros"
        close = code.find(b'"', match.end(), end)
        if close < 0:
            return "", "a literal does not end"
        body = data[match.end() : close]
        if match.group(1):
            open_, shut = body.find(b"("), body.rfind(b")")
            pieces.append(body[open_ + 1 : shut] if 0 <= open_ < shut else b"")
        else:
            pieces.append(_unescaped(body))
        place = close + 1


def _unescaped(body: bytes) -> bytes:
    joined = re.sub(rb"\\\r?\n", b"", body)
    return re.sub(rb"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group()), joined, flags=re.DOTALL)


def _percent(template: str, operands: bool) -> str:
    """Write `%%` as `%`, and `%3` as a register that PTX can name."""
    text = re.sub(
        r"%(%|\d+|=)", lambda m: "%" if m.group(1) == "%" else f"%operand{m.group(1).replace('=', '_unique')}", template
    )
    return text if operands else template.replace("%%", "%")


_CONSTRAINT = re.compile(rb'\s*(?:\[\s*\w+\s*\]\s*)?"([^"]*)"\s*\(')


def _operands(code: bytes, data: bytes, start: int, end: int, *, written: bool) -> list[AsmOperand] | None:
    """Read a list of operands, or return None where a constraint is not NVIDIA's; nvcc bears a comma that is missing."""
    found: list[AsmOperand] = []
    place = start
    while code[place:end].strip(b" \t\r\n\\,"):
        place += len(code[place:end]) - len(code[place:end].lstrip(b" \t\r\n\\,"))
        match = _CONSTRAINT.match(data, place, end)
        close = _closing(code, match.end()) if match is not None else -1
        if match is None or not 0 <= close < end:
            return None
        letters = re.fullmatch(r"([=+]?)&?([hrlfdqniC])", match.group(1).decode("ascii", "replace").strip())
        if letters is None:
            return None
        inside = code[match.end() : close]
        first = match.end() + len(inside) - len(inside.lstrip())
        last = max(first, match.end() + len(inside.rstrip()))
        found.append(AsmOperand(letters.group(2), written, not written or letters.group(1) == "+", first, last))
        place = close + 1
    return found

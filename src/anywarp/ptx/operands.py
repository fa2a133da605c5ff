"""The operands of instructions (section 6), as written.

They are the same for every opcode, so that an instruction this project has never heard of still parses, and is then refused by name.
"""

from __future__ import annotations

from typing import Literal

from anywarp.ptx import codes
from anywarp.ptx.constants import TERM, constant, integer
from anywarp.ptx.lexer import Cursor
from anywarp.ptx.tree import Address, Group, Integer, Name, Negated, Offset, Operand, Pair, Sink, Vector

_ENDS = (",", ";", ")", "]", "}", "|")


def operands(c: Cursor, groups: bool) -> tuple[Operand, ...]:
    """Parse a comma-separated list up to `;`; `groups` says that `(` opens a list, as in `call`."""
    found: list[Operand] = []
    while not c.at(";"):
        if found:
            c.expect(",", "or `;` after the operand")
        found.append(operand(c, groups))
    return tuple(found)


def operand(c: Cursor, groups: bool = False) -> Operand:
    """Parse one operand, `d|p` included."""
    first = _single(c, groups)
    return Pair(first, _single(c, False)) if c.take("|") else first


def name(c: Cursor) -> Name:
    """Parse `name` or `name.member`."""
    word = c.word("a name")
    if c.kind != "dot":
        return Name(word)
    member = c.advance()[1:]
    return Name(word, member)


def _single(c: Cursor, groups: bool) -> Operand:
    if c.kind == "word":
        return _named(c)
    if c.at("["):
        return _address(c)
    if c.at("{"):
        return Vector(_list(c, "{", "}"))
    if groups and c.at("("):
        return Group(_list(c, "(", ")"))
    if c.at("!", "-"):
        return _negated(c)
    if c.at(";", ",", "}", ")", "]") or c.kind in ("end", "string", "dot"):
        c.unexpected("an operand")
    return constant(c)


def _negated(c: Cursor) -> Operand:
    start = c.start
    sign: Literal["!", "-"] = "!" if c.advance() == "!" else "-"
    if c.kind == "word" and c.value != "WARP_SZ":
        return Negated(name(c), sign)
    c.seek(start)
    return constant(c)


def _named(c: Cursor) -> Operand:
    """Parse an operand that begins with an identifier."""
    start = c.start
    if c.value == "_":
        c.advance()
        return Sink()
    base = name(c)
    if c.at(*_ENDS) or c.kind == "end":
        return base
    if base.name == "WARP_SZ":
        c.seek(start)
        return constant(c)
    if c.take("["):
        index = integer(c, "as an index")
        c.expect("]", "after the index")
        return Offset(base, index, indexed=True)
    return Offset(base, _displacement(c)) if c.at("+", "-") else base


def _displacement(c: Cursor) -> int:
    """Parse `+ n`, `- n` and any sequence of them, wrapped to 64 bits."""
    total = 0
    while c.at("+", "-"):
        sign = 1 if c.advance() == "+" else -1
        if c.kind == "word" and c.value != "WARP_SZ":
            c.fail(codes.UNEXPECTED, f"only a constant can be added to an address, not `{c.value[:40]}`")
        term = constant(c, TERM)
        if not isinstance(term, Integer):
            c.fail(codes.NOT_CONSTANT, "an offset is an integer, not a floating-point value")
        total += sign * term.value
    return (total + (1 << 63)) % (1 << 64) - (1 << 63)


def _address(c: Cursor) -> Address:
    """Parse `[base+offset]` and the texture and tensor forms `[base, {x, y}]`."""
    c.enter()
    c.expect("[", "before the address")
    base = operand(c)
    offset = 0
    if isinstance(base, Offset) and not base.indexed:
        base, offset = base.base, base.value
    extra: list[Operand] = []
    while c.take(","):
        extra.append(operand(c))
    c.expect("]", "after the address")
    c.leave()
    unified = c.kind == "dot" and c.value == ".unified"
    if unified:
        c.advance()
    return Address(base, offset, tuple(extra), unified)


def _list(c: Cursor, opening: str, closing: str) -> tuple[Operand, ...]:
    c.enter()
    c.expect(opening, "here")
    found: list[Operand] = []
    while not c.at(closing):
        if found:
            c.expect(",", f"or `{closing}` after the element")
        found.append(operand(c))
    if not found and closing == "}":
        c.unexpected("an element")
    c.advance()
    c.leave()
    return tuple(found)

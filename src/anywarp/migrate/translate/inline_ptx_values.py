"""C++ expressions that are made of others, with the parentheses and intermediate variables that reading them needs.

The meanings of instructions (`ptx/isa`) are written over operations on opaque values; here such a value is a piece of C++ whose
type is known exactly, so that an expression never depends on C++'s promotions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from anywarp.migrate.translate.edits import Kept
from anywarp.ptx.isa.ops import Type

Text: TypeAlias = "tuple[str | Kept, ...]"
"""C++ text in which pieces of the source are kept."""

CPP: dict[Type, str] = {
    "i1": "bool", "i8": "unsigned char", "i16": "unsigned short", "i32": "unsigned int", "i64": "unsigned long long",
    "i128": "unsigned __int128", "f16": "_Float16", "bf16": "anywarp::bf16", "f32": "float", "f64": "double",
}  # fmt: skip
"""The C++ type that holds each type of value."""
SIGNED: dict[Type, str] = {"i8": "signed char", "i16": "short", "i32": "int", "i64": "long long", "i128": "__int128"}

ATOM, UNARY, TIMES, PLUS, SHIFT, RELATION, EQUAL, AND, XOR, OR, BOTH, EITHER, CHOICE = range(16, 3, -1)
"""How tightly C++ binds, the tightest first."""
_APART = frozenset((PLUS, SHIFT, AND, XOR, OR, RELATION, EQUAL, BOTH, EITHER))
LIMIT = 600
"""Most nodes of one expression; the longest meaning that a person would still read has some fifty."""


class TooLong(Exception):
    """An expression that nobody could read any more."""


@dataclass(eq=False, slots=True)
class Value:
    """A typed C++ expression: text and other values in order, and how tightly its outermost operator binds.

    `raw` is the operand of an asm statement that this value reads, without the cast to its register's type. `constant` holds the
    bits of a literal.
    """

    type: Type
    parts: tuple[str | Kept | Value, ...]
    binds: int = ATOM
    raw: Text | None = None
    constant: int | None = None
    simple: bool = False
    operands: tuple[Value, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.operands = tuple(p for p in self.parts if isinstance(p, Value))


def call(type: Type, name: str, *arguments: Value | str) -> Value:
    """Return the call of a function whose result has exactly the C++ type of `type`."""
    parts: list[str | Kept | Value] = [f"{name}("]
    for n, argument in enumerate(arguments):
        parts += [", ", argument] if n else [argument]
    return Value(type, (*parts, ")"))


def binary(type: Type, operator: str, binds: int, a: Value, b: Value) -> Value:
    """Return `a operator b`."""
    return Value(type, (a, f" {operator} ", b), binds)


def cast(type: Type, a: Value, spelled: str = "") -> Value:
    """Return `(type)a`; `spelled` is another C++ type to cast to."""
    return Value(type, (f"({spelled or CPP[type]})", a), UNARY)


def atoms(values: Sequence[Value]) -> dict[int, int]:
    """Count how often each value occurs in a set of expressions, by identity; TooLong beyond the limit."""
    found: dict[int, int] = {}
    stack = list(values)
    while stack:
        value = stack.pop()
        found[id(value)] = found.get(id(value), 0) + 1
        if len(found) > LIMIT:
            raise TooLong
        if found[id(value)] == 1:
            stack += value.operands
    return found


@dataclass
class Writer:
    """Writes expressions of one instruction; what occurs more than once gets a variable first."""

    name: str = "t"
    taken: frozenset[str] = frozenset()
    first: int = 0
    statements: list[Text] = field(default_factory=list[Text])
    named: dict[int, str] = field(default_factory=dict[int, str])

    def share(self, values: Sequence[Value]) -> None:
        """Give a variable to whatever occurs more than once in `values`."""
        counts = atoms(values)
        for value in _in_order(values):
            if counts[id(value)] > 1 and value.operands:
                self.bind(value)

    def bind(self, value: Value) -> None:
        """Give a value a variable."""
        text = self.text(value)
        name = self._fresh()
        self.statements.append((f"const {CPP[value.type]} {name} = ", *text))
        self.named[id(value)] = name

    def _fresh(self) -> str:
        n = self.first + len(self.named)
        while f"{self.name}{n}" in self.taken:
            n += 1
        return f"{self.name}{n}"

    def text(self, value: Value, outer: int = 0) -> Text:
        """Write a value where an operator that binds as tightly as `outer` surrounds it."""
        name = self.named.get(id(value))
        if name is not None:
            return (name,)
        inside = self._inside(value)
        if (value.binds <= outer and not (value.binds == outer == UNARY)) or self._mixed(value.binds, outer):
            return ("(", *inside, ")")
        return inside

    def _mixed(self, inner: int, outer: int) -> bool:
        """Say whether readers would want parentheses that C++ does not need."""
        return inner in _APART and outer in _APART

    def _inside(self, value: Value) -> Text:
        out: list[str | Kept] = []
        for part in value.parts:
            if isinstance(part, Value):
                surrounding = 0 if value.binds == ATOM else value.binds
                out += self.text(part, surrounding)
            else:
                out.append(part)
        return tuple(out)


def _in_order(values: Sequence[Value]) -> Iterator[Value]:
    """Yield every value once, operands before what is made of them."""
    seen: set[int] = set()
    stack: list[tuple[Value, bool]] = [(v, False) for v in reversed(values)]
    while stack:
        value, done = stack.pop()
        if done:
            yield value
        elif id(value) not in seen:
            seen.add(id(value))
            stack.append((value, True))
            stack += [(v, False) for v in reversed(value.operands)]


def joined(text: Text) -> Text:
    """Join neighbouring strings."""
    out: list[str | Kept] = []
    for part in text:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        else:
            out.append(part)
    return tuple(out)

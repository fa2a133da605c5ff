"""Signatures of the kernel IR's operations: which operands they take and what they make, as one line of text each.

    T:int T -> T        two integers of one type make a third
    i64 -> i1           exactly these types
    A:address T* -> T   `*` any number of the same (also none), `?` one or none

A letter stands for one type throughout; behind the colon stands which it may be: types or classes of them, joined by `|`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, get_args

from anywarp.ptx.isa.ops import Type

_ALL = frozenset(cast("tuple[Type, ...]", get_args(Type)))
CLASSES: dict[str, frozenset[str]] = {
    "any": _ALL,
    "int": frozenset(t for t in _ALL if t[0] == "i" and t != "i1"),
    "bits": frozenset(t for t in _ALL if t[0] == "i"),
    "float": frozenset(t for t in _ALL if t[0] != "i"),
    "memory": _ALL - {"i1"},
    "address": frozenset({"i32", "i64"}),
}
"""Classes of types, by the words that signatures use."""


@dataclass(frozen=True, slots=True)
class _Part:
    letter: str
    types: frozenset[str] | None
    """None: what the letter stands for already."""
    least: int = 1
    most: int | None = 1

    def takes(self, type: str, bound: dict[str, str]) -> bool:
        """Tell whether an operand has the right type, and note what the letter stands for."""
        known = bound.get(self.letter) if self.letter else None
        if known is not None:
            return type == known
        if self.types is None or type not in self.types:
            return False
        if self.letter:
            bound[self.letter] = type
        return True


@dataclass(frozen=True, slots=True)
class Signature:
    """The operands and the result of an operation ("" where it has none, as terminators)."""

    text: str
    operands: tuple[_Part, ...]
    result: _Part | None

    def fits(self, operands: Sequence[str], result: str) -> bool:
        """Tell whether operands of these types make a result of that type."""
        bound: dict[str, str] = {}
        at = 0
        for part in self.operands:
            count = 0
            while at < len(operands) and (part.most is None or count < part.most):
                if not part.takes(operands[at], bound):
                    break
                at, count = at + 1, count + 1
            if count < part.least:
                return False
        if at < len(operands):
            return False
        return self.result is None or self.result.takes(result, bound)


def signature(text: str) -> Signature:
    """Read a signature. Raises KeyError for a class of types that does not exist."""
    before, arrow, after = text.partition("->")
    operands = tuple(_part(word) for word in before.split())
    return Signature(text, operands, _part(after.strip()) if arrow else None)


def _part(word: str) -> _Part:
    least, most = (0, None) if word[-1] == "*" else (0, 1) if word[-1] == "?" else (1, 1)
    word = word.rstrip("*?")
    letter, _, kinds = word.partition(":") if word[0].isupper() else ("", "", word)
    if not kinds:
        return _Part(letter, None, least, most)
    types = frozenset[str]().union(*(CLASSES[k] if k in CLASSES else _one(k) for k in kinds.split("|")))
    return _Part(letter, types, least, most)


def _one(name: str) -> frozenset[str]:
    if name not in _ALL:
        raise KeyError(name)
    return frozenset({name})

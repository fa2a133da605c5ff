"""Bounds of integer values: an interval of their bits read as unsigned numbers.

Thread indices are small, so much of what PTX does for signs and wrap-around can be decided from their bounds.
"""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.attributes import Compare, Signed, Special
from anywarp.compiler.fold import INTEGERS, compare, signed
from anywarp.compiler.ir import Const, Op, Phi, Specialisation, Value
from anywarp.ptx.isa.ops import BITS

Interval = tuple[int, int]

_GRID = {"x": (1 << 31) - 1, "y": 65535, "z": 65535}
_BLOCK = {"x": 1024, "y": 1024, "z": 64}
_OTHERS: dict[str, Interval] = {"laneid": (0, 31), "warpid": (0, 31), "nwarpid": (1, 32)}


class Ranges:
    """Intervals of the values seen so far; feed blocks in an order where operands come first (loops' phis know nothing)."""

    def __init__(self, specialisation: Specialisation) -> None:
        self.block = specialisation.block
        self.known: dict[Value, Interval] = {}

    def of(self, value: Value) -> Interval:
        """Return the interval of an integer value, of full width where nothing is known."""
        if isinstance(value, Const):
            return value.bits, value.bits
        found = self.known.get(value)
        return found if found is not None else (0, (1 << BITS[value.type]) - 1)

    def phi(self, phi: Phi) -> None:
        """Join what comes in, if all of it has been seen."""
        if phi.type not in INTEGERS or not all(isinstance(v, Const) or v in self.known for v in phi.incoming.values()):
            return
        bounds = [self.of(v) for v in phi.incoming.values()]
        self.known[phi] = min(b[0] for b in bounds), max(b[1] for b in bounds)

    def op(self, op: Op) -> int | None:
        """Note the interval of an operation; return its bits when there is only one possibility."""
        if op.type not in INTEGERS:
            return None
        found = self._special(Special.of(op).name) if op.name == "special" else self._interval(op)
        top = (1 << BITS[op.type]) - 1
        if found is None or found[0] < 0 or found[1] > top:
            return None
        if found == (0, top):
            return None
        self.known[op] = found
        return found[0] if found[0] == found[1] else None

    def _special(self, name: str) -> Interval | None:
        base, _, axis = name.partition(".")
        if base in ("tid", "ntid"):
            size = _BLOCK[axis] if self.block is None else self.block["xyz".index(axis)]
            return (0, size - 1) if base == "tid" else (1 if self.block is None else size, size)
        if base in ("ctaid", "nctaid"):
            most = _GRID[axis]
            if axis == "x" and self.block is not None:
                most = min(most, (1 << 30) // self.block[0])
            return (0, most - 1) if base == "ctaid" else (1, most)
        return _OTHERS.get(name)

    def _interval(self, op: Op) -> Interval | None:
        rule = _RULES.get(op.name)
        if rule is not None:
            bounds = [self.of(a) for a in op.args]
            return rule(bounds, BITS[op.args[0].type])
        if op.name == "icmp":
            return self._icmp(op)
        if op.name == "select":
            a, b = self.of(op.args[1]), self.of(op.args[2])
            return min(a[0], b[0]), max(a[1], b[1])
        if op.name in ("div", "rem", "min", "max"):
            return self._signed_kind(op)
        return None

    def _icmp(self, op: Op) -> Interval | None:
        if op.args[0].type not in INTEGERS:
            return None
        width = BITS[op.args[0].type]
        predicate: str = Compare.of(op).predicate
        (a0, a1), (b0, b1) = self.of(op.args[0]), self.of(op.args[1])
        if predicate in ("eq", "ne"):
            answer = int(predicate == "ne")
            return (answer, answer) if a1 < b0 or b1 < a0 else None
        if predicate[0] == "s" and (_crosses(a0, a1, width) or _crosses(b0, b1, width)):
            return None
        # Monotonic in both operands: the corners decide.
        outcomes = {compare(predicate, a, b, width) for a in (a0, a1) for b in (b0, b1)}
        if len(outcomes) != 1:
            return None
        answer = int(outcomes.pop())
        return answer, answer

    def _signed_kind(self, op: Op) -> Interval | None:
        width = BITS[op.type]
        a, b = self.of(op.args[0]), self.of(op.args[1])
        half = 1 << (width - 1)
        if Signed.of(op).signed and (a[1] >= half or b[1] >= half):
            return None
        if op.name == "div":
            return (a[0] // b[1], a[1] // b[0]) if b[0] > 0 else None
        if op.name == "rem":
            return (0, min(a[1], b[1] - 1)) if b[0] > 0 else (0, a[1])
        pick: Callable[[int, int], int] = min if op.name == "min" else max
        return pick(a[0], b[0]), pick(a[1], b[1])


def _crosses(low: int, high: int, width: int) -> bool:
    """Tell whether an unsigned interval holds both signs."""
    return signed(low, width) > signed(high, width)


def _add(b: list[Interval], width: int) -> Interval | None:
    low, high = b[0][0] + b[1][0], b[0][1] + b[1][1]
    size = 1 << width
    if high < size:
        return low, high
    return (low - size, high - size) if low >= size else None


def _sub(b: list[Interval], width: int) -> Interval | None:
    return (b[0][0] - b[1][1], b[0][1] - b[1][0]) if b[0][0] >= b[1][1] else None


def _mul(b: list[Interval], width: int) -> Interval | None:
    return b[0][0] * b[1][0], b[0][1] * b[1][1]


def _and(b: list[Interval], width: int) -> Interval | None:
    return 0, min(b[0][1], b[1][1])


def _or(b: list[Interval], width: int) -> Interval | None:
    return max(b[0][0], b[1][0]), (1 << max(b[0][1].bit_length(), b[1][1].bit_length())) - 1


def _xor(b: list[Interval], width: int) -> Interval | None:
    return 0, (1 << max(b[0][1].bit_length(), b[1][1].bit_length())) - 1


def _shl(b: list[Interval], width: int) -> Interval | None:
    if b[1][1] >= width:
        return None
    return b[0][0] << b[1][0], b[0][1] << b[1][1]


def _lshr(b: list[Interval], width: int) -> Interval | None:
    return b[0][0] >> min(b[1][1], width), b[0][1] >> min(b[1][0], width)


def _ashr(b: list[Interval], width: int) -> Interval | None:
    return (
        _lshr([b[0], (min(b[1][0], width - 1), min(b[1][1], width - 1))], width) if b[0][1] < 1 << width - 1 else None
    )


def _sext(b: list[Interval], width: int) -> Interval | None:
    return b[0] if b[0][1] < 1 << width - 1 else None


def _count(b: list[Interval], width: int) -> Interval | None:
    return 0, width


_RULES: dict[str, Callable[[list[Interval], int], Interval | None]] = {
    "add": _add, "sub": _sub, "mul": _mul, "and": _and, "or": _or, "xor": _xor, "shl": _shl, "lshr": _lshr, "ashr": _ashr,
    "zext": lambda b, w: b[0], "sext": _sext, "trunc": lambda b, w: b[0], "ctpop": _count, "ctlz": _count, "cttz": _count,
}  # fmt: skip
"""Intervals from those of the operands and the operands' width; a result that does not fit the type is thrown away."""

"""Logic and shift instructions, and the byte permutation `prmt`.

Shift amounts are clamped or wrapped as the manual says, never left to what a machine does with a large amount.
"""

from __future__ import annotations

from collections.abc import Sequence

from anywarp.ptx.isa.operands import elementwise, is_signed, malformed, pair, read, take, value_type, write
from anywarp.ptx.isa.ops import BITS, Ops, Type, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction, Integer


@meaning("and.<bits>", "and.pred", "or.<bits>", "or.pred", "xor.<bits>", "xor.pred")
def logic(ops: Ops, i: Instruction) -> None:
    """`and`, `or`, `xor`."""
    operation = {"and": ops.and_, "or": ops.or_, "xor": ops.xor}[i.opcode]
    elementwise(ops, i, i.types[0], 2, operation)


@meaning("not.<bits>", "not.pred")
def not_(ops: Ops, i: Instruction) -> None:
    """`not`."""
    elementwise(ops, i, i.types[0], 1, ops.not_)


@meaning("cnot.<bits>")
def cnot(ops: Ops, i: Instruction) -> None:
    """`cnot`: 1 for zero, else 0."""
    elementwise(ops, i, i.types[0], 1, lambda a: ops.zext(ops.icmp("eq", a, ops.const(a.type, 0)), a.type))


# --- lop3: any function of three bits ---------------------------------------------------------------------------------


def _two(ops: Ops, table: int, a: V, b: V) -> V:
    """The function of two bits whose truth table has bit 2a+b."""
    zero = ops.const(a.type, 0)
    cases = {
        0b0000: lambda: zero,
        0b0011: lambda: ops.not_(a),
        0b0101: lambda: ops.not_(b),
        0b0110: lambda: ops.xor(a, b),
        0b1000: lambda: ops.and_(a, b),
        0b0001: lambda: ops.not_(ops.or_(a, b)),
        0b0010: lambda: ops.and_(ops.not_(a), b),
        0b0100: lambda: ops.and_(a, ops.not_(b)),
        0b1100: lambda: a,
        0b1010: lambda: b,
        0b1110: lambda: ops.or_(a, b),
    }
    return cases[table]() if table in cases else ops.not_(_two(ops, table ^ 0b1111, a, b))


_TWO_COST = {0: 0, 15: 0, 12: 0, 10: 0, 3: 1, 5: 1, 6: 1, 8: 1, 14: 1}


def _cofactors(table: int, pivot: int) -> tuple[int, int]:
    """The two tables of the remaining variables (in order) with variable `pivot` (0 = a, 1 = b, 2 = c) at 0 and 1."""
    found = [0, 0]
    for row in range(8):
        bits = [row >> 2 & 1, row >> 1 & 1, row & 1]
        at = bits.pop(pivot)
        found[at] |= (table >> row & 1) << (2 * bits[0] + bits[1])
    return found[0], found[1]


def _cost(table: int, pivot: int) -> int:
    low, high = _cofactors(table, pivot)
    change = low ^ high
    own = 0 if change == 0 else 1 if change == 15 else 2 + _TWO_COST.get(change, 2)
    return own + _TWO_COST.get(low, 2)


def lookup(ops: Ops, table: int, values: Sequence[V]) -> V:
    """The bitwise function of three values given by a truth table with bit 4a+2b+c: f0 ^ (pivot & (f0 ^ f1))."""
    pivot = min(range(3), key=lambda p: _cost(table, p))
    low, high = _cofactors(table, pivot)
    x, y = (v for n, v in enumerate(values) if n != pivot)
    base, change = _two(ops, low, x, y), low ^ high
    if change == 0:
        return base
    flip = values[pivot] if change == 15 else ops.and_(values[pivot], _two(ops, change, x, y))
    return flip if low == 0 else ops.xor(base, flip)


@meaning("lop3.b32", "lop3.and/or/xor.b32")
def lop3(ops: Ops, i: Instruction) -> None:
    """`lop3`: a function of three words by truth table; with a boolean operator also whether the result is nonzero."""
    boolean = i.has("and", "or", "xor")
    destination, *sources = take(i, 6 if boolean else 5)
    table = sources[3]
    if not isinstance(table, Integer):
        raise malformed(i, "its look-up table is not a constant")
    d, p = pair(destination)
    value = lookup(ops, table.value & 0xFF, [read(ops, s, "i32") for s in sources[:3]])
    flag: V = None
    if boolean:
        operation = ops.and_ if i.has("and") else ops.or_ if i.has("or") else ops.xor
        flag = operation(ops.icmp("ne", value, ops.const("i32", 0)), read(ops, sources[4], "i1"))
    write(ops, d, value)
    if boolean:
        write(ops, p, flag)


# --- shifts -------------------------------------------------------------------------------------------------------------


def amount_as(ops: Ops, amount: V, type: Type) -> V:
    """A 32-bit shift amount as `type`, without losing that it is too large."""
    if BITS[type] > 32:
        return ops.zext(amount, type)
    if BITS[type] < 32:
        return ops.trunc(ops.min(amount, ops.const("i32", BITS[type]), False), type)
    return amount


@meaning("shl.<bits>", "shr.<bits>", "shr.<int>")
def shift(ops: Ops, i: Instruction) -> None:
    """`shl`, `shr`: amounts above the width are clamped to it."""
    d, a, b = take(i, 3)
    type = value_type(i.types[0])
    operation = ops.shl if i.opcode == "shl" else ops.ashr if is_signed(i.types[0]) else ops.lshr
    write(ops, d, operation(read(ops, a, type), amount_as(ops, read(ops, b, "i32"), type)))


@meaning("shf.l/r.clamp/wrap.b32")
def shf(ops: Ops, i: Instruction) -> None:
    """`shf`: a funnel shift; b is the upper word, a the lower, and `.l` keeps the upper 32 bits of the result."""
    d, a, b, c = take(i, 4)
    low, high, n = (read(ops, x, "i32") for x in (a, b, c))
    width = ops.const("i32", 32)
    n = ops.min(n, width, False) if i.has("clamp") else ops.and_(n, ops.const("i32", 31))
    rest = ops.sub(width, n)
    left, right = (n, rest) if i.has("l") else (rest, n)
    write(ops, d, ops.or_(ops.shl(high, left), ops.lshr(low, right)))


# --- prmt ---------------------------------------------------------------------------------------------------------------

_MODES: dict[str, tuple[tuple[int, int, int, int], ...]] = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}
"""Source bytes of result bytes 0..3, by the two low bits of the selector (the manual's table for `prmt.mode`)."""


def permute(ops: Ops, words: Sequence[V], selectors: Sequence[int]) -> V:
    """Select bytes 0..7 of two words by constant selectors, lowest first; bit 3 replicates the byte's sign."""
    moves: dict[tuple[int, int], int] = {}
    total: V = None
    for at, selector in enumerate(selectors):
        word, byte = divmod(selector & 7, 4)
        if not selector & 8:
            moves[word, at - byte] = moves.get((word, at - byte), 0) | 0xFF << 8 * at
            continue
        sign = ops.ashr(ops.shl(words[word], ops.const("i32", 24 - 8 * byte)), ops.const("i32", 31))
        total = _or(ops, total, ops.and_(sign, ops.const("i32", 0xFF << 8 * at)))
    for (word, by), mask in moves.items():
        amount = ops.const("i32", 8 * abs(by))
        moved = words[word] if by == 0 else ops.shl(words[word], amount) if by > 0 else ops.lshr(words[word], amount)
        whole = (0xFFFFFFFF << 8 * by if by > 0 else 0xFFFFFFFF >> -8 * by) & 0xFFFFFFFF
        total = _or(ops, total, moved if mask == whole else ops.and_(moved, ops.const("i32", mask)))
    return total


def _or(ops: Ops, total: V | None, part: V) -> V:
    return part if total is None else ops.or_(total, part)


def _permute_by_value(ops: Ops, low: V, high: V, selector: V) -> V:
    """Select bytes by the nibbles of a value."""
    both = ops.or_(ops.zext(low, "i64"), ops.shl(ops.zext(high, "i64"), ops.const("i64", 32)))
    total: V = None
    for at in range(4):
        nibble = ops.lshr(selector, ops.const("i32", 4 * at))
        distance = ops.shl(ops.and_(nibble, ops.const("i32", 7)), ops.const("i32", 3))
        byte = ops.trunc(ops.lshr(both, ops.zext(distance, "i64")), "i8")
        signs = ops.ashr(byte, ops.const("i8", 7))
        replicate = ops.icmp("ne", ops.and_(nibble, ops.const("i32", 8)), ops.const("i32", 0))
        chosen = ops.zext(ops.select(replicate, signs, byte), "i32")
        total = _or(ops, total, ops.shl(chosen, ops.const("i32", 8 * at)))
    return total


@meaning("prmt.b32", "prmt.f4e/b4e/rc8/ecl/ecr/rc16.b32", "prmt.b32{.f4e/b4e/rc8/ecl/ecr/rc16}")
def prmt(ops: Ops, i: Instruction) -> None:
    """`prmt`: pick four bytes out of two words."""
    d, a, b, c = take(i, 4)
    low, high = read(ops, a, "i32"), read(ops, b, "i32")
    mode = next((m for m in i.modifiers if m in _MODES), None)
    if mode is None and isinstance(c, Integer):
        write(ops, d, permute(ops, (low, high), [c.value >> 4 * n & 15 for n in range(4)]))
    elif mode is None:
        write(ops, d, _permute_by_value(ops, low, high, read(ops, c, "i32")))
    else:
        selector = ops.and_(read(ops, c, "i32"), ops.const("i32", 3))
        value = permute(ops, (low, high), _MODES[mode][3])
        for n in (2, 1, 0):
            here = ops.icmp("eq", selector, ops.const("i32", n))
            value = ops.select(here, permute(ops, (low, high), _MODES[mode][n]), value)
        write(ops, d, value)

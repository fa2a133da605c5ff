"""Integer arithmetic: chapter "Integer Arithmetic Instructions" of the PTX manual.

Everything here wraps in two's complement unless the form says `.sat`.
"""

from __future__ import annotations

from anywarp.ptx.isa.operands import elementwise, is_signed, read, resize, take, value_type, write
from anywarp.ptx.isa.ops import BITS, Ops, Type, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction

_TWICE: dict[str, Type] = {"i8": "i16", "i16": "i32", "i32": "i64"}
_WIDER: dict[str, Type] = {"i16": "i32", "i32": "i64", "i64": "i128"}


def clamp_signed(ops: Ops, wide: V, type: Type) -> V:
    """Narrow a signed value to `type`, clamping to its range."""
    top = 1 << (BITS[type] - 1)
    bounded = ops.max(ops.min(wide, ops.const(wide.type, top - 1), True), ops.const(wide.type, -top), True)
    return ops.trunc(bounded, type)


@meaning(
    "add.<int>", "add.sat.s32/u32", "add{.sat}.u16x2/s16x2/u8x4/s8x4", "sub.<int>", "sub.sat.s32", "sub{.sat}.u8x4/s8x4"
)
def add(ops: Ops, i: Instruction) -> None:
    """`add`, `sub`; packed types part by part."""
    operation = ops.add if i.opcode == "add" else ops.sub
    signed = is_signed(i.types[0])

    def saturating(a: V, b: V) -> V:
        wide = operation(*(resize(ops, x, _TWICE[x.type], signed=signed) for x in (a, b)))
        if signed:
            return clamp_signed(ops, wide, a.type)
        # A difference of unsigned numbers that is negative is seen by its sign.
        bounded = ops.min(
            ops.max(wide, ops.const(wide.type, 0), True), ops.const(wide.type, (1 << BITS[a.type]) - 1), True
        )
        return ops.trunc(bounded, a.type)

    elementwise(ops, i, i.types[0], 2, saturating if i.has("sat") else operation)


@meaning("mul.lo/hi/wide.<int>")
def mul(ops: Ops, i: Instruction) -> None:
    """`mul`: the low half, the high half, or the whole product."""
    d, a, b = take(i, 3)
    type = value_type(i.types[0])
    write(ops, d, product(ops, i, read(ops, a, type), read(ops, b, type)))


def product(ops: Ops, i: Instruction, a: V, b: V) -> V:
    """The part of a * b that `.lo`, `.hi` or `.wide` selects."""
    signed = is_signed(i.types[0])
    if i.has("hi"):
        return ops.mulhi(a, b, signed)
    if i.has("wide"):
        wide = _WIDER[a.type]
        return ops.mul(resize(ops, a, wide, signed=signed), resize(ops, b, wide, signed=signed))
    return ops.mul(a, b)


@meaning("mad.lo/hi/wide.<int>", "mad.hi.sat.s32")
def mad(ops: Ops, i: Instruction) -> None:
    """`mad`: product plus a third operand."""
    d, a, b, c = take(i, 4)
    type = value_type(i.types[0])
    value = product(ops, i, read(ops, a, type), read(ops, b, type))
    addend = read(ops, c, value.type)
    if i.has("sat"):
        wide = ops.add(ops.sext(value, "i64"), ops.sext(addend, "i64"))
        write(ops, d, clamp_signed(ops, wide, "i32"))
    else:
        write(ops, d, ops.add(value, addend))


def product24(ops: Ops, i: Instruction, a: V, b: V) -> V:
    """The low or high 32 bits of the 48-bit product of two 24-bit numbers."""

    def low24(x: V) -> V:
        if not is_signed(i.types[0]):
            return ops.and_(x, ops.const("i32", 0xFFFFFF))
        eight = ops.const("i32", 8)
        return ops.ashr(ops.shl(x, eight), eight)

    a, b = low24(a), low24(b)
    if i.has("lo"):
        return ops.mul(a, b)
    signed = is_signed(i.types[0])
    wide = ops.mul(resize(ops, a, "i64", signed=signed), resize(ops, b, "i64", signed=signed))
    return ops.trunc(ops.lshr(wide, ops.const("i64", 16)), "i32")


@meaning("mul24.lo/hi.u32/s32")
def mul24(ops: Ops, i: Instruction) -> None:
    """`mul24`."""
    elementwise(ops, i, i.types[0], 2, lambda a, b: product24(ops, i, a, b))


@meaning("mad24.lo/hi.u32/s32", "mad24.hi.sat.s32")
def mad24(ops: Ops, i: Instruction) -> None:
    """`mad24`."""

    def value(a: V, b: V, c: V) -> V:
        p = product24(ops, i, a, b)
        if not i.has("sat"):
            return ops.add(p, c)
        return clamp_signed(ops, ops.add(ops.sext(p, "i64"), ops.sext(c, "i64")), "i32")

    elementwise(ops, i, i.types[0], 3, value)


@meaning("sad.<int>")
def sad(ops: Ops, i: Instruction) -> None:
    """`sad`: c + |a - b|."""
    signed = is_signed(i.types[0])

    def value(a: V, b: V, c: V) -> V:
        return ops.add(c, ops.sub(ops.max(a, b, signed), ops.min(a, b, signed)))

    elementwise(ops, i, i.types[0], 3, value)


@meaning("div.<int>", "rem.<int>")
def div(ops: Ops, i: Instruction) -> None:
    """`div`, `rem`; division by zero is unspecified in the manual and total here."""
    operation = ops.div if i.opcode == "div" else ops.rem
    elementwise(ops, i, i.types[0], 2, lambda a, b: operation(a, b, is_signed(i.types[0])))


@meaning("abs.<signed>", "neg.<signed>", "neg.s8x4")
def negate(ops: Ops, i: Instruction) -> None:
    """`abs`, `neg`; the most negative number stays itself."""

    def value(a: V) -> V:
        negated = ops.sub(ops.const(a.type, 0), a)
        return negated if i.opcode == "neg" else ops.max(a, negated, True)

    elementwise(ops, i, i.types[0], 1, value)


@meaning(*(f"{op}{form}" for op in ("min", "max") for form in (".<int>", ".u16x2/u8x4", "{.relu}.s16x2/s32/s8x4")))
def minmax(ops: Ops, i: Instruction) -> None:
    """`min`, `max`; `.relu` clamps a negative result to 0."""
    operation = ops.min if i.opcode == "min" else ops.max

    def value(a: V, b: V) -> V:
        found = operation(a, b, is_signed(i.types[0]))
        return ops.max(found, ops.const(found.type, 0), True) if i.has("relu") else found

    elementwise(ops, i, i.types[0], 2, value)


def _products(ops: Ops, i: Instruction, a: V, b: V, c: V, first: int) -> V:
    """The sum of c and the products of the half-words of `a` with the bytes of `b` from byte `first` on."""

    def field(x: V, at: int, bits: int, signed: bool) -> V:
        top = ops.shl(x, ops.const("i32", 32 - bits - at))
        down = ops.const("i32", 32 - bits)
        return ops.ashr(top, down) if signed else ops.lshr(top, down)

    signs = [is_signed(t) for t in i.types]
    for n in range(2):
        c = ops.add(c, ops.mul(field(a, 16 * n, 16, signs[0]), field(b, 8 * (first + n), 8, signs[1])))
    return c


@meaning("dp4a.u32/s32.u32/s32")
def dp4a(ops: Ops, i: Instruction) -> None:
    """`dp4a`: four products of bytes, summed onto c."""
    first, second = i.types
    elementwise(ops, i, "b32", 3, lambda a, b, c: ops.dot4(a, b, c, (is_signed(first), is_signed(second))))


@meaning("dp2a.lo/hi.u32/s32.u32/s32")
def dp2a(ops: Ops, i: Instruction) -> None:
    """`dp2a`: two products of half-words of a with the low or high two bytes of b, summed onto c."""
    first = 2 if i.has("hi") else 0
    elementwise(ops, i, "b32", 3, lambda a, b, c: _products(ops, i, a, b, c, first))


@meaning("clmad.lo/hi.u64")
def clmad(ops: Ops, i: Instruction) -> None:
    """`clmad`: one half of a product without carries, plus (exclusive or) c."""
    d, a, b, c = take(i, 4)
    x, y = read(ops, a, "i64"), read(ops, b, "i64")
    none = ops.const("i64", 0)
    total = read(ops, c, "i64")
    for n in range(64):
        bit = ops.and_(ops.lshr(x, ops.const("i64", n)), ops.const("i64", 1))
        moved = ops.shl(y, ops.const("i64", n)) if i.has("lo") else ops.lshr(y, ops.const("i64", 64 - n))
        total = ops.xor(total, ops.and_(moved, ops.sub(none, bit)))
    write(ops, d, total)

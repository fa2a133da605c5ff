"""Bit counting, finding and field instructions of the PTX manual's integer chapter.

Positions and lengths come from registers and may exceed the width, so each follows the manual's pseudocode exactly.
"""

from __future__ import annotations

from anywarp.ptx.isa.operands import is_signed, read, resize, take, value_type, write
from anywarp.ptx.isa.ops import BITS, Ops, Type, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction


@meaning("popc.b32/b64", "clz.b32/b64")
def count(ops: Ops, i: Instruction) -> None:
    """`popc`, `clz`: the result is 32 bits wide."""
    d, a = take(i, 2)
    value = read(ops, a, value_type(i.types[0]))
    write(ops, d, resize(ops, ops.ctpop(value) if i.opcode == "popc" else ops.ctlz(value), "i32"))


@meaning("bfind{.shiftamt}.u32/u64/s32/s64")
def bfind(ops: Ops, i: Instruction) -> None:
    """`bfind`: position of the most significant bit that is not the sign, or how far to shift it to the top."""
    d, a = take(i, 2)
    type = value_type(i.types[0])
    value = read(ops, a, type)
    if is_signed(i.types[0]):
        value = ops.xor(value, ops.ashr(value, ops.const(type, BITS[type] - 1)))
    zeros = resize(ops, ops.ctlz(value), "i32")
    if not i.has("shiftamt"):
        write(ops, d, ops.sub(ops.const("i32", BITS[type] - 1), zeros))
        return
    none = ops.icmp("eq", value, ops.const(type, 0))
    write(ops, d, ops.select(none, ops.const("i32", -1), zeros))


@meaning("fns.b32")
def fns(ops: Ops, i: Instruction) -> None:
    """`fns`: the position of the n-th set bit from a base, upwards or downwards."""
    d, a, b, c = take(i, 4)
    mask, base, offset = (read(ops, x, "i32") for x in (a, b, c))
    zero, one, last = (ops.const("i32", n) for n in (0, 1, 31))
    down = ops.icmp("slt", offset, zero)
    start = ops.select(down, ops.sub(last, base), base)
    field = ops.shl(ops.lshr(ops.select(down, ops.bitreverse(mask), mask), start), start)
    only = ops.shl(one, base)
    field = ops.select(ops.icmp("eq", offset, zero), ops.and_(mask, only), field)
    skip = ops.sub(ops.max(offset, ops.sub(zero, offset), True), one)
    for n in range(31):
        fewer = ops.and_(field, ops.sub(field, one))
        field = ops.select(ops.icmp("sgt", skip, ops.const("i32", n)), fewer, field)
    field = ops.select(ops.icmp("ugt", skip, last), ops.select(ops.icmp("eq", offset, zero), field, zero), field)
    position = ops.cttz(field)
    position = ops.select(down, ops.sub(last, position), position)
    write(ops, d, ops.select(ops.icmp("eq", field, zero), ops.const("i32", -1), position))


@meaning("brev.b32/b64")
def brev(ops: Ops, i: Instruction) -> None:
    """`brev`."""
    d, a = take(i, 2)
    write(ops, d, ops.bitreverse(read(ops, a, value_type(i.types[0]))))


def _byte(ops: Ops, value: V, type: Type) -> V:
    """The low eight bits of a 32-bit operand as `type`."""
    return resize(ops, ops.and_(value, ops.const("i32", 0xFF)), type)


@meaning("bfe.u32/u64/s32/s64")
def bfe(ops: Ops, i: Instruction) -> None:
    """`bfe`: extract a bit field; the signed forms extend the field's top bit."""
    d, a, b, c = take(i, 4)
    type = value_type(i.types[0])
    position, length = (_byte(ops, read(ops, x, "i32"), type) for x in (b, c))
    value = read(ops, a, type)
    if is_signed(i.types[0]):
        width = ops.const(type, BITS[type])
        rest = ops.sub(width, ops.min(length, width, False))
        write(ops, d, ops.ashr(ops.shl(ops.ashr(value, position), rest), rest))
        return
    ones = ops.const(type, -1)
    mask = ops.not_(ops.shl(ones, length))
    write(ops, d, ops.and_(ops.lshr(value, position), mask))


@meaning("bfi.b32/b64")
def bfi(ops: Ops, i: Instruction) -> None:
    """`bfi`: insert the low bits of a into b."""
    f, a, b, c, d = take(i, 5)
    type = value_type(i.types[0])
    position, length = (_byte(ops, read(ops, x, "i32"), type) for x in (c, d))
    mask = ops.shl(ops.not_(ops.shl(ops.const(type, -1), length)), position)
    field = ops.and_(ops.shl(read(ops, a, type), position), mask)
    write(ops, f, ops.or_(ops.and_(read(ops, b, type), ops.not_(mask)), field))


@meaning("szext.clamp/wrap.u32/s32")
def szext(ops: Ops, i: Instruction) -> None:
    """`szext`: extend an n-bit value to 32 bits; n = 0 gives 0, n >= 32 the value (clamp) or n modulo 32 (wrap)."""
    d, a, b = take(i, 3)
    value, length = read(ops, a, "i32"), read(ops, b, "i32")
    width = ops.const("i32", 32)
    length = ops.min(length, width, False) if i.has("clamp") else ops.and_(length, ops.const("i32", 31))
    rest = ops.sub(width, length)
    shift = ops.ashr if is_signed(i.types[0]) else ops.lshr
    write(ops, d, shift(ops.shl(value, rest), rest))


@meaning("bmsk.clamp/wrap.b32")
def bmsk(ops: Ops, i: Instruction) -> None:
    """`bmsk`: a mask of b ones from bit a on; both modulo 32 when wrapping."""
    d, a, b = take(i, 3)
    position, length = read(ops, a, "i32"), read(ops, b, "i32")
    if i.has("wrap"):
        low = ops.const("i32", 31)
        position, length = ops.and_(position, low), ops.and_(length, low)
    write(ops, d, ops.shl(ops.not_(ops.shl(ops.const("i32", -1), length)), position))

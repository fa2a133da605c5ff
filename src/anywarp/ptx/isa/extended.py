"""Extended-precision integer arithmetic: the manual's instructions that pass a carry along.

The carry flag is the hidden register `%cc`, which whoever keeps registers declares per thread as an i1.
"""

from __future__ import annotations

from anywarp.ptx.isa.operands import is_signed, read, take, value_type, write
from anywarp.ptx.isa.ops import Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction, Name

CARRY = Name("%cc")
"""The condition code register: a carry after additions, a borrow after subtractions."""


def add_with(ops: Ops, i: Instruction, a: V, b: V) -> V:
    """a + b (+ carry for `addc`, `madc`), setting the carry under `.cc`."""
    total = ops.add(a, b)
    carry = ops.icmp("ult", total, a)
    if i.opcode in ("addc", "madc"):
        before = ops.zext(ops.read(CARRY, "i1"), a.type)
        again = ops.add(total, before)
        carry = ops.or_(carry, ops.icmp("ult", again, total))
        total = again
    if i.has("cc"):
        ops.write(CARRY, carry)
    return total


def subtract_with(ops: Ops, i: Instruction, a: V, b: V) -> V:
    """a - b (- borrow for `subc`), setting the borrow under `.cc`."""
    rest = ops.sub(a, b)
    borrow = ops.icmp("ult", a, b)
    if i.opcode == "subc":
        before = ops.zext(ops.read(CARRY, "i1"), a.type)
        borrow = ops.or_(borrow, ops.icmp("ult", rest, before))
        rest = ops.sub(rest, before)
    if i.has("cc"):
        ops.write(CARRY, borrow)
    return rest


@meaning("add.cc.u32/s32/u64/s64", "addc{.cc}.u32/s32/u64/s64", "sub.cc.u32/s32/u64/s64", "subc{.cc}.u32/s32/u64/s64")
def add_carry(ops: Ops, i: Instruction) -> None:
    """`add.cc`, `addc`, `sub.cc`, `subc`."""
    d, a, b = take(i, 3)
    type = value_type(i.types[0])
    combine = add_with if i.opcode in ("add", "addc") else subtract_with
    write(ops, d, combine(ops, i, read(ops, a, type), read(ops, b, type)))


@meaning("mad.lo/hi.cc.u32/s32/u64/s64", "madc.lo/hi{.cc}.u32/s32/u64/s64")
def mad_carry(ops: Ops, i: Instruction) -> None:
    """`mad.cc`, `madc`: one half of a product, added with carry."""
    d, a, b, c = take(i, 4)
    type = value_type(i.types[0])
    x, y = read(ops, a, type), read(ops, b, type)
    half = ops.mulhi(x, y, is_signed(i.types[0])) if i.has("hi") else ops.mul(x, y)
    write(ops, d, add_with(ops, i, half, read(ops, c, type)))

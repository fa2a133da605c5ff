"""`cvt` to and from the 8-bit floats e4m3 and e5m2 (OCP formats), in packed pairs.

No target has these types, so they are integer work: rounding in the bits of an f32 for normal results, and by adding a number
whose last place is the format's smallest step for subnormal ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.ptx.isa.floating import relu
from anywarp.ptx.isa.operands import join, read, split, take, write
from anywarp.ptx.isa.ops import Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction


@dataclass(frozen=True, slots=True)
class SmallFormat:
    """Fraction bits, exponent bias, and the bits of the largest finite number; 0x7F is a NaN in both formats."""

    fraction: int
    bias: int
    largest: int


_FORMATS = {"e4m3x2": SmallFormat(3, 7, 0x7E), "e5m2x2": SmallFormat(2, 15, 0x7B)}


def narrow(ops: Ops, i: Instruction, f: SmallFormat, number: V) -> V:
    """An f32 rounded to nearest even in the format, as the low 8 bits of an i32; too large gives the largest."""

    def word(x: int) -> V:
        return ops.const("i32", x)

    if i.has("relu"):
        number = relu(ops, number)
    bits = ops.bitcast(number, "i32")
    size = ops.and_(bits, word(0x7FFFFFFF))
    drop = 23 - f.fraction
    odd = ops.and_(ops.lshr(size, word(drop)), word(1))
    rounded = ops.lshr(ops.add(ops.add(size, word((1 << (drop - 1)) - 1)), odd), word(drop))
    normal = ops.min(ops.sub(rounded, word((127 - f.bias) << f.fraction)), word(f.largest), True)
    step = word((127 + 24 - f.bias - f.fraction) << 23)
    tiny = ops.sub(ops.bitcast(ops.fadd(ops.bitcast(size, "f32"), ops.bitcast(step, "f32")), "i32"), step)
    least = word((128 - f.bias) << 23)
    found = ops.select(ops.icmp("ult", size, least), tiny, normal)
    found = ops.select(ops.icmp("ugt", size, word(0x7F800000)), word(0x7F), found)
    return ops.or_(found, ops.and_(ops.lshr(bits, word(24)), word(0x80)))


def _write_pair(ops: Ops, i: Instruction, high: V, low: V) -> None:
    both = ops.or_(low, ops.shl(high, ops.const("i32", 8)))
    write(ops, i.operands[0], ops.trunc(both, "i16"))


@meaning("cvt.rn.satfinite{.relu}.e4m3x2/e5m2x2.f32")
def from_floats(ops: Ops, i: Instruction) -> None:
    """`cvt` of two f32 into a pair; the first source becomes the upper byte."""
    _, a, b = take(i, 3)
    f = _FORMATS[i.types[0]]
    high, low = (narrow(ops, i, f, read(ops, s, "f32")) for s in (a, b))
    _write_pair(ops, i, high, low)


@meaning("cvt.rn.satfinite{.relu}.e4m3x2/e5m2x2.f16x2")
def from_halves(ops: Ops, i: Instruction) -> None:
    """`cvt` of a pair of halves."""
    _, a = take(i, 2)
    f = _FORMATS[i.types[0]]
    low, high = (narrow(ops, i, f, ops.fconvert(h, "f32")) for h in split(ops, read(ops, a, "i32"), "f16"))
    _write_pair(ops, i, high, low)


@meaning("cvt.rn{.relu}.f16x2.e4m3x2/e5m2x2")
def to_halves(ops: Ops, i: Instruction) -> None:
    """`cvt` of a pair into halves, exactly."""
    d, a = take(i, 2)
    pair = read(ops, a, "i16")
    wide = _from_e5m2 if i.types[1] == "e5m2x2" else _from_e4m3
    upper = ops.const("i16", 0xFF00)
    low, high = (wide(ops, x) for x in (ops.shl(pair, ops.const("i16", 8)), ops.and_(pair, upper)))
    if i.has("relu"):
        low, high = relu(ops, low), relu(ops, high)
    write(ops, d, join(ops, low, high))


def _from_e5m2(ops: Ops, upper: V) -> V:
    """A half whose upper byte is an e5m2 number: the formats share sign and exponent."""
    return ops.bitcast(upper, "f16")


def _from_e4m3(ops: Ops, upper: V) -> V:
    """A half from an e4m3 number in the upper byte: one exponent bit more, and a bias 8 larger."""
    size = ops.and_(upper, ops.const("i16", 0x7F00))
    sign = ops.and_(upper, ops.const("i16", 0x8000))
    shifted = ops.bitcast(ops.lshr(size, ops.const("i16", 1)), "f16")
    scaled = ops.bitcast(ops.fmul(shifted, ops.const("f16", 0x5C00)), "i16")
    nan = ops.icmp("eq", size, ops.const("i16", 0x7F00))
    return ops.bitcast(ops.select(nan, ops.const("i16", 0x7FFF), ops.or_(scaled, sign)), "f16")

"""`cvt` with scale factors: ue8m0 (a power of two), the fixed-point s2f6, and small floats scaled into bf16.

A scale factor is an exponent without sign or fraction; 0xFF is its NaN.
"""

from __future__ import annotations

from anywarp.ptx.isa.conversion import limit
from anywarp.ptx.isa.floating import relu
from anywarp.ptx.isa.operands import NAN, join, read, split, take, write
from anywarp.ptx.isa.ops import Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.isa.small_floats import widened
from anywarp.ptx.tree import Instruction, Operand

_SCALED = "scaled::n2::ue8m0"


def _word(ops: Ops, x: int) -> V:
    return ops.const("i32", x)


def _exponent(ops: Ops, i: Instruction, number: V) -> V:
    """The ue8m0 of an f32's magnitude: down (`.rz`) or up (`.rp`) to a power of two; 2**-127 is the least."""
    size = ops.and_(ops.bitcast(number, "i32"), _word(ops, 0x7FFFFFFF))
    found = ops.lshr(size, _word(ops, 23))
    if i.has("rp"):
        more = ops.icmp("ne", ops.and_(size, _word(ops, 0x7FFFFF)), _word(ops, 0))
        within = ops.and_(ops.icmp("ugt", size, _word(ops, 0x400000)), ops.icmp("ult", size, _word(ops, 0x7F800000)))
        found = ops.add(found, ops.zext(ops.and_(more, within), "i32"))
    if i.has("satfinite"):
        found = ops.min(found, _word(ops, 0xFE), False)
    return ops.select(ops.icmp("ugt", size, _word(ops, 0x7F800000)), _word(ops, 0xFF), found)


@meaning("cvt.rz/rp{.satfinite}.ue8m0x2.f32")
def floats_to_scales(ops: Ops, i: Instruction) -> None:
    """`cvt` of two f32 into scale factors."""
    d, a, b = take(i, 3)
    high, low = (_exponent(ops, i, read(ops, s, "f32")) for s in (a, b))
    write(ops, d, ops.trunc(ops.or_(ops.shl(high, _word(ops, 8)), low), "i16"))


@meaning("cvt.rz/rp{.satfinite}.ue8m0x2.bf16x2")
def halves_to_scales(ops: Ops, i: Instruction) -> None:
    """`cvt` of a pair of bf16 into scale factors."""
    d, a = take(i, 2)
    low, high = (_exponent(ops, i, ops.fconvert(h, "f32")) for h in split(ops, read(ops, a, "i32"), "bf16"))
    write(ops, d, ops.trunc(ops.or_(ops.shl(high, _word(ops, 8)), low), "i16"))


def _scales(ops: Ops, operand: Operand) -> list[V]:
    """The two scale factors of a register as f32, the low one first."""
    pair = ops.zext(read(ops, operand, "i16"), "i32")
    return [_power(ops, x) for x in (ops.and_(pair, _word(ops, 0xFF)), ops.lshr(pair, _word(ops, 8)))]


def _power(ops: Ops, scale: V) -> V:
    bits = ops.shl(scale, _word(ops, 23))
    bits = ops.select(ops.icmp("eq", scale, _word(ops, 0)), _word(ops, 0x400000), bits)
    nan = ops.icmp("eq", scale, _word(ops, 0xFF))
    return ops.bitcast(ops.select(nan, _word(ops, NAN["f32"]), bits), "f32")


@meaning("cvt.rn.bf16x2.ue8m0x2")
def scales_to_halves(ops: Ops, i: Instruction) -> None:
    """`cvt` of scale factors into bf16: exact, as bf16 has the same exponents and 2**-127 as a subnormal."""
    d, a = take(i, 2)
    low, high = (ops.trunc(ops.lshr(ops.bitcast(s, "i32"), _word(ops, 16)), "i16") for s in _scales(ops, a))
    write(ops, d, join(ops, low, high))


def _scaled_sources(ops: Ops, i: Instruction, least: int) -> list[V] | None:
    """The scale factors of a form that may have them, after checking the number of operands."""
    scaled = i.has(_SCALED)
    operands = take(i, least + int(scaled))
    return _scales(ops, operands[-1]) if scaled else None


def _to_bf16(ops: Ops, i: Instruction, number: V) -> V:
    """An f32 in bf16 with the form's `.satfinite` and `.relu`."""
    value = ops.fconvert(number, "bf16")
    if i.has("satfinite"):
        value = limit(ops, value, "bf16")
    return relu(ops, value) if i.has("relu") else value


@meaning(f"cvt.rn{{.relu}}{{.satfinite}}{{.{_SCALED}}}.bf16x2.e4m3x2/e5m2x2/e2m3x2/e3m2x2/e2m1x2")
def small_to_halves(ops: Ops, i: Instruction) -> None:
    """`cvt` of small floats into bf16, times a power of two: exact in f32, then rounded once."""
    scales = _scaled_sources(ops, i, 2)
    numbers = [ops.fconvert(h, "f32") for h in widened(ops, i.operands[1], i.types[1])]
    if scales is not None:
        numbers = [ops.fmul(n, s) for n, s in zip(numbers, scales, strict=True)]
    low, high = (_to_bf16(ops, i, n) for n in numbers)
    write(ops, i.operands[0], join(ops, low, high))


@meaning(f"cvt.rn{{.relu}}{{.satfinite}}{{.{_SCALED}}}.bf16x2.s2f6x2")
def fixed_to_halves(ops: Ops, i: Instruction) -> None:
    """`cvt` of fixed-point numbers (8 bits in two's complement, 6 behind the point) into bf16."""
    scales = _scaled_sources(ops, i, 2)
    pair = read(ops, i.operands[1], "i16")
    sixth = ops.const("f32", (127 - 6) << 23)
    numbers = [ops.fmul(ops.int_to_float(x, "f32", True), sixth) for x in split(ops, pair, "i8")]
    if scales is not None:
        numbers = [ops.fmul(n, s) for n, s in zip(numbers, scales, strict=True)]
    low, high = (_to_bf16(ops, i, n) for n in numbers)
    write(ops, i.operands[0], join(ops, low, high))


def _fixed(ops: Ops, i: Instruction, number: V, scale: V | None) -> V:
    """An f32, divided by a scale factor, as s2f6: to nearest even, clamped, NaN to the largest."""
    if i.has("relu"):
        number = relu(ops, number)
    if scale is not None:  # the quotient by a power of two is exact but for results that round to zero anyway
        number = ops.fdiv(number, scale)
    scaled = ops.fround(ops.fmul(number, ops.const("f32", (127 + 6) << 23)), "rn")
    high, low = ops.const("f32", 0x42FE0000), ops.const("f32", 0xC2FE0000)
    bounded = ops.fmax(ops.fmin(scaled, high), low)
    bounded = ops.select(ops.fcmp("uno", number, number), high, bounded)
    return ops.float_to_int(bounded, "i8", True, "rn")


@meaning(f"cvt.rn.satfinite{{.relu}}{{.{_SCALED}}}.s2f6x2.f32")
def floats_to_fixed(ops: Ops, i: Instruction) -> None:
    """`cvt` of two f32 into fixed-point numbers."""
    scales = _scaled_sources(ops, i, 3) or [None, None]
    d, a, b = i.operands[:3]
    low = _fixed(ops, i, read(ops, b, "f32"), scales[0])
    write(ops, d, join(ops, low, _fixed(ops, i, read(ops, a, "f32"), scales[1])))


@meaning(f"cvt.rn.satfinite{{.relu}}{{.{_SCALED}}}.s2f6x2.bf16x2")
def halves_to_fixed(ops: Ops, i: Instruction) -> None:
    """`cvt` of a pair of bf16 into fixed-point numbers."""
    scales = _scaled_sources(ops, i, 2) or [None, None]
    numbers = [ops.fconvert(h, "f32") for h in split(ops, read(ops, i.operands[1], "i32"), "bf16")]
    low, high = (_fixed(ops, i, n, s) for n, s in zip(numbers, scales, strict=True))
    write(ops, i.operands[0], join(ops, low, high))

"""`cvt` to and from the small floats: e4m3, e5m2, e2m3, e3m2, e2m1 (OCP formats), packed; and `.rs` stochastic rounding.

No target has these types, so they are integer work: rounding in the bits of an f32 for normal results, and by adding a number
whose last place is the format's smallest step for subnormal ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anywarp.ptx.isa.floating import relu
from anywarp.ptx.isa.operands import join, malformed, read, resize, split, take, value_type, write
from anywarp.ptx.isa.ops import Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import WIDTHS, Instruction, Operand, Vector


@dataclass(frozen=True, slots=True)
class SmallFormat:
    """Fraction bits, exponent bias, the bits of the largest finite number, and of what a NaN becomes."""

    width: int
    fraction: int
    bias: int
    largest: int
    nan: int


_FORMATS = {
    "e4m3": SmallFormat(8, 3, 7, 0x7E, 0x7F), "e5m2": SmallFormat(8, 2, 15, 0x7B, 0x7F),
    "e2m3": SmallFormat(6, 3, 1, 0x1F, 0x1F), "e3m2": SmallFormat(6, 2, 3, 0x1F, 0x1F), "e2m1": SmallFormat(4, 1, 1, 0x7, 0x7),
    "f16": SmallFormat(16, 10, 15, 0x7BFF, 0x7FFF), "bf16": SmallFormat(16, 7, 127, 0x7F7F, 0x7FFF),
}  # fmt: skip
"""The formats without a NaN (the last three small ones) turn it into their largest number."""


def _word(ops: Ops, x: int) -> V:
    return ops.const("i32", x)


def narrow(ops: Ops, f: SmallFormat, number: V, random: V | None = None, *, finite: bool = True) -> V:
    """An f32 in the format, as the low bits of an i32: to nearest even, or up where `random` carries out of what is cut off.

    `random` has 16 bits, of which the first counts half a unit in the last place. Too large gives the largest number when
    `finite`, else infinity.
    """
    bits = ops.bitcast(number, "i32")
    size = ops.and_(bits, _word(ops, 0x7FFFFFFF))
    found = _rounded(ops, f, size) if random is None else _stochastic(ops, f, size, random)
    found = ops.min(found, _word(ops, f.largest if finite else f.largest + 1), True)
    sign = ops.and_(ops.lshr(bits, _word(ops, 32 - f.width)), _word(ops, 1 << (f.width - 1)))
    nan = ops.icmp("ugt", size, _word(ops, 0x7F800000))
    return ops.select(nan, _word(ops, f.nan), ops.or_(found, sign))


def _rounded(ops: Ops, f: SmallFormat, size: V) -> V:
    drop = 23 - f.fraction
    odd = ops.and_(ops.lshr(size, _word(ops, drop)), _word(ops, 1))
    rounded = ops.lshr(ops.add(ops.add(size, _word(ops, (1 << (drop - 1)) - 1)), odd), _word(ops, drop))
    normal = ops.sub(rounded, _word(ops, (127 - f.bias) << f.fraction))
    step = _word(ops, (127 + 24 - f.bias - f.fraction) << 23)
    tiny = ops.sub(ops.bitcast(ops.fadd(ops.bitcast(size, "f32"), ops.bitcast(step, "f32")), "i32"), step)
    least = _word(ops, (128 - f.bias) << 23)
    return ops.select(ops.icmp("ult", size, least), tiny, normal)


def _stochastic(ops: Ops, f: SmallFormat, size: V, random: V) -> V:
    """Cut off to 16 bits behind the last place, add the random bits and cut those off."""
    drop = 23 - f.fraction
    sixteen = _word(ops, 16)
    if drop >= 16:
        exact = ops.lshr(size, _word(ops, drop - 16))
        normal = ops.lshr(ops.add(exact, random), sixteen)
    else:
        normal = ops.lshr(ops.add(size, ops.lshr(random, _word(ops, 16 - drop))), _word(ops, drop))
    if f.bias == 127:  # the exponents are those of f32
        return normal
    normal = ops.sub(normal, _word(ops, (127 - f.bias) << f.fraction))
    # A subnormal result: the significand moves down by as much as its exponent lacks.
    exponent = ops.lshr(size, _word(ops, 23))
    significand = ops.or_(ops.and_(size, _word(ops, 0x7FFFFF)), _word(ops, 0x800000))
    shift = ops.sub(_word(ops, 151 - f.bias - f.fraction), exponent)
    shift = ops.min(ops.max(shift, _word(ops, 0), True), _word(ops, 63), True)
    wide = ops.shl(ops.zext(significand, "i64"), ops.const("i64", 16))
    moved = ops.trunc(ops.lshr(wide, ops.zext(shift, "i64")), "i32")
    tiny = ops.lshr(ops.add(moved, random), sixteen)
    least = _word(ops, (128 - f.bias) << 23)
    tiny = ops.select(ops.icmp("ult", size, _word(ops, 0x800000)), _word(ops, 0), tiny)
    return ops.select(ops.icmp("ult", size, least), tiny, normal)


def format_of(ptx: str) -> SmallFormat:
    """The format of each part of a packed type."""
    return _FORMATS[ptx.partition("x")[0]]


def _source(ops: Ops, i: Instruction, number: V) -> V:
    return relu(ops, number) if i.has("relu") else number


def _write_parts(ops: Ops, i: Instruction, parts: Sequence[V], step: int) -> None:
    """Write small parts, the highest first, `step` bits apart."""
    total = parts[0]
    for part in parts[1:]:
        total = ops.or_(ops.shl(total, _word(ops, step)), part)
    write(ops, i.operands[0], resize(ops, total, value_type(i.types[0])))


def _step(ptx: str) -> int:
    return 4 if ptx.startswith("e2m1") else 8


_SMALL = "e4m3x2/e5m2x2/e2m3x2/e3m2x2/e2m1x2"


@meaning(f"cvt.rn.satfinite{{.relu}}.{_SMALL}.f32")
def from_floats(ops: Ops, i: Instruction) -> None:
    """`cvt` of two f32 into a pair; the first source becomes the upper part."""
    _, a, b = take(i, 3)
    to = i.types[0]
    parts = [narrow(ops, format_of(to), _source(ops, i, read(ops, s, "f32"))) for s in (a, b)]
    _write_parts(ops, i, parts, _step(to))


@meaning(f"cvt.rn.satfinite{{.relu}}.{_SMALL}.f16x2/bf16x2")
def from_halves(ops: Ops, i: Instruction) -> None:
    """`cvt` of a pair of halves."""
    _, a = take(i, 2)
    to, half = i.types[0], value_type(i.types[1][:-2])
    low, high = (
        narrow(ops, format_of(to), _source(ops, i, ops.fconvert(h, "f32")))
        for h in split(ops, read(ops, a, "i32"), half)
    )
    _write_parts(ops, i, (high, low), _step(to))


def widened(ops: Ops, operand: Operand, ptx: str) -> list[V]:
    """The two small floats of a packed operand as f16, the low one first; exact."""
    step = _step(ptx)
    pair = resize(ops, read(ops, operand, value_type(ptx)), "i16")
    low = ops.and_(pair, ops.const("i16", (1 << step) - 1))
    return [_half(ops, format_of(ptx), x) for x in (low, ops.lshr(pair, ops.const("i16", step)))]


def _half(ops: Ops, f: SmallFormat, code: V) -> V:
    """A half from a small float: its bits where a half has them, times the difference of the biases."""

    def short(x: int) -> V:
        return ops.const("i16", x)

    top = 1 << (f.width - 1)
    sign = ops.shl(ops.and_(code, short(top)), short(16 - f.width))
    size = ops.and_(code, short(top - 1))
    moved = ops.shl(size, short(10 - f.fraction))
    if f.bias != 15:
        scale = ops.const("f16", (15 + 15 - f.bias) << 10)
        moved = ops.bitcast(ops.fmul(ops.bitcast(moved, "f16"), scale), "i16")
    if f.largest == 0x7E:  # e4m3 has one NaN and no infinity
        moved = ops.select(ops.icmp("eq", size, short(0x7F)), short(0x7FFF), moved)
    return ops.bitcast(ops.or_(moved, sign), "f16")


@meaning(f"cvt.rn{{.relu}}.f16x2.{_SMALL}")
def to_halves(ops: Ops, i: Instruction) -> None:
    """`cvt` of a pair into halves, exactly."""
    d, a = take(i, 2)
    low, high = (_source(ops, i, h) for h in widened(ops, a, i.types[1]))
    write(ops, d, join(ops, low, high))


# --- stochastic rounding ------------------------------------------------------------------------------------------------


@meaning("cvt.rs{.relu}{.satfinite}.f16x2/bf16x2.f32")
def stochastic_halves(ops: Ops, i: Instruction) -> None:
    """`cvt.rs` of two f32 into halves: the upper 16 random bits (13 for f16) belong to a, the lower to b."""
    _, a, b, bits = take(i, 4)
    random = read(ops, bits, "i32")
    halves = [ops.lshr(random, _word(ops, 16)), ops.and_(random, _word(ops, 0xFFFF))]
    if i.types[0] == "f16x2":  # 13 bits, the first of which counts half a unit in the last place
        halves = [ops.shl(ops.and_(h, _word(ops, 0x1FFF)), _word(ops, 3)) for h in halves]
    f, finite = format_of(i.types[0]), i.has("satfinite")
    parts = [
        narrow(ops, f, _source(ops, i, read(ops, s, "f32")), h, finite=finite)
        for s, h in zip((a, b), halves, strict=True)
    ]
    _write_parts(ops, i, parts, 16)


@meaning("cvt.rs{.relu}.satfinite.e4m3x4/e5m2x4/e2m3x4/e3m2x4/e2m1x4.f32")
def stochastic_quads(ops: Ops, i: Instruction) -> None:
    """`cvt.rs` of four f32; a and b share 16 random bits, e and f the others."""
    _, vector, bits = take(i, 3)
    if not isinstance(vector, Vector) or len(vector.elements) != 4:
        raise malformed(i, "its source is not {a, b, e, f}")
    to = i.types[0]
    random = read(ops, bits, "i32")
    byte = _word(ops, 8)
    if to == "e2m1x4":  # the upper bytes of both halves, and the lower bytes of both
        upper = _two_bytes(ops, ops.lshr(random, _word(ops, 24)), ops.lshr(random, byte))
        lower = _two_bytes(ops, ops.lshr(random, _word(ops, 16)), random)
    else:
        upper, lower = ops.lshr(random, _word(ops, 16)), ops.and_(random, _word(ops, 0xFFFF))
    f = format_of(to)
    parts = [
        narrow(ops, f, _source(ops, i, read(ops, s, "f32")), r)
        for s, r in zip(vector.elements, (upper, upper, lower, lower), strict=True)
    ]
    _write_parts(ops, i, parts, WIDTHS[to] // 4)


def _two_bytes(ops: Ops, high: V, low: V) -> V:
    mask = _word(ops, 0xFF)
    return ops.or_(ops.shl(ops.and_(high, mask), _word(ops, 8)), ops.and_(low, mask))

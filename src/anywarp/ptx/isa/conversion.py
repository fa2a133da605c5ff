"""`cvt` between integers, floats, packed halves and tf32, and `cvt.pack`.

The manual's table of legal pairs is large; the rules behind it are few, and are written here by kind of source and result.
"""

from __future__ import annotations

from typing import Literal

from anywarp.ptx.isa.floating import relu, rounding_of, saturate
from anywarp.ptx.isa.operands import NAN, bits_type, is_signed, join, read, resize, take, value_type, write
from anywarp.ptx.isa.ops import BITS, Ops, Type, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import WIDTHS, Instruction, Operand

_INTS = "u8/u16/u32/u64/s8/s16/s32/s64"
_FLOATS = "f16/bf16/f32/f64"
_LARGEST: dict[str, int] = {"f16": 0x7BFF, "bf16": 0x7F7F, "f32": 0x7F7FFFFF}


@meaning(f"cvt{{.sat}}.{_INTS}.{_INTS}")
def integer_to_integer(ops: Ops, i: Instruction) -> None:
    """`cvt` between integers: extend or chop, or clamp with `.sat`."""
    d, a = take(i, 2)
    to, source = i.types
    type = value_type(to)
    value = read(ops, a, value_type(source))
    if i.has("sat"):
        value = _clamp(ops, value, is_signed(source), type, is_signed(to))
    write(ops, d, resize(ops, value, type, signed=is_signed(source)), signed=is_signed(to))


def _clamp(ops: Ops, value: V, signed: bool, type: Type, to_signed: bool) -> V:
    """Clamp an integer into the range of another integer type, where it could leave it."""
    source = value.type
    width = BITS[type] - int(to_signed)
    high = ops.const(source, (1 << width) - 1)
    if signed and (not to_signed or BITS[type] < BITS[source]):
        value = ops.max(value, ops.const(source, -(1 << width) if to_signed else 0), True)
    if width < BITS[source] - int(signed):
        value = ops.min(value, high, signed)
    return value


@meaning(f"cvt.<round>{{.sat}}{{.ftz}}.{_FLOATS}.{_INTS}")
def integer_to_float(ops: Ops, i: Instruction) -> None:
    """`cvt` from an integer to a float."""
    d, a = take(i, 2)
    to, source = i.types
    number = ops.int_to_float(read(ops, a, value_type(source)), value_type(to), is_signed(source), rounding_of(i))
    write(ops, d, saturate(ops, number) if i.has("sat") else number)


Directed = Literal["rn", "rz", "rm", "rp"]
_INTEGRAL: dict[str, Directed] = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


def _integral_rounding(i: Instruction) -> Directed | None:
    return next((mode for name, mode in _INTEGRAL.items() if i.has(name)), None)


@meaning(f"cvt.rni/rzi/rmi/rpi{{.ftz}}{{.sat}}.{_INTS}.{_FLOATS}")
def float_to_integer(ops: Ops, i: Instruction) -> None:
    """`cvt` from a float to an integer, always clamped; NaN is 0, or the top bit for 64-bit sources and results."""
    d, a = take(i, 2)
    to, source = i.types
    number = read(ops, a, value_type(source))
    if i.has("ftz") and source == "f32":
        number = ops.flush(number)
    type = value_type(to)
    value = ops.float_to_int(number, type, is_signed(to), _integral_rounding(i) or "rz")
    if source == "f64" or BITS[type] == 64:
        top = ops.const(type, 1 << (BITS[type] - 1))
        value = ops.select(ops.fcmp("uno", number, number), top, value)
    write(ops, d, value, signed=is_signed(to))


@meaning(
    f"cvt{{.rn/rz/rm/rp/rni/rzi/rmi/rpi}}{{.ftz}}{{.sat}}.{_FLOATS}.{_FLOATS}",
    "cvt.rn/rz{.relu}{.satfinite}.f16/bf16.f32",
)
def float_to_float(ops: Ops, i: Instruction) -> None:
    """`cvt` between floats; with an integer rounding the value becomes integral and the type stays.

    `.ftz` concerns f32 only, as source or as result.
    """
    d, a = take(i, 2)
    to, source = value_type(i.types[0]), value_type(i.types[1])
    number = read(ops, a, source)
    if i.has("ftz") and source == "f32":
        number = ops.flush(number)
    integral = _integral_rounding(i)
    if integral is not None:
        number = ops.fround(number, integral)
    number = _narrow(ops, i, number, to)
    if i.has("ftz") and to == "f32":
        number = ops.flush(number)
    write(ops, d, saturate(ops, number) if i.has("sat") else number)


def _narrow(ops: Ops, i: Instruction, number: V, to: Type) -> V:
    """Convert to `to` with the form's rounding, `.satfinite` and `.relu`."""
    if number.type == to:
        return number
    value = ops.fconvert(number, to, rounding_of(i))
    if i.has("satfinite"):
        value = limit(ops, value, to)
    return relu(ops, value) if i.has("relu") else value


def limit(ops: Ops, value: V, type: Type) -> V:
    """Clamp to the largest finite magnitude; NaN becomes the canonical NaN."""
    high = ops.const(type, _LARGEST[type])
    bounded = ops.fmax(ops.fmin(value, high), ops.fneg(high))
    return ops.select(ops.fcmp("uno", value, value), ops.const(type, NAN[type]), bounded)


@meaning("cvt.rn/rz{.relu}{.satfinite}.f16x2/bf16x2.f32")
def two_to_packed(ops: Ops, i: Instruction) -> None:
    """`cvt` of two f32 into a packed pair: the first source becomes the upper half."""
    d, a, b = take(i, 3)
    part: Type = "f16" if i.types[0] == "f16x2" else "bf16"
    high, low = (_narrow(ops, i, read(ops, s, "f32"), part) for s in (a, b))
    write(ops, d, join(ops, low, high))


@meaning("cvt.rna{.satfinite}.tf32.f32", "cvt.rn/rz{.satfinite}{.relu}.tf32.f32")
def to_tf32(ops: Ops, i: Instruction) -> None:
    """`cvt` to tf32: an f32 rounded to 10 fraction bits; the lower 13 bits of the register are zero."""
    d, a = take(i, 2)
    number = read(ops, a, "f32")
    bits = ops.bitcast(number, "i32")
    if not i.has("rz"):
        half = ops.const("i32", 0x1000 if i.has("rna") else 0x0FFF)
        if i.has("rn"):
            odd = ops.and_(ops.lshr(bits, ops.const("i32", 13)), ops.const("i32", 1))
            half = ops.add(half, odd)
        bits = ops.add(bits, half)
    cut = ops.bitcast(ops.and_(bits, ops.const("i32", 0xFFFFE000)), "f32")
    if i.has("satfinite"):
        largest = ops.const("f32", 0x7F7FE000)
        cut = ops.fmax(ops.fmin(cut, largest), ops.fneg(largest))
    if i.has("relu"):
        cut = relu(ops, cut)
    nan = ops.fcmp("uno", number, number)
    write(ops, d, ops.select(nan, ops.const("f32", NAN["f32"]), cut))


@meaning("cvt.pack.sat.u16/s16.s32")
def pack_halves(ops: Ops, i: Instruction) -> None:
    """`cvt.pack` of two integers into half-words: a above b."""
    d, a, b = take(i, 3)
    high, low = (_packable(ops, i, read(ops, s, "i32")) for s in (a, b))
    write(ops, d, ops.or_(low, ops.shl(high, ops.const("i32", 16))))


@meaning("cvt.pack.sat.u8/s8.s32.b32", "cvt.pack.sat.u4/s4/u2/s2.s32.b32")
def pack_fields(ops: Ops, i: Instruction) -> None:
    """`cvt.pack` of two integers into fields of 8, 4 or 2 bits, above which the low bits of c move up."""
    d, a, b, c = take(i, 4)
    small = next(m for m in i.modifiers if m[1:] in ("8", "4", "2"))
    width, signed = int(small[1:]), is_signed(small)
    most = (1 << (width - int(signed))) - 1
    least = -most - 1 if signed else 0

    def field(operand: Operand) -> V:
        value = ops.max(read(ops, operand, "i32"), ops.const("i32", least), True)
        value = ops.min(value, ops.const("i32", most), True)
        return ops.and_(value, ops.const("i32", (1 << width) - 1))

    new = ops.or_(field(b), ops.shl(field(a), ops.const("i32", width)))
    write(ops, d, ops.or_(new, ops.shl(read(ops, c, "i32"), ops.const("i32", 2 * width))))


def _packable(ops: Ops, i: Instruction, value: V) -> V:
    """A signed 32-bit value clamped to the form's small type, as that type's bits in 32."""
    small = i.types[0]
    type = bits_type(WIDTHS[small])
    clamped = ops.trunc(_clamp(ops, value, True, type, is_signed(small)), type)
    return ops.zext(clamped, "i32")

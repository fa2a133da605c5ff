"""Reading and writing operands as the meanings need them: typed, packed types taken apart, modifiers applied.

Every chapter goes through these few functions, so negated predicates, special registers, sinks and packed pairs are handled
once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.ptx.isa.ops import BITS, Ops, Type, V
from anywarp.ptx.isa.special_registers import special_name
from anywarp.ptx.tree import (
    WIDTHS,
    Address,
    Group,
    Instruction,
    Integer,
    Name,
    Negated,
    Offset,
    Operand,
    Pair,
    Sink,
    Vector,
)

_FLOATS: dict[str, Type] = {"f16": "f16", "bf16": "bf16", "f32": "f32", "tf32": "f32", "f64": "f64"}
_BITS: dict[int, Type] = {1: "i1", 8: "i8", 16: "i16", 32: "i32", 64: "i64", 128: "i128"}
_PARTS: dict[str, tuple[Type, int]] = {
    "f16x2": ("f16", 2), "bf16x2": ("bf16", 2), "u16x2": ("i16", 2), "s16x2": ("i16", 2), "f32x2": ("f32", 2),
    "u8x4": ("i8", 4), "s8x4": ("i8", 4),
}  # fmt: skip
Function: TypeAlias = "Callable[[V], V] | Callable[[V, V], V] | Callable[[V, V, V], V]"
ONE: dict[str, int] = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF0000000000000}
"""Bits of 1.0 in each float type."""
NAN: dict[str, int] = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FF8000000000000}
"""Bits of the NaN that instructions return (the manual's canonical NaN for 16 and 32 bits)."""


def value_type(ptx: str) -> Type:
    """Return the value type that holds a PTX type; packed types are plain bits."""
    return _FLOATS.get(ptx) or _BITS[WIDTHS[ptx]]


def bits_type(width: int) -> Type:
    """Return the integer type of a width in bits."""
    return _BITS[width]


def is_float(ptx: str) -> bool:
    """Tell whether a PTX type is a scalar float."""
    return ptx in _FLOATS


def is_signed(ptx: str) -> bool:
    """Tell whether a PTX type is a signed integer (packed included)."""
    return ptx[0] == "s"


def malformed(instruction: Instruction, why: str) -> AnywarpError:
    """Return the error for operands that do not fit the instruction."""
    return AnywarpError(
        Diagnostic(
            "C102",
            f"operands of {instruction.form} are malformed: {why}",
            span=instruction.span,
            help="check the instruction against the PTX manual; NVIDIA's assembler would refuse it too",
        )
    )


class Misfit(Exception):
    """An operand of the wrong kind; `registry.expand` turns it into the error that names the instruction."""


def take(instruction: Instruction, least: int, most: int | None = None) -> tuple[Operand, ...]:
    """Return the operands after checking how many there are."""
    found = len(instruction.operands)
    if not least <= found <= (most or least):
        raise malformed(instruction, f"it has {found}, not {least if most is None else f'{least} to {most}'}")
    return instruction.operands


def read(ops: Ops, operand: Operand, type: Type) -> V:
    """Read any source operand: register, constant, `!p`, special register, WARP_SZ, variable with offset."""
    if isinstance(operand, Negated):
        if type != "i1" or operand.sign != "!":
            raise Misfit("only a predicate may be negated")
        return ops.not_(read(ops, operand.operand, type))
    if isinstance(operand, (Address, Vector, Pair, Sink, Group)):
        raise Misfit("a value belongs where an address, a vector or a destination stands")
    if isinstance(operand, Offset):
        return _as(ops, ops.address_of(operand.base.name, displacement(ops, operand)), type)
    if isinstance(operand, Name) and operand.name == "WARP_SZ":
        return ops.read(Integer(32), type)
    special = special_name(operand)
    if special is None:
        return ops.read(operand, type)
    return _as(ops, ops.special(special), type)


def displacement(ops: Ops, operand: Offset) -> int:
    """Return how many bytes lie between a variable and what is named by it: an index counts elements (section 6.4.3)."""
    return operand.value * ops.element_size(operand.base.name) if operand.indexed else operand.value


def _as(ops: Ops, value: V, type: Type) -> V:
    """An integer's bits as a value of any type."""
    value = resize(ops, value, bits_type(BITS[type]))
    return value if value.type == type else ops.bitcast(value, type)


def write(ops: Ops, operand: Operand, value: V, *, signed: bool = False) -> None:
    """Write a destination unless it is `_`; `signed` extends the sign into a wider register."""
    if isinstance(operand, Sink):
        return
    if not isinstance(operand, Name) or operand.name == "WARP_SZ" or special_name(operand) is not None:
        raise Misfit("its destination is not a register")
    if signed:
        ops.write_signed(operand, value)
    else:
        ops.write(operand, value)


def resize(ops: Ops, value: V, type: Type, *, signed: bool = False) -> V:
    """Truncate or extend an integer to `type`."""
    have, want = BITS[value.type], BITS[type]
    if have == want:
        return value
    if have > want:
        return ops.trunc(value, type)
    return ops.sext(value, type) if signed else ops.zext(value, type)


def pair(operand: Operand) -> tuple[Operand, Operand]:
    """Take `d|p` apart; a single destination has a sink as its second."""
    return (operand.first, operand.second) if isinstance(operand, Pair) else (operand, Sink())


# --- packed types: two or four parts in one register ---------------------------------------------------------------------------


def split(ops: Ops, value: V, part: Type) -> list[V]:
    """Take a register apart into values of type `part`, the low one first."""
    half: Type = bits_type(BITS[part])
    found = [ops.trunc(value, half)]
    for at in range(BITS[part], BITS[value.type], BITS[part]):
        found.append(ops.trunc(ops.lshr(value, ops.const(value.type, at)), half))
    return found if part == half else [ops.bitcast(v, part) for v in found]


def join(ops: Ops, low: V, high: V) -> V:
    """Put two values into one register of twice the width."""
    width = BITS[low.type]
    whole, half = bits_type(2 * width), bits_type(width)
    low, high = (v if v.type == half else ops.bitcast(v, half) for v in (low, high))
    return ops.or_(ops.zext(low, whole), ops.shl(ops.zext(high, whole), ops.const(whole, width)))


def parts_of(ptx: str) -> tuple[Type, int]:
    """Return the value type of each part of a PTX type and how many parts it has."""
    return _PARTS.get(ptx) or (value_type(ptx), 1)


def read_parts(ops: Ops, operand: Operand, ptx: str) -> list[V]:
    """Read a source operand of a scalar or packed PTX type as its parts."""
    part, count = parts_of(ptx)
    if count == 1:
        return [read(ops, operand, part)]
    return split(ops, read(ops, operand, bits_type(count * BITS[part])), part)


def write_parts(ops: Ops, operand: Operand, parts: Sequence[V]) -> None:
    """Write a destination from its parts."""
    while len(parts) > 1:
        parts = [join(ops, low, high) for low, high in zip(parts[::2], parts[1::2], strict=True)]
    write(ops, operand, parts[0])


def elementwise(ops: Ops, instruction: Instruction, ptx: str, sources: int, function: Function) -> None:
    """Apply `function` to the parts of `sources` operands of type `ptx` and write the destination."""
    apply: Callable[..., V] = function
    destination, *rest = take(instruction, sources + 1)
    columns = [read_parts(ops, operand, ptx) for operand in rest]
    write_parts(ops, destination, [apply(*parts) for parts in zip(*columns, strict=True)])

"""Comparison and selection: `set`, `setp`, `selp`, `slct` for every type, halves and packed halves included.

One function compares, so that ordered, unordered and NaN tests mean the same everywhere.
"""

from __future__ import annotations

from typing import Any

from anywarp.ptx.isa.operands import (
    ONE,
    is_float,
    is_signed,
    pair,
    parts_of,
    read,
    read_parts,
    take,
    value_type,
    write,
    write_parts,
)
from anywarp.ptx.isa.ops import Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction

_INTEGER: dict[str, str] = {
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge",
}  # fmt: skip
_FLOAT: dict[str, str] = {
    "eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "equ": "ueq", "neu": "une", "ltu": "ult",
    "leu": "ule", "gtu": "ugt", "geu": "uge", "num": "ord", "nan": "uno",
}  # fmt: skip
_ALL = "eq/ne/lt/le/gt/ge/equ/neu/ltu/leu/gtu/geu/num/nan"


def compare(ops: Ops, operator: str, ptx: str, a: V, b: V) -> V:
    """i1: `a operator b` for values of the (part) type of `ptx`."""
    floating = a.type in ONE
    if floating:
        predicate: Any = _FLOAT[operator]
        return ops.fcmp(predicate, a, b)
    predicate = _INTEGER[operator]
    if operator in ("lt", "le", "gt", "ge"):
        predicate = ("s" if is_signed(ptx) else "u") + predicate
    return ops.icmp(predicate, a, b)


def _combine(ops: Ops, i: Instruction, found: V, with_: V | None) -> V:
    """Apply the form's boolean operator to a comparison and the optional predicate operand."""
    if with_ is None:
        return found
    operation = next((f for name, f in (("and", ops.and_), ("or", ops.or_), ("xor", ops.xor)) if i.has(name)), ops.and_)
    return operation(found, with_)


def _comparison(ops: Ops, i: Instruction, ptx: str, least: int) -> tuple[list[V], V | None]:
    """Compare operands 1 and 2 part by part; return the raw results and the predicate operand, if any."""
    boolean = i.has("and", "or", "xor")
    operands = take(i, least + int(boolean))
    columns = [read_parts(ops, o, ptx) for o in operands[1:3]]
    if i.has("ftz"):
        columns = [[ops.flush(x) for x in column] for column in columns]
    operator = next(m for m in i.modifiers if m in _INTEGER or m in _FLOAT)
    found = [compare(ops, operator, ptx, a, b) for a, b in zip(*columns, strict=True)]
    return found, read(ops, operands[3], "i1") if boolean else None


@meaning(
    "setp.eq/ne{.and/or/xor}.<bits>",
    "setp.eq/ne/lt/le/gt/ge/lo/ls/hi/hs{.and/or/xor}.<unsigned>",
    "setp.eq/ne/lt/le/gt/ge{.and/or/xor}.<signed>",
    f"setp.{_ALL}{{.and/or/xor}}{{.ftz}}.f16/f16x2/f32",
    f"setp.{_ALL}{{.and/or/xor}}.bf16/bf16x2/f64",
)
def setp(ops: Ops, i: Instruction) -> None:
    """`setp`: p gets the comparison, q its complement, each combined with c; packed types give low to p and high to q."""
    found, predicate = _comparison(ops, i, i.types[0], 3)
    first, second = pair(i.operands[0])
    results = found if len(found) == 2 else [found[0], ops.not_(found[0])]
    # Both values are made before either destination is written: c may be one of them.
    values = [_combine(ops, i, r, predicate) for r in results]
    write(ops, first, values[0])
    write(ops, second, values[1])


@meaning(
    "set.eq/ne{.and/or/xor}.u32/s32/f32.<bits>",
    "set.eq/ne/lt/le/gt/ge/lo/ls/hi/hs{.and/or/xor}.u32/s32/f32.<unsigned>",
    "set.eq/ne/lt/le/gt/ge{.and/or/xor}.u32/s32/f32.<signed>",
    f"set.{_ALL}{{.and/or/xor}}{{.ftz}}.u32/s32/f32.f32",
    f"set.{_ALL}{{.and/or/xor}}.u32/s32/f32.f64",
    f"set.{_ALL}{{.and/or/xor}}{{.ftz}}.f16/u16/s16/u32/s32.f16",
    f"set.{_ALL}{{.and/or/xor}}.bf16/u16/s16/u32/s32.bf16",
    f"set.{_ALL}{{.and/or/xor}}{{.ftz}}.f16x2/u32/s32.f16x2",
    f"set.{_ALL}{{.and/or/xor}}.bf16x2/u32/s32.bf16x2",
    "set.eq/ne{.and/or/xor}.f16/bf16.<bits>",
    "set.eq/ne/lt/le/gt/ge/lo/ls/hi/hs{.and/or/xor}.f16/bf16.<unsigned>",
    "set.eq/ne/lt/le/gt/ge{.and/or/xor}.f16/bf16.<signed>",
    f"set.{_ALL}{{.and/or/xor}}.f16/bf16.f32/f64",
    f"set.{_ALL}{{.and/or/xor}}.ftz.f16.f32",
    f"set.{_ALL}{{.and/or/xor}}.bf16.f16",
)
def set_(ops: Ops, i: Instruction) -> None:
    """`set`: all ones or 1.0 where the comparison holds, else zero; a pair of comparisons into u32 or s32 fills half-words."""
    found, predicate = _comparison(ops, i, i.types[1], 3)
    type, _ = parts_of(i.types[0])
    if len(found) == 2 and type == "i32":
        type = "i16"
    true = ops.const(type, ONE.get(type, -1))
    values = [ops.select(_combine(ops, i, f, predicate), true, ops.const(type, 0)) for f in found]
    write_parts(ops, i.operands[0], values)


@meaning("selp.<bits>", "selp.<int>", "selp.f32/f64")
def selp(ops: Ops, i: Instruction) -> None:
    """`selp`: a where the predicate holds, else b."""
    d, a, b, c = take(i, 4)
    type = value_type(i.types[0])
    write(ops, d, ops.select(read(ops, c, "i1"), read(ops, a, type), read(ops, b, type)))


@meaning(
    "slct.<bits>.s32",
    "slct.<int>.s32",
    "slct.f32/f64.s32",
    "slct{.ftz}.<bits>.f32",
    "slct{.ftz}.<int>.f32",
    "slct{.ftz}.f32/f64.f32",
)
def slct(ops: Ops, i: Instruction) -> None:
    """`slct`: a where c >= 0 (-0.0 counts, NaN does not), else b."""
    d, a, b, c = take(i, 4)
    type, sign = value_type(i.types[0]), i.types[-1]
    chosen = read(ops, c, value_type(sign))
    if i.has("ftz"):
        chosen = ops.flush(chosen)
    zero = ops.const(chosen.type, 0)
    condition = ops.fcmp("oge", chosen, zero) if is_float(sign) else ops.icmp("sge", chosen, zero)
    write(ops, d, ops.select(condition, read(ops, a, type), read(ops, b, type)))

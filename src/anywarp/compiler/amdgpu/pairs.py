"""Words of two f16 numbers: what is done to both halves alike is one packed instruction (V_PK_FMA_F16 and its like).

PTX's f16x2 arrives as an operation for each half and a word made of the results, which LLVM leaves apart: to it the word is no vector.
"""

from __future__ import annotations

from typing import TypeGuard

from anywarp.compiler.amdgpu import integers
from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.amdgpu.floats import GpuFloats
from anywarp.compiler.attributes import Rounded
from anywarp.compiler.ir import Const, Op, Value

_PACKED = frozenset({"fadd", "fsub", "fmul", "fma"})
_PAIR = "<2 x half>"


def emit_or(e: Emitter, op: Op) -> None:
    """Emit `or`: where it makes a word of two numbers, as the pair that it is."""
    halves = _halves(op)
    if halves is None:
        e.define(op, integers.scalar(e.t, op, [e.value(a) for a in op.args]))
    else:
        e.define(op, e.t.cast("bitcast", _PAIR, _pair(e, *halves), "i32"))


def _halves(op: Op) -> tuple[Value, Value] | None:
    """Return the numbers, lower and upper, of which `or` makes a word."""
    for low, shifted in (op.args, op.args[::-1]):
        if op.type == "i32" and _is(low, "zext") and _is(shifted, "shl") and _is(shifted.args[0], "zext"):
            numbers = _number(low.args[0]), _number(shifted.args[0].args[0])
            if _is_half(shifted.args[1]) and numbers[0].type == numbers[1].type == "f16":
                return numbers
    return None


def _is(value: Value, name: str) -> TypeGuard[Op]:
    return isinstance(value, Op) and value.name == name


def _is_half(amount: Value) -> bool:
    return isinstance(amount, Const) and amount.bits == 16


def _number(value: Value) -> Value:
    """Return what a value is without changes of type that leave its bits alone."""
    while isinstance(value, Op) and value.name == "bitcast" and value.args[0].type in ("i16", "f16"):
        value = value.args[0]
    return value


def _alike(low: Value, high: Value) -> bool:
    """Tell whether both are the same operation on f16, one that there is for pairs."""
    if not isinstance(low, Op) or not isinstance(high, Op) or low.name not in _PACKED or low.type != "f16":
        return False
    return (high.name, high.type, high.attrs) == (low.name, "f16", low.attrs) and Rounded.of(low).rounding == "rn"


def _word(low: Value, high: Value) -> Value | None:
    """Return the word whose halves these are."""
    if not (_is(low, "trunc") and _is(high, "trunc") and _is(high.args[0], "lshr")):
        return None
    word, shifted = low.args[0], high.args[0]
    return word if word.type == "i32" and shifted.args[0] is word and _is_half(shifted.args[1]) else None


def _pair(e: Emitter, low: Value, high: Value) -> str:
    """Return two numbers as a vector; what is computed of pairs in a block is computed once."""
    key = e.block, low, high
    if key not in e.pairs:
        e.pairs[key] = _made(e, low, high)
    return e.pairs[key]


def _made(e: Emitter, low: Value, high: Value) -> str:
    word = _word(low, high)
    if word is not None:
        return e.t.cast("bitcast", "i32", e.value(word), _PAIR)
    if _alike(low, high):
        assert isinstance(low, Op) and isinstance(high, Op)
        args = [_pair(e, _number(a), _number(b)) for a, b in zip(low.args, high.args, strict=True)]
        return GpuFloats(e.t).pairs(low.name, args)
    pair = e.t.let(f"insertelement <2 x i16> poison, i16 {e.value(low)}, i32 0")
    return e.t.cast(
        "bitcast", "<2 x i16>", e.t.let(f"insertelement <2 x i16> {pair}, i16 {e.value(high)}, i32 1"), _PAIR
    )


OPERATIONS = {"or": emit_or}

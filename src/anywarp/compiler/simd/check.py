"""Checks as LLVM IR: one call of the runtime for a whole warp, with what each lane is about to do on the stack."""

from __future__ import annotations

from anywarp.compiler.attributes import Checked
from anywarp.compiler.ir import Op, Value
from anywarp.compiler.simd.addresses import SIZE
from anywarp.compiler.simd.known import LANES
from anywarp.compiler.simd.memory import Memory
from anywarp.compiler.simd.special import Launch
from anywarp.compiler.simd.text import LLVM_TYPE, vector_type
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.ops import BITS

MOST_BYTES = 64
"""What one lane stores at most with one instruction; values beyond are not shown to the runtime."""


def emit_check(v: Values, memory: Memory, at: Launch, op: Op) -> None:
    """Emit `i32 aw_check(worker, site, lanes, first, second)`, which answers with the lanes that may go on.

    `first` are 32 numbers of 64 bits (addresses, barriers' numbers, member masks); `second` the values of a store, element by
    element for 32 lanes, or the second operand of a barrier as numbers; either may be null.
    """
    t = v.t
    if v.lanes != LANES:
        raise NotImplementedError("checks in gangs of several warps")
    lanes = v.active_bits(op.guard) or "-1"
    first = _numbers(v, memory, op.args[0]) if op.args else "null"
    second = "null"
    if len(op.args) > 1:
        second = _numbers(v, memory, op.args[1]) if Checked.of(op).numbers else _values(v, op.args[1:])
    answer = t.call_host("aw_check", at.worker, str(Checked.of(op).site), lanes, first, second)
    v.define(op, None, v.lane_masks(answer))


def _numbers(v: Values, memory: Memory, value: Value) -> str:
    """Write a value of each lane to the stack as 64 bits; an offset below zero stays below zero."""
    chunks = v.vector(value)
    if BITS[value.type] < 64:
        source, target = vector_type(LLVM_TYPE[value.type], v.chunk), vector_type("i64", v.chunk)
        chunks = [v.t.cast("sext", source, c, target) for c in chunks]
    return memory.spill("i64", chunks)


def _values(v: Values, values: list[Value]) -> str:
    """Write what a store stores to the stack; "null" where it is too much."""
    t, size = v.t, SIZE[values[0].type]
    if size * len(values) > MOST_BYTES:
        return "null"
    element = LLVM_TYPE[values[0].type]
    room = t.alloca(f"[{LANES * len(values)} x {element}]", 64)
    for k, value in enumerate(values):
        for i, chunk in enumerate(v.vector(value)):
            place = t.let(f"getelementptr {element}, ptr {room}, i32 {k * LANES + i * v.chunk}")
            t.do(f"store {vector_type(element, v.chunk)} {chunk}, ptr {place}, align {size}")
    return room

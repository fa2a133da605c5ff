"""Texture and surface operations as LLVM IR: one call of the runtime's texture unit for all lanes, operands and results on the stack."""

from __future__ import annotations

from collections.abc import Sequence

from anywarp.compiler.attributes import Element, TextureAccess
from anywarp.compiler.ir import Op, Value
from anywarp.compiler.simd.memory import Memory
from anywarp.compiler.simd.special import Launch
from anywarp.compiler.simd.text import vector_type
from anywarp.compiler.simd.values import Values


def emit_texture(v: Values, memory: Memory, at: Launch, op: Op) -> None:
    """Emit `aw_texture(worker, form, lanes, mask, objects, words, results)` (native/core/host_services.h) and define the results."""
    t, named = v.t, TextureAccess.of(op).objects
    mask = t.alloca(v.word, 64)
    t.do(f"store {v.word} {v.active_bits(op.guard) or '-1'}, ptr {mask}")
    objects = _columns(v, "i64", op.args[:named])
    words = _columns(v, "i32", op.args[named:])
    count = TextureAccess.of(op).results
    results = t.alloca(f"[{v.lanes * count} x i32]", 64) if count else "null"
    t.call_host("aw_texture", at.worker, str(TextureAccess.of(op).form), str(v.lanes), mask, objects, words, results)
    for one in (op, *memory.elements.get(op, ())) if count else ():
        first = Element.of(one).index * v.lanes if one is not op else 0
        v.define(one, None, [_load(v, results, first + lane) for lane in range(0, v.lanes, v.chunk)])


def _columns(v: Values, element: str, values: Sequence[Value]) -> str:
    """Write values to the stack, all lanes of each together."""
    t = v.t
    if not values:
        return "null"
    room = t.alloca(f"[{v.lanes * len(values)} x {element}]", 64)
    for k, value in enumerate(values):
        for i, chunk in enumerate(v.vector(value)):
            place = t.let(f"getelementptr {element}, ptr {room}, i32 {k * v.lanes + i * v.chunk}")
            t.do(f"store {vector_type(element, v.chunk)} {chunk}, ptr {place}, align 16")
    return room


def _load(v: Values, room: str, index: int) -> str:
    place = v.t.let(f"getelementptr i32, ptr {room}, i32 {index}")
    return v.t.let(f"load {vector_type('i32', v.chunk)}, ptr {place}, align 16")

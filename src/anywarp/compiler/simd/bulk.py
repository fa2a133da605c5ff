"""Copies, fills and reductions of whole arrays by single lanes as LLVM IR: bulk copies, complete when issued.

The size is known only when the kernel runs, so reductions are loops over the elements; copies are calls of `memmove`.
"""

from __future__ import annotations

from typing import cast

from anywarp.compiler.attributes import AtomicAccess, Service
from anywarp.compiler.ir import Const, Op
from anywarp.compiler.simd.addresses import SIZE
from anywarp.compiler.simd.lane_by_lane import LaneByLane
from anywarp.compiler.simd.text import LLVM_TYPE
from anywarp.ptx.isa.ops import AtomicOp, Type


def emit_bulk(each: LaneByLane, op: Op) -> None:
    """Emit the service `bulk_copy`, `bulk_zero`, `bulk_mask` or `bulk_OPERATION_TYPE` once per active lane.

    Arguments: destination and source (generic addresses), size in bytes, for `bulk_mask` which bytes of each 16 are copied.
    """
    v, t = each.v, each.t
    bits = v.active_bits(op.guard)
    rooms = [each.memory.spill("i64", v.vector(a)) for a in op.args]
    index = each.begin_lanes(bits)
    numbers = [t.let(f"load i64, ptr {t.let(f'getelementptr i64, ptr {room}, i32 {index}')}") for room in rooms]
    target, source = (t.cast("inttoptr", "i64", n, "ptr") for n in numbers[:2])
    kind, _, type = Service.of(op).name.removeprefix("bulk_").partition("_")
    if kind == "copy":
        arguments = (("ptr", target), ("ptr", source), ("i64", numbers[2]), ("i1", "false"))
        t.call("void", "llvm.memmove.p0.p0.i64", *arguments)
    elif kind == "zero":
        t.call("void", "llvm.memset.p0.i64", ("ptr", target), ("i8", "0"), ("i64", numbers[2]), ("i1", "false"))
    elif kind == "mask":
        _masked(each, target, source, numbers[2], numbers[3])
    else:
        _reduction(each, kind, type, target, source, numbers[2])
    each.end_lanes()


def _begin(each: LaneByLane, size: str) -> tuple[str, str, str, str]:
    """Begin a loop over the bytes of an array; returns its counter's place, the counter, and the labels to go on at."""
    t = each.t
    place, head, body, done = t.alloca("i64"), t.fresh("elements"), t.fresh("element"), t.fresh("done")
    t.do(f"store i64 0, ptr {place}")
    t.do(f"br label %{head}")
    t.start(head)
    at = t.let(f"load i64, ptr {place}")
    t.do(f"br i1 {t.two('icmp ult', 'i64', at, size)}, label %{body}, label %{done}")
    t.start(body)
    return place, at, head, done


def _end(each: LaneByLane, loop: tuple[str, str, str, str], step: int) -> None:
    t = each.t
    place, at, head, done = loop
    t.do(f"store i64 {t.two('add', 'i64', at, str(step))}, ptr {place}")
    t.do(f"br label %{head}")
    t.start(done)


def _masked(each: LaneByLane, target: str, source: str, size: str, mask: str) -> None:
    """Copy the bytes whose number modulo 16 is in the mask; the others of the destination stay as they are."""
    t = each.t
    loop = _begin(each, size)
    at = loop[1]
    here, there = (t.let(f"getelementptr i8, ptr {base}, i64 {at}") for base in (target, source))
    bit = t.two("and", "i64", t.two("lshr", "i64", mask, t.two("and", "i64", at, "15")), "1")
    copy, after = t.fresh("byte"), t.fresh("after")
    t.do(f"br i1 {t.two('icmp ne', 'i64', bit, '0')}, label %{copy}, label %{after}")
    t.start(copy)
    t.do(f"store i8 {t.let(f'load i8, ptr {there}')}, ptr {here}")
    t.do(f"br label %{after}")
    t.start(after)
    _end(each, loop, 1)


def _reduction(each: LaneByLane, kind: str, type: str, target: str, source: str, size: str) -> None:
    """Update each element of the destination atomically with one of the source."""
    t = each.t
    held: Type = type  # type: ignore[assignment]
    state = each.v.snapshot()
    loop = _begin(each, size)
    here, there = (t.let(f"getelementptr i8, ptr {base}, i64 {loop[1]}") for base in (target, source))
    value = t.let(f"load {LLVM_TYPE[held]}, ptr {there}, align {SIZE[held]}")
    attrs = AtomicAccess(cast(AtomicOp, kind), "generic", "relaxed", "gpu", returns=False)
    element = Op("atomic", held, [Const("i64", 0), Const(held, 0)], attrs)
    each.one(element, LLVM_TYPE[held], here, [value])
    each.v.restore(state)
    _end(each, loop, SIZE[held])

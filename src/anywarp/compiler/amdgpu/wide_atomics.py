"""Atomic operations on 128 bits, which no AMD GPU has: under a lock that all of them share.

They are atomic among each other, which is all that other accesses of 128 bits can see of them.
"""

from __future__ import annotations

from anywarp.compiler.abi import SERVICES, STATE
from anywarp.compiler.amdgpu.emitter import GLOBAL, Emitter
from anywarp.compiler.ir import Op

_LOCK = STATE.offset("wide_lock")
_ORDERED = 'syncscope("agent")'


def emit_wide(e: Emitter, op: Op, type: str, pointer: str) -> str:
    """Emit an exchange or compare-and-swap of an i128 for one lane at a time; returns what was there.

    A lane that has got the lock gives it back within the same trip, so lanes that run together do not wait for each other. The wave's
    barrier keeps LLVM from moving that part behind the loop, where the lane would wait for those that want the lock.
    """
    t = e.t
    lock = _lock(e)
    values = [e.value(a) for a in op.args[1:]]
    inside, after = t.fresh("locked"), t.fresh("tried")

    def trip(carried: list[str]) -> tuple[str, list[str]]:
        pair = t.let(f"cmpxchg {GLOBAL} {lock}, i32 0, i32 1 {_ORDERED} acquire monotonic, align 4")
        got = t.let(f"extractvalue {{ i32, i1 }} {pair}, 1")
        before = t.label
        t.do(f"br i1 {got}, label %{inside}, label %{after}")
        t.start(inside)
        old = t.let(f"load volatile i128, {type} {pointer}, align 16")
        new = values[0]
        if op.attrs["op"] == "cas":
            new = t.pick(0, t.two("icmp eq", "i128", old, values[0]), "i128", values[1], old)
        t.do(f"store volatile i128 {new}, {type} {pointer}, align 16")
        t.do(f"store atomic i32 0, {GLOBAL} {lock} {_ORDERED} release, align 4")
        t.do(f"br label %{after}")
        t.start(after)
        found = t.let(f"phi i128 [ {carried[0]}, %{before} ], [ {old}, %{inside} ]")
        t.call("void", "llvm.amdgcn.wave.barrier")
        return t.two("xor", "i1", got, "true"), [found]

    t.do(f"fence {_ORDERED} release")
    found = e.loop([("i128", "0")], trip)[0]
    t.do(f"fence {_ORDERED} acquire")
    return found


def _lock(e: Emitter) -> str:
    t = e.t
    services = t.cast("inttoptr", "i64", e.hidden("services", "i64"), GLOBAL)
    place = t.let(f"getelementptr i8, {GLOBAL} {services}, i64 {SERVICES.offset('state')}")
    state = t.cast("inttoptr", "i64", t.let(f"load i64, {GLOBAL} {place}, align 8"), GLOBAL)
    return t.let(f"getelementptr i8, {GLOBAL} {state}, i64 {_LOCK}")

"""Barriers of a block: the hardware's where all threads take part, counters in shared memory otherwise.

A warp counts as 32 threads, as PTX has it. Its first active lane counts and waits for all; the others wait for that lane.
"""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.amdgpu.barrier_plan import COUNT, SLOT
from anywarp.compiler.amdgpu.crossing_code import emit_crossing
from anywarp.compiler.amdgpu.emitter import SHARED, Emitter
from anywarp.compiler.amdgpu.pointers import variable
from anywarp.compiler.amdgpu.special import threads
from anywarp.compiler.amdgpu.warp_words import ballot
from anywarp.compiler.attributes import Barrier
from anywarp.compiler.ir import Const, Op, Terminator, Value
from anywarp.compiler.simd.text import Text

_RELEASE = 'fence syncscope("workgroup") release'
_ACQUIRE = 'fence syncscope("workgroup") acquire'
_SCOPE = 'syncscope("workgroup") monotonic'
_ARRIVED, _PHASE, _SUMS = 0, 4, 8


def emit_barrier(e: Emitter, end: Terminator) -> None:
    """Emit the waiting of a terminator; the caller goes on to its target. A reduction's result is left in `e.barrier_results`."""
    kind = Barrier.of(end).kind
    if kind == "yield":
        e.t.call("void", "llvm.amdgcn.wave.barrier")  # keeps what others wait for from being moved behind the loop
        return
    if Barrier.of(end).warp:
        emit_crossing(e, end)
        warp_barrier(e)
        return
    number = end.args[0]
    assert number is not None
    counted = number.bits in e.barriers.counted if isinstance(number, Const) else bool(e.barriers.counted)
    if kind.startswith("red"):
        assert end.args[2] is not None
        term = _contribution(e, kind, e.value(end.args[2]))
        total = _counted(e, end, number, term) if counted else _reduced(e, number, term)
        e.barrier_results[end.targets[0]] = _result(e, kind, total)
    elif counted:
        _counted(e, end, number, None)
    else:
        block_barrier(e)


def warp_barrier(e: Emitter) -> None:
    """Order the memory accesses of a warp's lanes; they run together, so nobody has to be waited for."""
    e.t.do('fence syncscope("wavefront") release')
    e.t.call("void", "llvm.amdgcn.wave.barrier")
    e.t.do('fence syncscope("wavefront") acquire')


def block_barrier(e: Emitter) -> None:
    """Wait for all waves of the block, and see what they wrote."""
    _wait_for_all(e.t)


def _wait_for_all(t: Text) -> None:
    t.do(_RELEASE)
    t.call("void", "llvm.amdgcn.s.barrier")
    t.do(_ACQUIRE)


# --- reductions -------------------------------------------------------------------------------------------------------


def _contribution(e: Emitter, kind: str, predicate: str) -> str:
    """Return what a warp adds to the sum: its lanes whose predicate holds, for `and` those whose does not."""
    t = e.t
    if kind == "red_and":
        predicate = t.two("xor", "i1", predicate, "true")
    return t.call("i32", "llvm.ctpop.i32", ("i32", ballot(e, predicate)))


def _result(e: Emitter, kind: str, total: str) -> str:
    if kind == "red_popc":
        return total
    return e.t.two("icmp eq" if kind == "red_and" else "icmp ne", "i32", total, "0")


def _reduced(e: Emitter, number: Value, term: str) -> str:
    """Emit a reduction over all threads: every warp adds its part, and takes it away when all have read the sum.

    A warp takes its part away before it comes to the next reduction, so that one begins at nothing when all are there.
    """
    t, place = e.t, _slot(e, number, _SUMS)

    def add(how: str) -> None:
        t.do(f"atomicrmw {how} {SHARED} {place}, i32 {term} {_SCOPE}, align 4")

    _by_leader(e, lambda: add("add"))
    block_barrier(e)
    total = t.let(f"load atomic i32, {SHARED} {place} {_SCOPE}, align 4")
    block_barrier(e)
    _by_leader(e, lambda: add("sub"))
    return total


# --- counters ---------------------------------------------------------------------------------------------------------


def _by_leader(e: Emitter, body: Callable[[], None]) -> None:
    """Emit code for the first active lane of the warp."""
    t = e.t
    first = t.call("i32", "llvm.cttz.i32", ("i32", ballot(e, "true")), ("i1", "false"))
    inside, after = t.fresh("leader"), t.fresh("after")
    t.do(f"br i1 {t.two('icmp eq', 'i32', first, e.lane)}, label %{inside}, label %{after}")
    t.start(inside)
    body()
    t.do(f"br label %{after}")
    t.start(after)


def _slot(e: Emitter, number: Value, offset: int) -> str:
    """Return the pointer of one of a barrier's words, which are 0 when the kernel begins."""
    e.once("barriers", lambda head: _zero(e, head))
    plan, t = e.barriers, e.t
    if isinstance(number, Const):
        return variable(e, "shared", plan.start + SLOT * plan.slots[number.bits] + offset)
    index = t.two("and", "i32", e.as_word(number), str(COUNT - 1))
    first = variable(e, "shared", plan.start + offset)
    return t.let(f"getelementptr i8, {SHARED} {first}, i32 {t.two('mul', 'i32', index, str(SLOT))}")


def _zero(e: Emitter, head: Text) -> str:
    e.variables.add("@aw.lds")
    for i in range(len(e.barriers.slots)):
        place = head.let(f"getelementptr i8, {SHARED} @aw.lds, i32 {e.barriers.start + SLOT * i}")
        head.do(f"store <4 x i32> zeroinitializer, {SHARED} {place}, align 16")
    _wait_for_all(head)
    return ""


def _counted(e: Emitter, end: Terminator, number: Value, term: str | None) -> str:
    """Emit arriving at a counted barrier, and waiting unless only arriving is meant; returns the sum of a reduction."""
    t = e.t
    now, sums = _phase(e, number)
    odd = t.cast("trunc", "i32", now, "i1")
    own, other = (t.pick(0, odd, SHARED, a, b) for a, b in ((sums[1], sums[0]), (sums[0], sums[1])))
    wait = Barrier.of(end).kind != "arrive"
    _arrive(e, number, end.args[1], now, term, (own, other), wait=wait)
    t.do(_ACQUIRE)
    return t.let(f"load atomic i32, {SHARED} {own} {_SCOPE}, align 4") if term is not None else ""


def emit_arrival(e: Emitter, op: Op) -> None:
    """Emit arriving at a counted barrier, for a warp that looks by and by whether all have come; its value is the phase."""
    t, number = e.t, op.args[0]
    now, sums = _phase(e, number)
    odd = t.cast("trunc", "i32", now, "i1")
    own, other = (t.pick(0, odd, SHARED, a, b) for a, b in ((sums[1], sums[0]), (sums[0], sums[1])))
    _arrive(e, number, op.args[1] if len(op.args) > 1 else None, now, None, (own, other), wait=False)
    e.define(op, now)


def emit_passed(e: Emitter, op: Op) -> None:
    """Emit the question whether the phase of an arrival is over."""
    e.define(op, e.t.two("xor", "i1", _unchanged(e, _slot(e, op.args[0], _PHASE), e.value(op.args[1])), "true"))


def _phase(e: Emitter, number: Value) -> tuple[str, list[str]]:
    """Return the phase that a barrier is in, and the pointers of its two sums."""
    phase, sums = _slot(e, number, _PHASE), [_slot(e, number, _SUMS + 4 * i) for i in (0, 1)]
    e.t.do(_RELEASE)
    return e.t.let(f"load atomic i32, {SHARED} {phase} {_SCOPE}, align 4"), sums


def _arrive(
    e: Emitter, number: Value, count: Value | None, now: str, term: str | None, sums: tuple[str, str], *, wait: bool
) -> None:
    """Emit arriving in the phase `now`, with what is added to its sum, the first of `sums`.

    Whoever completes a phase sets the arrived back, and the sum of the phase after the next, before others see the phase end.
    """
    t = e.t
    arrived, phase = _slot(e, number, _ARRIVED), _slot(e, number, _PHASE)
    expected = e.value(count) if count is not None else _all_threads(e)

    def arrive() -> None:
        if term is not None:
            t.do(f"atomicrmw add {SHARED} {sums[0]}, i32 {term} {_SCOPE}, align 4")
            t.do(_RELEASE)
        before = t.let(f'atomicrmw add {SHARED} {arrived}, i32 32 syncscope("workgroup") acq_rel, align 4')
        complete = t.two("icmp uge", "i32", t.two("add", "i32", before, "32"), expected)
        last, together = t.fresh("last"), t.fresh("together")
        t.do(f"br i1 {complete}, label %{last}, label %{together}")
        t.start(last)
        t.do(f"store atomic i32 0, {SHARED} {sums[1]} {_SCOPE}, align 4")
        t.do(f"atomicrmw sub {SHARED} {arrived}, i32 {expected} {_SCOPE}, align 4")
        t.do(f'atomicrmw add {SHARED} {phase}, i32 1 syncscope("workgroup") acq_rel, align 4')
        t.do(f"br label %{together}")
        t.start(together)  # both warps of a wave: the one that waits must not keep the other from completing the phase
        t.call("void", "llvm.amdgcn.wave.barrier")
        if wait:
            e.loop([], lambda _: (_unchanged(e, phase, now), []))

    _by_leader(e, arrive)


def _unchanged(e: Emitter, phase: str, before: str) -> str:
    e.t.call("void", "llvm.amdgcn.s.sleep", ("i32", "1"))
    now = e.t.let(f'load atomic i32, {SHARED} {phase} syncscope("workgroup") acquire, align 4')
    return e.t.two("icmp eq", "i32", now, before)


OPERATIONS = {"barrier_arrive": emit_arrival, "barrier_passed": emit_passed}


def _all_threads(e: Emitter) -> str:
    def make(t: Text) -> str:
        return t.two("and", "i32", t.two("add", "i32", threads(e), "31"), "-32")

    return e.once("all threads", make)

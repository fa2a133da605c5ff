"""What is asked at the instructions that `crossings` marks: whether lanes that name each other are at different ones."""

from __future__ import annotations

from anywarp.compiler.amdgpu import services
from anywarp.compiler.amdgpu.crossings import mask_of
from anywarp.compiler.amdgpu.emitter import LOCAL, SHARED, Emitter
from anywarp.compiler.amdgpu.special import linear_thread
from anywarp.compiler.amdgpu.warp_words import ballot, word_of_warp
from anywarp.compiler.artifact import REASONS
from anywarp.compiler.attributes import Waiting
from anywarp.compiler.ir import Op, Terminator
from anywarp.compiler.simd.text import Text

ELSEWHERE = REASONS.index(
    "a member mask names lanes at another trip of a loop, which lanes that move in step cannot wait for"
)
CROSSED = REASONS.index(
    "a member mask names lanes that came to another instruction, which lanes that move in step cannot wait for"
)


def emit_crossing(e: Emitter, one: Op | Terminator) -> None:
    """Emit what is asked at a marked place; nothing for others."""
    watched = Waiting.of(one).watched
    if watched is None:
        return
    t, mask = e.t, e.value(mask_of(one))
    lacked = _lacked(e)
    before = t.let(f"load i32, {LOCAL} {lacked}, align 4")
    if not watched.apart:
        bad = t.two("icmp ne", "i32", t.two("and", "i32", before, mask), "0")
        _stop_if(e, bad, one)
        return
    here = ballot(e, "true")
    missing = t.two("and", "i32", t.two("and", "i32", mask, _began(e)), t.two("xor", "i32", here, "-1"))
    both = t.two("and", "i32", t.two("and", "i32", before, here), mask)
    look, on = t.fresh("look"), t.fresh("looked")
    t.do(f"br i1 {t.two('icmp ne', 'i32', t.two('or', 'i32', missing, both), '0')}, label %{look}, label %{on}")
    t.start(look)
    went, without = _record(e, 0), _record(e, 4)
    old = [t.let(f'load atomic i32, {SHARED} {x} syncscope("wavefront") monotonic, align 4') for x in (went, without)]
    own = t.two("shl", "i32", "1", e.lane)
    named = t.two("icmp ne", "i32", t.two("and", "i32", old[1], own), "0")
    names = t.two("icmp ne", "i32", t.two("and", "i32", old[0], mask), "0")
    met = t.two("icmp ne", "i32", both, "0")
    _stop_if(e, t.two("or", "i1", met, t.two("and", "i1", named, names)), one)
    for place, bits in ((went, own), (without, missing)):
        t.do(f'atomicrmw or {SHARED} {place}, i32 {bits} syncscope("wavefront") monotonic, align 4')
    t.do(f"store i32 {t.two('or', 'i32', before, missing)}, {LOCAL} {lacked}, align 4")
    t.do(f"br label %{on}")
    t.start(on)


def _stop_if(e: Emitter, bad: str, one: Op | Terminator) -> None:
    t = e.t
    stop, on = t.fresh("crossed"), t.fresh("on")
    t.do(f"br i1 {bad}, label %{stop}, label %{on}")
    t.start(stop)
    waiting = Waiting.of(one)
    again = waiting.watched is not None and waiting.watched.again
    services.stop(e, str(ELSEWHERE if again else CROSSED), str(waiting.line or 0))
    t.do("unreachable")
    t.start(on)


def _lacked(e: Emitter) -> str:
    """Return the lane's variable for the lanes that it has gone on without."""

    def make(t: Text) -> str:
        t.allocas.append("  %lacked = alloca i32, align 4, addrspace(5)")
        t.do(f"store i32 0, {LOCAL} %lacked, align 4")
        return "%lacked"

    return e.once("lanes that were lacked", make)


def _began(e: Emitter) -> str:
    return e.once("lanes that began", lambda t: word_of_warp(e, t, "true"))


def _record(e: Emitter, offset: int) -> str:
    """Return the place of a word of the warp's record, which is 0 when the kernel begins."""

    def make(t: Text) -> str:
        e.variables.add("@aw.lds")
        thread = linear_thread(e)
        first = t.two("add", "i32", t.two("lshr", "i32", t.two("and", "i32", thread, "-32"), "2"), str(e.records[0]))
        place = t.let(f"getelementptr i8, {SHARED} @aw.lds, i32 {first}")
        t.do(f"store <2 x i32> zeroinitializer, {SHARED} {place}, align 8")
        return place

    place = e.once("the warp's record", make)
    return e.t.let(f"getelementptr i8, {SHARED} {place}, i32 {offset}") if offset else place

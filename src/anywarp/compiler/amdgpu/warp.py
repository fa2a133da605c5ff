"""Operations among the lanes of a warp of 32, alone in its wave or one of two in a wave of 64."""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.amdgpu.crossing_code import emit_crossing
from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.amdgpu.warp_words import ballot
from anywarp.compiler.attributes import Compare, Reduction, Special
from anywarp.compiler.fold import signed
from anywarp.compiler.ir import Const, Op, Value
from anywarp.compiler.simd.text import LLVM_TYPE

_REDUCE = {
    "add": "add",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "min": "smin",
    "max": "smax",
    "umin": "umin",
    "umax": "umax",
}
_IDENTITY = {"add": 0, "or": 0, "xor": 0, "and": -1, "min": 0x7FFFFFFF, "max": -0x80000000, "umin": -1, "umax": 0}


def emit_ballot(e: Emitter, op: Op) -> None:
    """Emit a vote: the lanes that are on and whose predicate holds."""
    e.define(op, ballot(e, _on(e, op, e.value(op.args[0]))))


def emit_wave_all(e: Emitter, op: Op) -> None:
    """Emit the question whether a predicate holds for all active lanes of the wave, of both warps where two share it."""
    t, type = e.t, f"i{e.wave}"
    others = t.call(type, f"llvm.amdgcn.ballot.{type}", ("i1", t.two("xor", "i1", e.value(op.args[0]), "true")))
    e.define(op, t.two("icmp eq", type, others, "0"))


def _on(e: Emitter, op: Op, predicate: str = "true") -> str:
    if op.guard is None:
        return predicate
    guard = e.value(op.guard)
    return guard if predicate == "true" else e.t.two("and", "i1", predicate, guard)


def read_lane(e: Emitter, word: str, lane: str) -> str:
    """Return an i32 as it is in another lane of the warp (0 to 31); that lane must be active."""
    t = e.t
    if e.half != "0":
        lane = t.two("or", "i32", lane, e.half)
    return t.call("i32", "llvm.amdgcn.ds.bpermute", ("i32", t.two("shl", "i32", lane, "2")), ("i32", word))


def read_lane_of(e: Emitter, type: str, value: str, lane: str) -> str:
    """Return a value of an LLVM type as it is in another lane."""
    return _by_words(e, type, value, lambda word: read_lane(e, word, lane))


def _by_words(e: Emitter, type: str, value: str, read: Callable[[str], str]) -> str:
    """Read a value of an LLVM type elsewhere in pieces of 32 bits."""
    t = e.t
    bits = int({"float": "i32", "double": "i64"}.get(type, type)[1:])
    whole = t.cast("bitcast", type, value, f"i{bits}") if type in ("float", "double") else value
    if bits <= 32:
        word = whole if bits == 32 else t.cast("zext", f"i{bits}", whole, "i32")
        out = read(word)
        out = out if bits == 32 else t.cast("trunc", "i32", out, f"i{bits}")
    else:
        out = "0"
        for shift in range(0, bits, 32):
            part = t.two("lshr", f"i{bits}", whole, str(shift)) if shift else whole
            piece = t.cast("zext", "i32", read(t.cast("trunc", f"i{bits}", part, "i32")), f"i{bits}")
            out = t.two("or", f"i{bits}", out, t.two("shl", f"i{bits}", piece, str(shift)) if shift else piece)
    return t.cast("bitcast", f"i{bits}", out, type) if type in ("float", "double") else out


def emit_shuffle(e: Emitter, op: Op) -> None:
    """Emit a shuffle: wide elements go in pieces of 32 bits."""
    source, index = op.args
    distance = _exchanged(index)
    if distance is not None:
        type, value = LLVM_TYPE[source.type], e.value(source)
        e.define(op, _by_words(e, type, value, lambda word: swizzle_xor(e, word, distance)))
        return
    beside = _beside(index)
    if beside is not None:
        there, distance = beside
        type, value = LLVM_TYPE[source.type], e.value(source)
        found = _by_words(e, type, value, lambda word: _read_beside(e, word, distance))
        e.define(op, e.t.pick(0, e.value(there), type, found, value))
        return
    lane = e.t.two("and", "i32", e.as_word(index), "31")
    e.define(op, read_lane_of(e, LLVM_TYPE[source.type], e.value(source), lane))


def emit_match(e: Emitter, op: Op) -> None:
    """Emit a loop over the distinct values among the active lanes: each trip settles the lanes that hold the first one's."""
    t, source = e.t, op.args[0]
    type, value = LLVM_TYPE[source.type], e.value(source)
    on = _on(e, op)

    def trip(carried: list[str]) -> tuple[str, list[str]]:
        rest, found = carried
        first = t.call("i32", "llvm.cttz.i32", ("i32", rest), ("i1", "false"))
        wanted = read_lane_of(e, type, value, t.two("and", "i32", first, "31"))
        equal = t.two("icmp eq", type, value, wanted)
        same = ballot(e, equal if on == "true" else t.two("and", "i1", equal, on))
        left = t.two("and", "i32", rest, t.two("xor", "i32", same, "-1"))
        return t.two("icmp ne", "i32", left, "0"), [left, t.pick(0, equal, "i32", same, found)]

    # Guarded: lanes that are off take part in the loop, but are in no mask.
    e.define(op, e.loop([("i32", ballot(e, on)), ("i32", "0")], trip)[1])


def emit_reduce(e: Emitter, op: Op) -> None:
    """Emit a reduction over the lanes that are on and named in each lane's mask: a butterfly if all 32 are, else one by one."""
    t, how = e.t, Reduction.of(op).op
    value, members, on = e.value(op.args[0]), e.value(op.args[1]), _on(e, op)
    everyone = t.two("icmp eq", "i32", members, "-1")
    whole = ballot(e, everyone if on == "true" else t.two("and", "i1", everyone, on))
    together, apart, done = t.fresh("together"), t.fresh("apart"), t.fresh("reduced")
    t.do(f"br i1 {t.two('icmp eq', 'i32', whole, '-1')}, label %{together}, label %{apart}")
    t.start(together)
    total = value
    for distance in (16, 8, 4, 2, 1):
        total = _combine(e, how, total, swizzle_xor(e, total, distance))
    first, before = total, t.label
    t.do(f"br label %{done}")
    t.start(apart)
    named = t.two("and", "i32", members, ballot(e, on))

    def trip(carried: list[str]) -> tuple[str, list[str]]:
        rest, so_far = carried
        lane = t.two("and", "i32", t.call("i32", "llvm.cttz.i32", ("i32", rest), ("i1", "false")), "31")
        left = t.two("and", "i32", rest, t.two("sub", "i32", rest, "1"))
        return t.two("icmp ne", "i32", left, "0"), [left, _combine(e, how, so_far, read_lane(e, value, lane))]

    second = e.loop([("i32", named), ("i32", str(_IDENTITY[how]))], trip)[1]
    behind = t.label
    t.do(f"br label %{done}")
    t.start(done)
    e.define(op, t.let(f"phi i32 [ {first}, %{before} ], [ {second}, %{behind} ]"))


def _exchanged(index: Value) -> int | None:
    """Return by which constant a lane's number is changed, as in a butterfly; None for every other source."""
    if not isinstance(index, Op) or index.name != "xor" or not isinstance(index.args[1], Const):
        return None
    lane, distance = index.args[0], index.args[1].bits
    return distance if _is_own(lane) and 0 < distance < 32 else None


def _is_own(lane: Value) -> bool:
    return isinstance(lane, Op) and lane.name == "special" and Special.of(lane).name == "laneid"


def _beside(index: Value) -> tuple[Value, int] | None:
    """Return what says whether a lane reads at a constant distance or itself, as in `shfl.down`, and the distance; None for every other source."""
    if not isinstance(index, Op) or index.name != "select" or not _is_own(index.args[2]):
        return None
    there, source = index.args[0], index.args[1]
    if not isinstance(source, Op) or not isinstance(there, Op) or there.name != "icmp" or there.args[0] is not source:
        return None
    if source.name not in ("add", "sub") or not _is_own(source.args[0]):
        return None
    by, last = source.args[1], there.args[1]
    if not isinstance(by, Const) or not isinstance(last, Const):
        return None
    distance, bound = signed(by.bits, 32) * (-1 if source.name == "sub" else 1), signed(last.bits, 32)
    within = {"sle": 0 < distance < 32 and bound < 32, "sge": -32 < distance < 0 <= bound}  # of the warp
    return (there, distance) if within.get(Compare.of(there).predicate) else None


def _read_beside(e: Emitter, word: str, distance: int) -> str:
    """Return an i32 as it is at a distance in the wave, whose end is followed by its beginning (DS_BPERMUTE_B32: lanes modulo the wave)."""
    own = e.once("wave_lane in bytes", lambda t: t.two("shl", "i32", e.wave_lane, "2"))
    return e.t.call(
        "i32", "llvm.amdgcn.ds.bpermute", ("i32", e.t.two("add", "i32", own, str(4 * distance))), ("i32", word)
    )


_QUAD, _ROW_XMASK = 4, 0x160
"""Lanes of a quad; the control word of DPP that exchanges lanes of a row of 16, from generation 10 on."""


def swizzle_xor(e: Emitter, word: str, distance: int) -> str:
    """Return an i32 as it is in the lane whose number differs by an exclusive or; nothing here leaves the 32 lanes of a warp."""
    t = e.t
    if distance < _QUAD:
        control = sum((i ^ distance) << 2 * i for i in range(_QUAD))  # quad_perm
    elif distance < 16 and e.arch.generation >= 10:
        control = _ROW_XMASK + distance
    else:
        return t.call("i32", "llvm.amdgcn.ds.swizzle", ("i32", word), ("i32", str(distance << 10 | 0x1F)))
    everywhere = (("i32", "15"), ("i32", "15"), ("i1", "true"))
    return t.call("i32", "llvm.amdgcn.update.dpp.i32", ("i32", "0"), ("i32", word), ("i32", str(control)), *everywhere)


def _combine(e: Emitter, how: str, a: str, b: str) -> str:
    name = _REDUCE[how]
    if name in ("add", "or", "xor", "and"):
        return e.t.two(name, "i32", a, b)
    return e.t.call("i32", f"llvm.{name}.i32", ("i32", a), ("i32", b))


def emit_converge(e: Emitter, op: Op) -> None:
    """Emit nothing but where lanes may be at another instruction, or trip of a loop (`crossings`): lanes of a wave that part come
    together again where their ways meet, before any code that names them all."""
    emit_crossing(e, op)


OPERATIONS = {
    "ballot": emit_ballot,
    "shuffle": emit_shuffle,
    "match_any": emit_match,
    "reduce": emit_reduce,
    "converge": emit_converge,
    "wave_all": emit_wave_all,
}

"""Atomic operations of many lanes as one: where lanes name one address, they agree among themselves before memory is touched.

A locked operation costs as much as twenty plain ones, and the order of a warp's lanes is nobody's business.
"""

from __future__ import annotations

from anywarp.compiler.attributes import AtomicAccess, InSpace
from anywarp.compiler.ir import Op
from anywarp.compiler.simd.addresses import SIZE, Address
from anywarp.compiler.simd.lane_by_lane import LaneByLane
from anywarp.compiler.simd.text import LLVM_TYPE, constant_vector, splat, vector_type

_REDUCE = {
    "add": "add", "and": "and", "or": "or", "xor": "xor", "min": "smin", "max": "smax", "umin": "umin", "umax": "umax",
}  # fmt: skip
FLOATS = frozenset({"f16", "bf16", "f32", "f64"})
"""Types whose additions can be made together."""
_AT_ONCE = 8
"""Lanes per trip of a loop over lanes that are all on."""
_MANY = 3
"""Of so many lanes one must be on for those that are off to go along: a trip for each that is on takes longer than for all in a row."""


def combines(op: Op) -> bool:
    """Tell whether several lanes' operations on one place can become one: whole numbers, in any order."""
    return AtomicAccess.of(op).op in _REDUCE and op.args[1].type in ("i32", "i64")


def _identity(how: str, bits: int) -> int:
    top = 1 << (bits - 1)
    return {"and": -1, "umin": -1, "min": top - 1, "max": top}.get(how, 0)


def total(each: LaneByLane, op: Op, masks: list[str] | None) -> str:
    """Return what the active lanes' operands amount to, as a scalar."""
    v, t, how = each.v, each.t, AtomicAccess.of(op).op
    element, n = LLVM_TYPE[op.args[1].type], v.chunk
    type, name = vector_type(element, n), _REDUCE[how]
    parts = v.vector(op.args[1])
    if masks is not None:
        nothing = splat(op.args[1].type, _identity(how, int(element[1:])), n)
        parts = [t.pick(n, mask, type, part, nothing) for mask, part in zip(masks, parts, strict=True)]
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        if how in ("add", "and", "or", "xor"):
            parts = [t.two(name, type, a, b) for a, b in pairs]
        else:
            parts = [t.call(type, f"llvm.{name}.v{n}{element}", (type, a), (type, b)) for a, b in pairs]
    return t.call(element, f"llvm.vector.reduce.{name}.v{n}{element}", (type, parts[0]))


def combine_at_one_place(each: LaneByLane, op: Op, address: Address, bits: str | None) -> None:
    """All lanes name one address and nobody asks what was there: combine first, then one access."""
    t, v = each.t, each.v
    value = total(each, op, None if bits is None else v.lane_masks(bits))
    inside, after = t.fresh("on"), t.fresh("after")
    t.do(f"br i1 {t.two('icmp ne', v.word, bits or '-1', '0')}, label %{inside}, label %{after}")
    t.start(inside)
    each.one(op, LLVM_TYPE[op.args[1].type], t.cast("inttoptr", "i64", address.base, "ptr"), [value])
    t.do(f"br label %{after}")
    t.start(after)


def count_up(each: LaneByLane, op: Op, address: Address, bits: str | None) -> None:
    """All lanes add to one address and ask what was there: as if they had done so in order, but with one access."""
    t, v = each.t, each.v
    element = LLVM_TYPE[op.args[1].type]
    operand = each.memory.spill(element, v.vector(op.args[1]))
    before, sum = each.memory.room(element), t.alloca(element)
    t.do(f"store {element} 0, ptr {sum}")
    index = each.begin_lanes(bits)
    so_far = t.let(f"load {element}, ptr {sum}")
    value = t.let(f"load {element}, ptr {t.let(f'getelementptr {element}, ptr {operand}, i32 {index}')}")
    t.do(f"store {element} {so_far}, ptr {t.let(f'getelementptr {element}, ptr {before}, i32 {index}')}")
    t.do(f"store {element} {t.two('add', element, so_far, value)}, ptr {sum}")
    each.end_lanes()
    entry, inside, after = t.label, t.fresh("on"), t.fresh("after")
    t.do(f"br i1 {t.two('icmp ne', v.word, bits or '-1', '0')}, label %{inside}, label %{after}")
    t.start(inside)
    pointer = t.cast("inttoptr", "i64", address.base, "ptr")
    old = each.one(op, element, pointer, [t.let(f"load {element}, ptr {sum}")])
    inside = t.label
    t.do(f"br label %{after}")
    t.start(after)
    found = v.splat(element, t.let(f"phi {element} [ 0, %{entry} ], [ {old}, %{inside} ]"))
    type, chunks = vector_type(element, v.chunk), list[str]()
    for first in range(0, v.lanes, v.chunk):
        place = t.let(f"getelementptr {element}, ptr {before}, i32 {first}")
        chunks.append(t.two("add", type, t.let(f"load {type}, ptr {place}, align 16"), found))
    v.define(op, None, chunks)


def combine_if_same(each: LaneByLane, op: Op, address: Address, places: str, bits: str | None) -> str:
    """Begin: where all active lanes turn out to name one address, combine them. Returns the label that ends what follows, for when
    they do not."""
    t, v, n = each.t, each.v, each.v.chunk
    if bits is None:
        first = t.let(f"load i64, ptr {places}")
    else:
        lane = t.call(v.word, f"llvm.cttz.{v.word}", (v.word, bits), ("i1", "false"))
        lane = t.two("and", v.word, lane, str(v.lanes - 1))  # no lane at all: any
        first = t.let(f"load i64, ptr {t.let(f'getelementptr i64, ptr {places}, {v.word} {lane}')}")
    type, spread, other = f"<{n} x i64>", v.splat("i64", first), list[str]()
    for i in range(v.chunks):
        chunk = t.let(f"load {type}, ptr {t.let(f'getelementptr i64, ptr {places}, i32 {i * n}')}, align 16")
        other.append(t.two("icmp ne", type, chunk, spread))
    differ = v.bits_of(other)
    if bits is not None:
        differ = t.two("and", v.word, differ, bits)
    same, apart, after = t.fresh("same"), t.fresh("apart"), t.fresh("after")
    t.do(f"br i1 {t.two('icmp eq', v.word, differ, '0')}, label %{same}, label %{apart}")
    t.start(same)
    state = v.snapshot()
    combine_at_one_place(each, op, Address(first, [0] * v.lanes, [], []), bits)
    v.restore(state)
    t.do(f"br label %{after}")
    t.start(apart)
    return after


def fold(each: LaneByLane, op: Op, address: Address, bits: str | None) -> None:
    """Floating-point additions of all lanes to one place: each rounded, one after the other, between one load and one store."""
    t, v = each.t, each.v
    type = op.args[1].type
    element, size = LLVM_TYPE[type], SIZE[type]
    operand = each.memory.spill(element, v.vector(op.args[1]))
    pointer, sum, word = t.cast("inttoptr", "i64", address.base, "ptr"), t.alloca(element), f"i{8 * size}"
    shared = InSpace.of(op).space == "shared"
    again, after = t.fresh("again"), t.fresh("after")
    t.do(f"br i1 {t.two('icmp ne', v.word, bits or '-1', '0')}, label %{again}, label %{after}")
    t.start(again)
    kind = "load" if shared else "load atomic"
    seen = t.let(f"{kind} {word}, ptr {pointer}{'' if shared else ' monotonic'}, align {size}")
    t.do(f"store {word} {seen}, ptr {sum}")
    index = each.begin_lanes(bits)
    old = t.let(f"load {element}, ptr {sum}")
    value = t.let(f"load {element}, ptr {t.let(f'getelementptr {element}, ptr {operand}, i32 {index}')}")
    t.do(f"store {element} {each.new_value(op, element, old, [value])}, ptr {sum}")
    each.end_lanes()
    new = t.let(f"load {word}, ptr {sum}")
    if shared:
        t.do(f"store {word} {new}, ptr {pointer}, align {size}")
        t.do(f"br label %{after}")
    else:
        pair = each.exchange(op, pointer, seen, new)
        t.do(f"br i1 {t.let(f'extractvalue {{ {word}, i1 }} {pair}, 1')}, label %{after}, label %{again}")
    t.start(after)


def in_runs(each: LaneByLane, op: Op, places: str, operand: tuple[str, bool], bits: str | None) -> None:
    """Floating-point additions of which nobody asks what was there: neighbouring lanes that name one place add between one load and one
    store, each rounded, in their order. Sorted lists (rows of a sparse matrix, bins, segments) have such runs.
    """
    t, v = each.t, each.v
    type = op.args[1].type
    element, size = LLVM_TYPE[type], SIZE[type]
    word, sum, left, lane = f"i{8 * size}", t.alloca(element), t.alloca("i32"), t.alloca("i32")
    together = t.alloca(f"[{v.warps} x i32]", 64)
    t.do(f"store {v.word} {_like_the_next(each, places)}, ptr {together}, align 4")
    rest, number = each.begin_warps(bits)
    state = v.snapshot()
    active = t.let(f"load i32, ptr {rest}")
    same = t.let(f"load i32, ptr {t.let(f'getelementptr i32, ptr {together}, i32 {number or 0}')}")
    same = t.two("and", "i32", same, t.two("lshr", "i32", active, "1"))  # with a lane that is on, of the same warp
    t.do(f"store i32 {active}, ptr {left}")
    head, begin, again, adding, flush, next, done = (
        t.fresh(name) for name in ("runs", "begin", "again", "adding", "flush", "next", "done")
    )
    t.do(f"br label %{head}")
    t.start(head)
    start = t.let(f"load i32, ptr {left}")
    t.do(f"br i1 {t.two('icmp ne', 'i32', start, '0')}, label %{begin}, label %{done}")
    t.start(begin)
    first = t.call("i32", "llvm.cttz.i32", ("i32", start), ("i1", "true"))
    ends = t.two("xor", "i32", t.two("lshr", "i32", same, first), "-1")  # lane 31 is like no other: some bit is on
    last = t.two("add", "i32", first, t.call("i32", "llvm.cttz.i32", ("i32", ends), ("i1", "true")))
    base = t.two("shl", "i32", number, "5") if number else "0"
    slot = t.two("add", "i32", base, first)
    place = t.let(f"load i64, ptr {t.let(f'getelementptr i64, ptr {places}, i32 {slot}')}")
    pointer = t.cast("inttoptr", "i64", place, "ptr")
    t.do(f"br label %{again}")
    t.start(again)
    seen = t.let(f"load atomic {word}, ptr {pointer} monotonic, align {size}")
    t.do(f"store {word} {seen}, ptr {sum}")
    t.do(f"store i32 {first}, ptr {lane}")
    t.do(f"br label %{adding}")
    t.start(adding)
    here = t.let(f"load i32, ptr {lane}")
    value = each.operand_of(element, operand, t.two("add", "i32", base, here))
    t.do(f"store {element} {each.new_value(op, element, t.let(f'load {element}, ptr {sum}'), [value])}, ptr {sum}")
    t.do(f"store i32 {t.two('add', 'i32', here, '1')}, ptr {lane}")
    t.do(f"br i1 {t.two('icmp ult', 'i32', here, last)}, label %{adding}, label %{flush}")
    t.start(flush)
    new = t.let(f"load {word}, ptr {sum}")
    pair = each.exchange(op, pointer, seen, new)
    t.do(f"br i1 {t.let(f'extractvalue {{ {word}, i1 }} {pair}, 1')}, label %{next}, label %{again}")
    t.start(next)
    behind = t.two("shl", "i32", "-2", last)
    t.do(f"store i32 {t.two('and', 'i32', start, behind)}, ptr {left}")
    t.do(f"br label %{head}")
    t.start(done)
    v.restore(state)
    each.end_warps()


def _like_the_next(each: LaneByLane, places: str) -> str:
    """Return the word of lanes whose place is that of the lane behind them; of the last one anything."""
    t, v, n = each.t, each.v, each.v.chunk
    type, same = f"<{n} x i64>", list[str]()
    here: list[str] = []
    for first in range(0, v.lanes, n):
        place = t.let(f"getelementptr i64, ptr {places}, i32 {first}")
        # Frozen: LLVM would load what lies one lane further on, which no store in flight holds as a whole.
        here.append(t.let(f"freeze {type} {t.let(f'load {type}, ptr {place}, align 16')}"))
    for one, behind in zip(here, [*here[1:], here[0]], strict=True):
        next = t.shuffle(type, one, range(1, n + 1), behind)
        same.append(t.two("icmp eq", type, one, next))
    return v.bits_of(same)


def many_in_turn(
    each: LaneByLane, op: Op, address: Address, places: str, operands: list[tuple[str, bool]], bits: str
) -> str:
    """Begin: where many lanes are on and nobody asks what was there, all go in turn, those that are off each to a place of its own.

    Returns the label that ends what follows, for when few are on. Only for memory that other threads of the machine do not see.
    """
    t, v, n = each.t, each.v, each.v.chunk
    count = t.call(v.word, f"llvm.ctpop.{v.word}", (v.word, bits))
    many, few, after = t.fresh("many"), t.fresh("few"), t.fresh("after")
    t.do(f"br i1 {t.two('icmp uge', v.word, count, str(v.lanes // _MANY))}, label %{many}, label %{few}")
    t.start(many)
    state, type = v.snapshot(), f"<{n} x i64>"
    own = v.splat("i64", t.cast("ptrtoint", "ptr", each.memory.room("i64"), "i64"))
    chosen: list[str] = []
    for i, mask in enumerate(v.lane_masks(bits)):
        place = t.let(f"load {type}, ptr {t.let(f'getelementptr i64, ptr {places}, i32 {i * n}')}, align 16")
        apart = t.two("add", type, own, constant_vector("i64", [8 * (i * n + lane) for lane in range(n)]))
        chosen.append(t.pick(n, mask, type, place, apart))
    all_in_turn(each, op, address, each.memory.spill("i64", chosen), operands)
    v.restore(state)
    t.do(f"br label %{after}")
    t.start(few)
    return after


def all_in_turn(each: LaneByLane, op: Op, address: Address, places: str, operands: list[tuple[str, bool]]) -> None:
    """Every lane is on and nobody asks what was there: a loop over lanes, several per trip."""
    t, v = each.t, each.v
    element, number = LLVM_TYPE[op.args[1].type], t.alloca("i32")
    t.do(f"store i32 0, ptr {number}")
    head, done = t.fresh("lanes"), t.fresh("done")
    t.do(f"br label %{head}")
    t.start(head)
    state = v.snapshot()
    first = t.let(f"load i32, ptr {number}")
    for step in range(_AT_ONCE):
        index = t.two("add", "i32", first, str(step)) if step else first
        values = [each.operand_of(element, operand, index) for operand in operands]
        each.one(op, element, each.place(address, places, index), values)
    following = t.two("add", "i32", first, str(_AT_ONCE))
    t.do(f"store i32 {following}, ptr {number}")
    v.restore(state)
    t.do(f"br i1 {t.two('icmp ult', 'i32', following, str(v.lanes))}, label %{head}, label %{done}")
    t.start(done)

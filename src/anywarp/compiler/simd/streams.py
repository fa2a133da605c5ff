"""Stores past the caches: results larger than any cache that the kernel does not read again go to memory at once.

An ordinary store first reads the line that it is about to overwrite whole; adding two arrays then moves four arrays, not three.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anywarp.compiler.attributes import Access, InSpace
from anywarp.compiler.ir import Op, Phi, Value
from anywarp.compiler.simd.values import Values

LINE = 64
_ORDERED = frozenset({"atomic", "fence", "host_call"})
_SEARCH = 40


def find_streams(v: Values) -> set[Op]:
    """Return the stores that may go past the caches: each thread's only one there, to an array that the kernel does not load from.

    Legality: such stores are not ordered with others. A kernel that orders memory itself has none, and every kernel that has some
    ends in a fence; the block's own thread sees its stores in order.
    """
    ops = [op for block in v.kernel.blocks for op in block.ops]
    if not v.machine.avx2 or v.specialisation.quick or any(_orders(op) for op in ops):
        return set()
    read: set[Value] = set()
    for op in ops:
        if op.name == "load" and InSpace.of(op).space in ("global", "generic"):
            found = _arrays(op.args[0])
            if not found:
                return set()
            read |= found
    out: set[Op] = set()
    for number, block in enumerate(v.kernel.blocks):
        if v.flow.nest.innermost[number] is None:
            out |= {op for op in block.ops if _may_stream(op, read)}
    return out


def _orders(op: Op) -> bool:
    return op.name in _ORDERED or (isinstance(op.attrs, Access) and op.attrs.strong)


def _may_stream(op: Op, read: set[Value]) -> bool:
    if op.name != "store" or InSpace.of(op).space != "global" or op.guard is not None:
        return False
    arrays = _arrays(op.args[0])
    return bool(arrays) and not arrays & read


def _arrays(address: Value) -> set[Value]:
    """Return the parameters that an address may be based on; empty if it comes from elsewhere, too."""
    out, work, seen = set[Value](), [address], set[Value]()
    while work:
        value = work.pop()
        if value in seen or value.type != "i64":
            continue
        seen.add(value)
        if len(seen) > _SEARCH or (isinstance(value, Op) and value.name in ("load", "element", "special")):
            return set()
        if isinstance(value, Phi):
            work += value.incoming.values()
        elif isinstance(value, Op) and value.name == "param":
            out.add(value)
        elif isinstance(value, Op) and value.name in ("add", "sub", "to_generic", "from_generic"):
            work += value.args
    return out


def store_stream(v: Values, threads: str, places: Sequence[str], chunks: Iterable[str], type: str, size: int) -> str:
    """Begin: if the launch stores much and whole lines, store `chunks` of a type past the caches at their `places` (i64); else
    what follows. `size` is what each thread stores, in bytes. Returns the label of what comes after both.
    """
    t = v.t
    much = t.two("icmp uge", "i64", threads, str(v.machine.tuning.stream_bytes // size))
    bytes = size * v.chunk
    low = places[0]
    for place in places[max(1, LINE // bytes) :: max(1, LINE // bytes)]:
        low = t.two("or", "i64", low, place)
    whole = t.two("icmp eq", "i64", t.two("and", "i64", low, str(LINE - 1)), "0")
    past, through, after = t.fresh("past"), t.fresh("through"), t.fresh("after")
    t.do(f"br i1 {t.two('and', 'i1', much, whole)}, label %{past}, label %{through}, !prof !1")
    t.start(past)
    for place, chunk in zip(places, chunks, strict=True):
        pointer = t.cast("inttoptr", "i64", place, "ptr")
        t.do(f"store {type} {chunk}, ptr {pointer}, align {min(LINE, bytes)}, !nontemporal !2")
    t.do(f"br label %{after}")
    t.start(through)
    return after

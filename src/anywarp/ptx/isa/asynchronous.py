"""Asynchronous copies from global to shared memory: `cp.async` with its groups, done at once.

A copy may complete at any moment between its issue and the wait for its group, so completing at issue is one of the orders that
a program must bear. The bulk and tensor copies need mbarriers and are not here.
"""

from __future__ import annotations

from anywarp.ptx.isa.operands import Misfit, malformed, read, take
from anywarp.ptx.isa.ops import Ops, Type, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Address, Instruction, Integer, Operand

_HINTS = "{.L2::cache_hint}{.L2::64B/L2::128B/L2::256B}"


def _location(ops: Ops, operand: Operand, type: Type) -> V:
    if not isinstance(operand, Address):
        raise Misfit("a memory operand is not written [address]")
    base = read(ops, operand.base, type)
    return base if operand.offset == 0 else ops.add(base, ops.const(type, operand.offset))


@meaning(f"cp.async.ca/cg.shared/shared::cta.global{_HINTS}")
def cp_async(ops: Ops, i: Instruction) -> None:
    """`cp.async`: copy 4, 8 or 16 bytes; from a smaller source size on, zeros."""
    destination, source, size, *rest = take(i, 3, 5)
    if not isinstance(size, Integer) or size.value not in ((16,) if i.has("cg") else (4, 8, 16)):
        raise malformed(i, "the size to copy is not 4, 8 or 16 (16 with .cg)")
    extra = rest[: len(rest) - int(i.has("L2::cache_hint"))]
    words = size.value // 4
    target = _location(ops, destination, "i32")
    address = _location(ops, source, "i64")
    if not extra:
        ops.store("shared", target, ops.load("global", "i32", address, words))
        return
    given = ops.min(read(ops, extra[0], "i32"), ops.const("i32", size.value), False)
    ops.store("shared", target, _partial(ops, target, address, given, words))


def _partial(ops: Ops, target: V, address: V, given: V, words: int) -> list[V]:
    """Load words of which only the first `given` bytes count.

    A source of size 0 may point anywhere, so such lanes read their own destination instead; any other source is aligned to the
    whole copy, which therefore lies in memory that exists.
    """
    here = ops.to_generic("shared", ops.zext(target, "i64"))
    empty = ops.icmp("eq", given, ops.const("i32", 0))
    loaded = ops.load("generic", "i32", ops.select(empty, here, ops.to_generic("global", address)), words)
    kept: list[V] = []
    for n, word in enumerate(loaded):
        start = ops.const("i32", 4 * n)
        bytes_here = ops.select(ops.icmp("ugt", given, start), ops.sub(given, start), ops.const("i32", 0))
        ones = ops.shl(ops.const("i32", -1), ops.shl(bytes_here, ops.const("i32", 3)))
        kept.append(ops.and_(word, ops.not_(ones)))
    return kept


@meaning("cp.async.commit_group", "cp.async.wait_all")
def group(ops: Ops, i: Instruction) -> None:
    """`cp.async.commit_group`, `cp.async.wait_all`: nothing is ever under way."""
    take(i, 0)


@meaning("cp.async.wait_group")
def wait_group(ops: Ops, i: Instruction) -> None:
    """`cp.async.wait_group`."""
    take(i, 1)

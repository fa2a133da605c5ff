"""Atomic operations: `atom`, `red`; and the fences `fence`, `membar`.

Packed and vector forms act element by element, which is all the atomicity that the manual promises for them.
"""

from __future__ import annotations

from typing import Any

from anywarp.ptx.isa.data_movement import location, scope_of, vector_length
from anywarp.ptx.isa.operands import join, malformed, pair, parts_of, read, read_parts, take, value_type, write
from anywarp.ptx.isa.ops import BITS, AtomicOp, Ops, Order, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction, Operand, Vector

_WHERE = "{.relaxed/acquire/release/acq_rel}{.<scope>}{.global/shared/shared::cta/shared::cluster}{.L2::cache_hint}"
_INTEGER_FORMS = (
    "and/or/xor.b32/b64", "add.u32/u64/s32/s64", "inc/dec.u32", "min/max.u32/u64/s32/s64", "add.f32/f64",
    "add.noftz.f16/bf16/f16x2/bf16x2",
)  # fmt: skip
_VECTOR_FORMS = ("add.v2/v4.f32", "add/min/max.noftz.v2/v4/v8.f16/bf16", "add/min/max.noftz.v2/v4.f16x2/bf16x2")
_FORMS = (*_INTEGER_FORMS, *_VECTOR_FORMS)


def _operation(i: Instruction, ptx: str) -> AtomicOp:
    name: Any = next(
        m for m in i.modifiers if m in ("and", "or", "xor", "add", "inc", "dec", "min", "max", "exch", "cas")
    )
    if name in ("add", "min", "max") and "f" in ptx:
        name = "f" + name
    elif name in ("min", "max") and ptx[0] == "u":
        name = "u" + name
    return name


def _order(i: Instruction) -> Order:
    orders: tuple[Order, ...] = ("acquire", "release", "acq_rel")
    found: list[Order] = [o for o in orders if i.has(o)]
    return found[0] if found else "relaxed"


def _elements(i: Instruction, operand: Operand) -> tuple[Operand, ...]:
    """The elements of a vector operand, or the operand alone."""
    count = vector_length(i)
    found = operand.elements if isinstance(operand, Vector) else (operand,)
    if len(found) != count:
        raise malformed(i, f"{len(found)} elements where {count} belong")
    return found


def _update(ops: Ops, i: Instruction, address: Operand, values: list[V], returns: bool) -> list[V | None]:
    """Act on adjacent elements, each by itself; return their old values."""
    space, at = location(ops, i, address)
    found: list[V | None] = []
    for n, value in enumerate(values):
        step = n * BITS[value.type] // 8
        place = ops.add(at, ops.const(at.type, step)) if step else at
        name = _operation(i, i.types[0])
        old = ops.atomic(name, space, place, (value,), order=_order(i), scope=scope_of(i, "gpu"), returns=returns)
        found.append(old)
    return found


@meaning(*(f"atom{_WHERE}.{form}" for form in _FORMS), f"atom{_WHERE}.exch.b32/b64/b128")
def atom(ops: Ops, i: Instruction) -> None:
    """`atom`: update memory, returning what was there."""
    destination, address, source = take(i, 3, 4)[:3]
    ptx = i.types[0]
    values = [v for e in _elements(i, source) for v in read_parts(ops, e, ptx)]
    old = _update(ops, i, address, values, returns=True)
    _, parts = parts_of(ptx)
    for n, target in enumerate(_elements(i, destination)):
        mine = old[n * parts : (n + 1) * parts]
        write(ops, target, mine[0] if parts == 1 else join(ops, mine[0], mine[1]))


@meaning(*(f"red{_WHERE}.{form}" for form in _FORMS))
def red(ops: Ops, i: Instruction) -> None:
    """`red`: update memory."""
    address, source = take(i, 2, 3)[:2]
    values = [v for e in _elements(i, source) for v in read_parts(ops, e, i.types[0])]
    _update(ops, i, address, values, returns=False)


@meaning(f"atom{_WHERE}.cas.b16/b32/b64/b128")
def cas(ops: Ops, i: Instruction) -> None:
    """`atom.cas`: store c where memory holds b; `d|p` also tells whether it did."""
    destination, address, b, c = take(i, 4, 5)[:4]
    d, p = pair(destination)
    type = value_type(i.types[0])
    space, at = location(ops, i, address)
    expected, new = read(ops, b, type), read(ops, c, type)
    old = ops.atomic("cas", space, at, (expected, new), order=_order(i), scope=scope_of(i, "gpu"), returns=True)
    write(ops, d, old)
    write(ops, p, ops.icmp("eq", old, expected))


@meaning(
    "membar.cta/gl/sys", "fence{.sc/acq_rel/acquire/release}.<scope>",
    "fence.acquire/release.sync_restrict::shared::cta/sync_restrict::shared::cluster.cluster", "fence.mbarrier_init.release.cluster",
    "fence.proxy.alias/async", "membar.proxy.alias/async",
    "fence.proxy.async.global/shared/shared::cta/shared::cluster", "fence.proxy.tensormap::generic.release/acquire.<scope>",
    "fence.proxy.async::generic.acquire/release.sync_restrict::shared::cta/sync_restrict::shared::cluster.cluster",
    "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster", "fence.proxy.alias.acquire/release.sys",
    "fence.proxy.generic::fabric/fabric::generic/fabric::fabric.alias.acquire/release.sys",
)  # fmt: skip
def fence(ops: Ops, i: Instruction) -> None:
    """`fence`, `membar`: order memory. There is one kind of path to memory here, so a proxy fence is a plain one."""
    if i.opcode == "membar":
        ops.fence("sc", "cta" if i.has("cta") else "sys" if i.has("sys") else "gpu")
        return
    orders: tuple[Order, ...] = ("sc", "acquire", "release")
    found: list[Order] = [o for o in orders if i.has(o)]
    ops.fence(found[0] if found else "acq_rel", scope_of(i, "sys"))

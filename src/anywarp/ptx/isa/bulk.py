"""Bulk copies, and the asynchronous stores and reductions: done when issued, and then reported to who waits for them.

An asynchronous operation may complete at any moment between its issue and the wait for it, so completing at issue is one of the
orders that a program must bear. A cluster is one block here: `shared::cluster` addresses are those of the block.
"""

from __future__ import annotations

from anywarp.ptx.isa.data_movement import location, scope_of, vector_length
from anywarp.ptx.isa.mbarriers import complete_bytes
from anywarp.ptx.isa.operands import Misfit, malformed, read, take, value_type, write
from anywarp.ptx.isa.ops import BITS, AddressSpace, AtomicOp, Ops, Type, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Address, Instruction, Integer, Operand, Vector

_BYTES = "mbarrier::complete_tx::bytes"
_OPERATIONS = ("inc", "dec", "min", "max", "add", "and", "or", "xor")


def _at(ops: Ops, space: AddressSpace, operand: Operand) -> tuple[AddressSpace, V]:
    """The place that `[address]` names in a state space."""
    if not isinstance(operand, Address):
        raise Misfit("a memory operand is not written [address]")
    type: Type = "i32" if space == "shared" else "i64"
    base = read(ops, operand.base, type)
    return space, base if operand.offset == 0 else ops.add(base, ops.const(type, operand.offset))


def _generic(ops: Ops, where: tuple[AddressSpace, V]) -> V:
    space, address = where
    if space == "generic":
        return address
    return ops.to_generic(space, address if address.type == "i64" else ops.zext(address, "i64"))


def _spaces(i: Instruction) -> tuple[AddressSpace, AddressSpace]:
    """The state spaces of destination and source, as the form names them."""
    found = [m.partition("::")[0] for m in i.modifiers if m == "global" or m.startswith("shared")]
    one, other = ("global" if f == "global" else "shared" for f in found[:2])
    return one, other  # type: ignore[return-value]


def _extra(i: Instruction, least: int, *present: str) -> dict[str, Operand]:
    """The operands after the first `least`, by the modifier that brings each, in order."""
    names = [name for name in present if i.has(name)]
    found = take(i, least + len(names))[least:]
    return dict(zip(names, found, strict=True))


_TO_SHARED = f".{_BYTES}{{.L2::cache_hint}}"


_RELAXED = "cp.async.bulk.relaxed{.<scope>}"


@meaning(
    f"cp.async.bulk{{.weak}}.shared::cta.global{_TO_SHARED}{{.ignore_oob}}",
    f"{_RELAXED}.shared::cta.global{_TO_SHARED}{{.ignore_oob}}.b128",
    f"cp.async.bulk{{.weak}}.shared::cluster.global{_TO_SHARED}{{.multicast::cluster}}",
    f"{_RELAXED}.shared::cluster.global{_TO_SHARED}{{.multicast::cluster}}.b128",
    f"cp.async.bulk{{.weak}}.shared::cluster.shared::cta.{_BYTES}",
    f"{_RELAXED}.shared::cluster.shared::cta.{_BYTES}.b128",
)
def to_shared(ops: Ops, i: Instruction) -> None:
    """`cp.async.bulk` into shared memory, counted in bytes by an mbarrier.

    `.ignore_oob` leaves some bytes at both ends unread; `.multicast::cluster` copies for the blocks named in a mask.
    """
    operands = i.operands
    ignored = 2 if i.has("ignore_oob") else 0
    extra = _extra(i, 4 + ignored, "multicast::cluster", "L2::cache_hint")
    target, origin = _spaces(i)
    destination, source = _generic(ops, _at(ops, target, operands[0])), _generic(ops, _at(ops, origin, operands[1]))
    size = ops.zext(read(ops, operands[2], "i32"), "i64")
    barrier = _at(ops, "shared", operands[3 + ignored])
    mask = extra.get("multicast::cluster")
    if mask is not None:
        own = ops.and_(ops.zext(read(ops, mask, "i16"), "i64"), ops.const("i64", 1))
        size = ops.mul(size, own)
    wanted = size
    if ignored:
        left, right = (ops.zext(read(ops, o, "i32"), "i64") for o in operands[3:5])
        cut = ops.min(ops.add(left, right), size, False)
        wanted = ops.sub(size, cut)
        destination, source = ops.add(destination, left), ops.add(source, left)
    ops.host_call("bulk_copy", (destination, source, wanted), None)
    complete_bytes(ops, i, barrier, size)


@meaning(
    "cp.async.bulk{.weak}.global.shared::cta.bulk_group{.L2::cache_hint}{.cp_mask}",
    f"{_RELAXED}.global.shared::cta.bulk_group{{.L2::cache_hint}}{{.cp_mask}}.b128",
)
def to_global(ops: Ops, i: Instruction) -> None:
    """`cp.async.bulk` into global memory; with a mask, only some bytes of each 16."""
    extra = _extra(i, 3, "L2::cache_hint", "cp_mask")
    destination = _generic(ops, _at(ops, "global", i.operands[0]))
    source = _generic(ops, _at(ops, "shared", i.operands[1]))
    size = ops.zext(read(ops, i.operands[2], "i32"), "i64")
    if "cp_mask" not in extra:
        ops.host_call("bulk_copy", (destination, source, size), None)
        return
    mask = ops.zext(read(ops, extra["cp_mask"], "i16"), "i64")
    ops.host_call("bulk_mask", (destination, source, size, mask), None)


@meaning("cp.async.bulk.prefetch.L2.global{.L2::cache_hint}")
def prefetch(ops: Ops, i: Instruction) -> None:
    """`cp.async.bulk.prefetch`: a hint."""
    take(i, 2, 3)


@meaning("cp.async.bulk.commit_group")
def commit(ops: Ops, i: Instruction) -> None:
    """`cp.async.bulk.commit_group`: nothing is ever under way."""
    take(i, 0)


@meaning("cp.async.bulk.wait_group{.read}")
def wait_group(ops: Ops, i: Instruction) -> None:
    """`cp.async.bulk.wait_group`."""
    take(i, 1)


def _operation(i: Instruction) -> AtomicOp:
    """The atomic operation that a form names, for its type."""
    name = next(m for m in i.modifiers if m in _OPERATIONS)
    ptx = i.types[-1]
    if "f" in ptx:
        name = "f" + name
    elif name in ("min", "max") and ptx[0] == "u":
        name = "u" + name
    return name  # type: ignore[return-value]


_COUNTED_REDUCE = f"cp.reduce.async.bulk{{.relaxed}}{{.<scope>}}.shared::cluster.shared::cta.{_BYTES}"
_GROUPED_REDUCE = "cp.reduce.async.bulk{.relaxed}{.<scope>}.global.shared::cta.bulk_group{.L2::cache_hint}"


@meaning(
    f"{_COUNTED_REDUCE}.and/or/xor.b32", f"{_COUNTED_REDUCE}.add/min/max.u32/s32", f"{_COUNTED_REDUCE}.inc/dec.u32",
    f"{_COUNTED_REDUCE}.add.u64", f"{_GROUPED_REDUCE}.and/or/xor.b32/b64", f"{_GROUPED_REDUCE}.add.u32/s32/u64/f32/f64",
    f"{_GROUPED_REDUCE}.min/max.u32/s32/u64/s64", f"{_GROUPED_REDUCE}.inc/dec.u32", f"{_GROUPED_REDUCE}.min/max.f16/bf16",
    f"{_GROUPED_REDUCE}.add.noftz.f16/bf16",
)  # fmt: skip
def reduce(ops: Ops, i: Instruction) -> None:
    """`cp.reduce.async.bulk`: an array in shared memory onto another, element by element."""
    target, _ = _spaces(i)
    counted = i.has(_BYTES)
    _extra(i, 4 if counted else 3, "L2::cache_hint")
    destination = _generic(ops, _at(ops, target, i.operands[0]))
    source = _generic(ops, _at(ops, "shared", i.operands[1]))
    size = ops.zext(read(ops, i.operands[2], "i32"), "i64")
    ops.host_call(f"bulk_{_operation(i)}_{value_type(i.types[-1])}", (destination, source, size), None)
    if counted:
        complete_bytes(ops, i, _at(ops, "shared", i.operands[3]), size)


@meaning("st.bulk{.weak}{.shared::cta}")
def fill(ops: Ops, i: Instruction) -> None:
    """`st.bulk`: zeros, the only value that the manual allows."""
    address, size, value = take(i, 3)
    if value != Integer(0):
        raise malformed(i, "it can only fill with 0")
    where = _generic(ops, location(ops, i, address))
    ops.host_call("bulk_zero", (where, where, read(ops, size, "i64")), None)


# --- single elements ----------------------------------------------------------------------------------------------------


def _places(ops: Ops, i: Instruction, *operands: Operand) -> list[tuple[AddressSpace, V]]:
    """Where memory operands of a form that may name a space lie."""
    space: AddressSpace = "shared" if i.has("shared::cluster", "shared::cta", "shared") else "generic"
    return [_at(ops, "global" if i.has("global") else space, o) for o in operands]


@meaning(
    f"st.async{{.weak}}{{.shared::cluster/shared::cta}}.{_BYTES}{{.v2/v4}}.b32/u32/s32/f32/b64/u64/s64/f64/b128",
)
def store(ops: Ops, i: Instruction) -> None:
    """`st.async` that an mbarrier counts."""
    address, source, barrier = take(i, 3)
    count, type = vector_length(i), value_type(i.types[0])
    sources = source.elements if isinstance(source, Vector) else (source,)
    if len(sources) != count:
        raise malformed(i, f"{len(sources)} sources for {count} elements")
    (space, at), where = _places(ops, i, address, barrier)
    ops.store(space, at, [read(ops, s, type) for s in sources], order="relaxed", scope="cluster")
    complete_bytes(ops, i, where, ops.const("i64", count * BITS[type] // 8))


@meaning("st.async{.mmio}.release.gpu/sys{.global}.b8/b16/b32/b64/u8/u16/u32/u64/s8/s16/s32/s64/f32/f64")
def store_release(ops: Ops, i: Instruction) -> None:
    """`st.async` with release semantics."""
    address, source = take(i, 2)
    ((space, at),) = _places(ops, i, address)
    value = read(ops, source, value_type(i.types[0]))
    ops.store(space, at, (value,), volatile=i.has("mmio"), order="release", scope=scope_of(i, "gpu"))


_COUNTED = f"red.async.relaxed.cluster{{.shared::cluster/shared::cta}}.{_BYTES}"


@meaning(
    f"{_COUNTED}.inc/dec.u32", f"{_COUNTED}.min/max.u32/s32", f"{_COUNTED}.add.u32/s32/u64/s64", f"{_COUNTED}.and/or/xor.b32",
)  # fmt: skip
def red_counted(ops: Ops, i: Instruction) -> None:
    """`red.async` that an mbarrier counts."""
    address, source, barrier = take(i, 3)
    (space, at), where = _places(ops, i, address, barrier)
    value = read(ops, source, value_type(i.types[0]))
    ops.atomic(_operation(i), space, at, (value,), order="relaxed", scope="cluster", returns=False)
    complete_bytes(ops, i, where, ops.const("i64", BITS[value.type] // 8))


@meaning("red.async{.mmio}.release.gpu/sys{.global}.add.u32/s32/u64/s64")
def red_release(ops: Ops, i: Instruction) -> None:
    """`red.async` with release semantics."""
    address, source = take(i, 2)
    ((space, at),) = _places(ops, i, address)
    value = read(ops, source, value_type(i.types[0]))
    ops.atomic("add", space, at, (value,), order="release", scope=scope_of(i, "gpu"), returns=False)


# --- clusters of one block ------------------------------------------------------------------------------------------------


@meaning("mapa{.shared::cluster}.u32/u64")
def mapa(ops: Ops, i: Instruction) -> None:
    """`mapa`: the address of a variable in another block of the cluster; the only block is one's own."""
    d, a, _ = take(i, 3)
    write(ops, d, read(ops, a, value_type(i.types[0])))


@meaning("getctarank{.shared::cluster}.u32/u64")
def getctarank(ops: Ops, i: Instruction) -> None:
    """`getctarank`: the rank of the block whose shared memory an address is in."""
    take(i, 2)
    write(ops, i.operands[0], ops.const("i32", 0))


@meaning("barrier.cluster.arrive{.release/relaxed}{.aligned}")
def arrive_at_cluster(ops: Ops, i: Instruction) -> None:
    """`barrier.cluster.arrive`: the threads of the only block wait for each other in `barrier.cluster.wait`."""
    take(i, 0)
    if not i.has("relaxed"):
        ops.fence("release", "cluster")


_CANCEL = f"clusterlaunchcontrol.try_cancel.async{{.shared::cta}}.{_BYTES}{{.multicast::cluster::all}}.b128"


@meaning(_CANCEL)
def try_cancel(ops: Ops, i: Instruction) -> None:
    """`clusterlaunchcontrol.try_cancel`: no block can be taken over, which the manual allows at any time.

    The answer is 16 bytes of zeros: not cancelled.
    """
    address, barrier = take(i, 2)
    (space, at), where = _places(ops, i, address, barrier)
    ops.store(space, at, [ops.const("i64", 0)] * 2, order="relaxed", scope="cluster")
    complete_bytes(ops, i, where, ops.const("i64", 16))


@meaning("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128")
def is_cancelled(ops: Ops, i: Instruction) -> None:
    """`clusterlaunchcontrol.query_cancel.is_canceled`: the lowest bit of an answer."""
    d, answer = take(i, 2)
    write(ops, d, ops.trunc(read(ops, answer, "i128"), "i1"))


@meaning(
    "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128",
    "clusterlaunchcontrol.query_cancel.get_first_ctaid::x/get_first_ctaid::y/get_first_ctaid::z.b32.b128",
)
def first_block(ops: Ops, i: Instruction) -> None:
    """`clusterlaunchcontrol.query_cancel.get_first_ctaid`: undefined for an answer that says no, as all of ours do."""
    d, answer = take(i, 2)
    read(ops, answer, "i128")
    targets = d.elements if isinstance(d, Vector) else (d,)
    if len(targets) != vector_length(i):
        raise malformed(i, f"{len(targets)} destinations")
    for target in targets:
        write(ops, target, ops.const("i32", 0))

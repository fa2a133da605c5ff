"""`mbarrier`: barriers in shared memory that count arrivals and the bytes of asynchronous copies, phase by phase.

The manual leaves the 64 bits of an object to the implementation. Ours: bits 0-19 the pending arrivals, 20-39 the arrivals expected
in each phase, bit 40 the phase's parity, bit 41 the layout that was asked for, 43-63 the transaction count in two's complement. One atomic operation, `arrive`, adds to
the word and begins the next phase where nothing is pending any more; so every instruction but the waits is one addition.
"""

from __future__ import annotations

from anywarp.ptx.isa.data_movement import location, scope_of
from anywarp.ptx.isa.operands import Misfit, pair, read, take, write
from anywarp.ptx.isa.ops import AddressSpace, Ops, Order, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Address, Instruction, Operand

EXPECTED = 20
PARITY = 40
LAYOUT = 41
TRANSACTIONS = 43
"""Where the parts of an object begin; pending arrivals are at bit 0."""
COUNTED = ((1 << EXPECTED) - 1) | (-1 << TRANSACTIONS) & (1 << 64) - 1
"""The bits that are all zero once a phase is complete."""

_HERE = "{.shared/shared::cta}"
_ANYWHERE = "{.shared/shared::cta/shared::cluster}"


def _wide(ops: Ops, count: V) -> V:
    return ops.zext(count, "i64")


def _moved(ops: Ops, count: V, by: int) -> V:
    return ops.shl(count, ops.const("i64", by))


def update(ops: Ops, i: Instruction, where: tuple[AddressSpace, V], change: V) -> V:
    """Add to an object and complete its phase where that is due; returns the word as it was."""
    order: Order = "relaxed" if i.has("relaxed") else "release"
    old = ops.atomic("arrive", *where, (change,), order=order, scope=scope_of(i, "cta"), returns=True)
    assert old is not None
    return old


def complete_bytes(ops: Ops, i: Instruction, where: tuple[AddressSpace, V], size: V) -> None:
    """The complete-tx operation: `size` (i64) bytes of a copy have come."""
    less = ops.sub(ops.const("i64", 0), _moved(ops, size, TRANSACTIONS))
    ops.atomic("arrive", *where, (less,), order="release", scope="cluster", returns=False)


@meaning(f"mbarrier.init{{.layout::v0/layout::v1}}{_HERE}.b64")
def init(ops: Ops, i: Instruction) -> None:
    """`mbarrier.init`: phase 0, `count` arrivals expected and pending, no transactions.

    The second layout has room for reports of operations on a fabric, of which there are none: it reports 0.
    """
    address, count = take(i, 2)
    word = _wide(ops, read(ops, count, "i32"))
    space, at = location(ops, i, address)
    layout = ops.const("i64", int(i.has("layout::v1")) << LAYOUT)
    counts = ops.or_(word, _moved(ops, word, EXPECTED))
    ops.store(space, at, (ops.or_(counts, layout),), order="relaxed", scope="cta")


@meaning(f"mbarrier.inval{_HERE}.b64")
def inval(ops: Ops, i: Instruction) -> None:
    """`mbarrier.inval`: the memory is free for anything; what it holds is nobody's business."""
    (address,) = take(i, 1)
    space, at = location(ops, i, address)
    ops.store(space, at, (ops.const("i64", 0),), order="relaxed", scope="cta")


@meaning(f"mbarrier.expect_tx/complete_tx{{.relaxed}}{{.cta/cluster}}{_ANYWHERE}.b64")
def transactions(ops: Ops, i: Instruction) -> None:
    """`mbarrier.expect_tx`, `mbarrier.complete_tx`: bytes to wait for, or that have come."""
    address, count = take(i, 2)
    change = _moved(ops, _wide(ops, read(ops, count, "i32")), TRANSACTIONS)
    if i.has("complete_tx"):
        change = ops.sub(ops.const("i64", 0), change)
    update(ops, i, location(ops, i, address), change)


@meaning(
    f"mbarrier.arrive/arrive_drop{{.expect_tx}}{{.release/relaxed}}{{.cta/cluster}}{_ANYWHERE}.b64",
    f"mbarrier.arrive/arrive_drop.noComplete{{.release}}{{.cta}}{_HERE}.b64",
)
def arrive(ops: Ops, i: Instruction) -> None:
    """`mbarrier.arrive`, `mbarrier.arrive_drop`: the state of the phase arrived at; dropping expects fewer from then on."""
    destination, address, *rest = take(i, 2, 3)
    one = ops.const("i64", 1)
    given = _wide(ops, read(ops, rest[0], "i32")) if rest else None
    if given is None and i.has("expect_tx", "noComplete"):
        raise Misfit("its count is missing")
    count = given if given is not None and not i.has("expect_tx") else one
    change = ops.sub(ops.const("i64", 0), count)
    if i.has("arrive_drop"):
        change = ops.sub(change, _moved(ops, count, EXPECTED))
    if i.has("expect_tx") and given is not None:
        change = ops.add(change, _moved(ops, given, TRANSACTIONS))
    write(ops, destination, update(ops, i, location(ops, i, address), change))


@meaning("cp.async.mbarrier.arrive{.noinc}{.shared/shared::cta}.b64")
def arrive_after_copies(ops: Ops, i: Instruction) -> None:
    """`cp.async.mbarrier.arrive`: copies are complete when issued, so the arrival happens now.

    Without `.noinc` the pending count is first raised for it, and nothing remains to be done.
    """
    (address,) = take(i, 1)
    if i.has("noinc"):
        update(ops, i, location(ops, i, address), ops.const("i64", -1))


def _parity(ops: Ops, word: V) -> V:
    return ops.and_(ops.lshr(word, ops.const("i64", PARITY)), ops.const("i64", 1))


def _wait(ops: Ops, i: Instruction, address: Operand, awaited: V) -> V:
    """Whether the phase of parity `awaited` (an i64, 0 or 1) is over: the current one has the other parity."""
    space, at = location(ops, i, address)
    order: Order = "relaxed" if i.has("relaxed") else "acquire"
    (word,) = ops.load(space, "i64", at, order=order, scope=scope_of(i, "cta"))
    return ops.icmp("ne", _parity(ops, word), awaited)


@meaning(
    f"mbarrier.test_wait/try_wait{{.parity}}{{.phase_type::primary/phase_type::conditional}}{{.acquire/relaxed}}{{.cta/cluster}}{_HERE}.b64"
)
def wait(ops: Ops, i: Instruction) -> None:
    """`mbarrier.test_wait`, `mbarrier.try_wait`: whether a phase is complete. Trying may give up at once, and does.

    The two kinds of phases go on together, as nothing reports anything: a predicate and a value that are asked for are 0.
    """
    at = next((n for n, operand in enumerate(i.operands) if isinstance(operand, Address)), 0)
    if at not in ((1, 2) if i.has("phase_type::primary") else (1,)):
        raise Misfit("its address is missing or in the wrong place")
    operands = take(i, at + 2, at + 2 + int(i.has("try_wait")))
    destination, address, phase = operands[0], operands[at], operands[at + 1]
    if i.has("parity"):
        awaited = ops.and_(ops.zext(read(ops, phase, "i32"), "i64"), ops.const("i64", 1))
    else:
        awaited = _parity(ops, read(ops, phase, "i64"))
    d, report = pair(destination)
    write(ops, d, _wait(ops, i, address, awaited))
    write(ops, report, ops.const("i1", 0))
    if at == 2:
        write(ops, operands[1], ops.const("i32", 0))


@meaning("mbarrier.check_layout.layout::v0/layout::v1{.shared/shared::cta}.b64")
def check_layout(ops: Ops, i: Instruction) -> None:
    """`mbarrier.check_layout`: whether an object was made with this layout."""
    d, address = take(i, 2)
    space, at = location(ops, i, address)
    (word,) = ops.load(space, "i64", at, order="relaxed", scope="cta")
    second = ops.trunc(ops.lshr(word, ops.const("i64", LAYOUT)), "i1")
    write(ops, d, second if i.has("layout::v1") else ops.not_(second))


@meaning("mbarrier.pending_count{.layout::v0}.b64")
def pending_count(ops: Ops, i: Instruction) -> None:
    """`mbarrier.pending_count`: the arrivals that were pending before the one that gave this state."""
    d, state = take(i, 2)
    write(ops, d, ops.and_(ops.trunc(read(ops, state, "i64"), "i32"), ops.const("i32", (1 << EXPECTED) - 1)))

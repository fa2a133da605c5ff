"""What emission finds out about accesses beyond shapes: loads that lie side by side, and addresses that may turn out regular.

Lanes that walk along rows of their own read neighbours one after the other; one wide access per lane and a transposition is
several times faster than a gather for each. And addresses that differ only because lanes might have left a loop apart are
usually consecutive after all, which a test at run time tells.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Access, InSpace, MemoryAccess
from anywarp.compiler.ir import WRITING, Block, Const, Kernel, Op, Phi, Value
from anywarp.compiler.simd.known import LAZY
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.ops import BITS

_LINEAR = LAZY - {"and", "or", "xor"}
_ARITHMETIC = LAZY | {"mulhi", "div", "rem", "not", "lshr", "ashr", "min", "max", "select"}

SIZE = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "i128": 16, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}
"""Bytes of an element."""


def decompose(address: Value) -> tuple[Value, int]:
    """Split an address into a root and a constant number of bytes."""
    offset, width = 0, BITS[address.type]
    while isinstance(address, Op) and address.name == "add" and isinstance(address.args[1], Const):
        offset += address.args[1].bits
        address = address.args[0]
    offset &= (1 << width) - 1
    return address, offset - (1 << width) if offset >> (width - 1) else offset


def find_groups(kernel: Kernel) -> dict[Op, list[Op]]:
    """Map the first load of each group to its members by address: four, or two, adjacent elements of 4 or 8 bytes.

    Legality: between the first load and the last nothing writes memory, and all of a block's operations run or none.
    """
    out: dict[Op, list[Op]] = {}
    for block in kernel.blocks:
        run: list[Op] = []
        for op in [*block.ops, None]:
            if op is None or op.name in WRITING:
                _group(run, out)
                run = []
            elif _plain(op):
                run.append(op)
    return out


def _plain(op: Op) -> bool:
    return (
        op.name == "load"
        and op.guard is None
        and BITS[op.type] in (32, 64)
        and MemoryAccess.of(op).count == 1
        and not MemoryAccess.of(op).volatile
        and Access.of(op).order == "weak"
    )


def _group(run: list[Op], out: dict[Op, list[Op]]) -> None:
    rows: dict[tuple[Value, str, str], dict[int, Op]] = {}
    for op in run:
        root, offset = decompose(op.args[0])
        rows.setdefault((root, InSpace.of(op).space, op.type), {}).setdefault(offset, op)
    place = {op: i for i, op in enumerate(run)}
    for (_, _, type), row in rows.items():
        size = BITS[type] // 8
        left = sorted(row)
        while left:
            first = left[0]
            members = [first]
            while len(members) * size < 16 and members[-1] + size in row and members[-1] + size in left:
                members.append(members[-1] + size)
            if len(members) == 3:
                members.pop()
            left = [o for o in left if o not in members]
            if len(members) > 1:
                ops = [row[o] for o in members]
                out[min(ops, key=lambda op: place[op])] = ops


def find_plausible(v: Values) -> set[Value]:
    """Return the varying values made only by linear operations and phis from values that vary by known steps or not at all."""
    return _made_by(v, _LINEAR)


def find_computed(v: Values) -> set[Value]:
    """Return the varying values made only by integer arithmetic and phis from values that vary by known steps or not at all.

    Lanes that divide their index into rows and columns, or keep it within bounds, mostly are neighbours still.
    """
    return _made_by(v, _ARITHMETIC)


def _made_by(v: Values, names: frozenset[str]) -> set[Value]:
    """Return the varying integers that nothing but phis and operations of these names makes (a select's condition is free)."""
    rejected: set[Value] = set()
    users: dict[Value, list[Value]] = {}
    work: list[Value] = []
    candidates: set[Value] = set()
    for block in v.kernel.blocks:
        for value in [*block.phis, *block.ops]:
            if not v.varies(value):
                continue
            made = isinstance(value, Phi) or value.name in names
            if not made or value.type not in ("i32", "i64"):
                rejected.add(value)
                work.append(value)
                continue
            candidates.add(value)
            operands = value.incoming.values() if isinstance(value, Phi) else value.args
            for operand in operands if isinstance(value, Phi) or value.name != "select" else value.args[1:]:
                users.setdefault(operand, []).append(value)
    while work:
        for user in users.get(work.pop(), ()):
            if user not in rejected:
                rejected.add(user)
                work.append(user)
    return candidates - rejected


def loop_step(v: Values, block: Block, address: Value) -> tuple[Value, int] | None:
    """Return (step, factor) if an address grows by step * factor bytes per trip of the innermost loop around `block`.

    Only for steps that are launch or run-time numbers: the processor's own prefetcher follows small constant ones.
    """
    loop = v.flow.nest.innermost[v.flow.index[block]]
    if loop is None or len(loop.latches) != 1:
        return None
    header, latch = v.flow.blocks[loop.header], v.flow.blocks[loop.latches[0]]
    factor = 1
    for _ in range(12):
        if isinstance(address, Phi):
            return _step_of(v, address, header, latch, factor)
        if not isinstance(address, Op):
            return None
        name, args = address.name, address.args
        if name in ("sext", "zext", "to_generic", "from_generic"):
            address = args[0]
        elif (
            name in ("mul", "shl") and isinstance(args[1], Const) and args[1].bits < (1 << 16 if name == "mul" else 16)
        ):
            factor *= args[1].bits if name == "mul" else 1 << args[1].bits
            address = args[0]
        elif name == "add":
            moving = [a for a in args if _moves(v, a, loop.blocks)]
            if len(moving) != 1:
                return None
            address = moving[0]
        else:
            return None
    return None


def _moves(v: Values, value: Value, blocks: set[int]) -> bool:
    home = v.home.get(value)
    return home is not None and v.flow.index[home] in blocks and value not in v.hoisted


def _step_of(v: Values, phi: Phi, header: Block, latch: Block, factor: int) -> tuple[Value, int] | None:
    following = phi.incoming.get(latch)
    if phi not in header.phis or not isinstance(following, Op) or following.name != "add":
        return None
    a, b = following.args
    step = b if a is phi else a if b is phi else None
    if step is None or isinstance(step, Const) or not v.shape(step).uniform or step not in v.hoisted:
        return None
    return step, factor

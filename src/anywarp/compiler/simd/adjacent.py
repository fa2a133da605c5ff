"""What emission finds out about accesses beyond shapes: loads that lie side by side, and addresses that may turn out regular.

Lanes that walk along rows of their own read neighbours one after the other; one wide access per lane and a transposition is
several times faster than a gather for each. And addresses that differ only because lanes might have left a loop apart are
usually consecutive after all, which a test at run time tells.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Access, InSpace, MemoryAccess
from anywarp.compiler.fold import signed
from anywarp.compiler.ir import WRITING, Block, Const, Kernel, Op, Phi, Value
from anywarp.compiler.simd.known import LAZY
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.ops import BITS

_LINEAR = LAZY - {"and", "or", "xor"}
_ARITHMETIC = LAZY | {"mulhi", "div", "rem", "not", "lshr", "ashr", "min", "max", "select"}

_LOOKED_AT, _TERMS = 24, 3
"""Operations that are looked at for how an address grows, and products that may be added up for it."""

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


def _plain(op: Op, widths: tuple[int, ...] = (32, 64)) -> bool:
    return (
        op.name == "load"
        and op.guard is None
        and BITS[op.type] in widths
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


def find_words(kernel: Kernel) -> dict[Op, list[Op]]:
    """Map the first load of each group of four bytes side by side in global memory to its members by address.

    Legality: as of `find_groups`; a store to shared or local memory changes nothing in global memory.
    """
    out: dict[Op, list[Op]] = {}
    for block in kernel.blocks:
        rows: dict[Value, dict[int, Op]] = {}
        order: list[Op] = []
        for op in [*block.ops, None]:
            apart = op is not None and op.name == "store" and InSpace.of(op).space in ("shared", "local")
            if op is None or (op.name in WRITING and not apart):
                _words(rows, order, out)
                rows, order = {}, []
            elif _plain(op, (8,)) and InSpace.of(op).space == "global":
                root, offset = decompose(op.args[0])
                rows.setdefault(root, {}).setdefault(offset, op)
                order.append(op)
    return out


def _words(rows: dict[Value, dict[int, Op]], order: list[Op], out: dict[Op, list[Op]]) -> None:
    place = {op: i for i, op in enumerate(order)}
    for row in rows.values():
        left = sorted(row)
        while left:
            members = [left[0] + i for i in range(4)]
            found = all(o in left for o in members)
            if found:
                ops = [row[o] for o in members]
                out[min(ops, key=lambda op: place[op])] = ops
            left = [o for o in left if o not in members] if found else left[1:]


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


Terms = list[tuple[int, tuple[Value, ...]]]
"""A sum of products: a number times some values, each the same in all lanes and in all trips of a loop."""


def loop_step(v: Values, block: Block, address: Value) -> tuple[Phi, Terms] | None:
    """Return by how many bytes an address grows per trip of the innermost loop around `block`, and the phi that it follows.

    Only for steps that are launch or run-time numbers: the processor's own prefetcher follows small constant ones.
    """
    loop = v.flow.nest.innermost[v.flow.index[block]]
    if loop is None or len(loop.latches) != 1:
        return None
    walk = _Walk(v, v.flow.blocks[loop.header], v.flow.blocks[loop.latches[0]], loop.blocks)
    found = walk.step(address)
    terms = [(factor, values) for factor, values in found or () if factor]
    if len(walk.followed) != 1 or not any(values for _, values in terms) or len(terms) > _TERMS:
        return None
    return walk.followed.pop(), terms


class _Walk:
    """Follows how addresses are made, up to the phis of a loop."""

    def __init__(self, v: Values, header: Block, latch: Block, blocks: set[int]) -> None:
        self.v, self.header, self.latch, self.blocks = v, header, latch, blocks
        self.followed: set[Phi] = set()
        self.left = _LOOKED_AT

    def step(self, value: Value) -> Terms | None:
        """Return how much a value grows per trip; None if that is not known."""
        self.left -= 1
        if self.left < 0:
            return None
        if not self._moves(value):
            return []
        if isinstance(value, Phi):
            return self._step_of(value)
        if not isinstance(value, Op):
            return None
        name, args = value.name, value.args
        if name in ("sext", "zext", "trunc", "to_generic", "from_generic"):
            return self.step(args[0])
        if name in ("add", "sub"):
            a, b = self.step(args[0]), self.step(args[1])
            return None if a is None or b is None else a + [((-f if name == "sub" else f), values) for f, values in b]
        if name == "mul" or (name == "shl" and isinstance(args[1], Const) and args[1].bits < BITS[value.type]):
            return self._times(name, args[0], args[1])
        return None

    def _times(self, name: str, a: Value, b: Value) -> Terms | None:
        if self._moves(b):
            a, b = b, a
        found = None if self._moves(b) else self.step(a)
        if found is None:
            return None
        if isinstance(b, Const):
            by = 1 << b.bits if name == "shl" else signed(b.bits, BITS[b.type])
            return [(factor * by, values) for factor, values in found]
        return [(factor, (*values, b)) for factor, values in found] if self._steady(b) else None

    def _step_of(self, phi: Phi) -> Terms | None:
        """Return what is added to a phi of the loop from one trip to the next, also in several steps, as in an unrolled loop."""
        if phi not in self.header.phis:
            return None
        out: Terms = []
        following = phi.incoming.get(self.latch)
        for _ in range(_LOOKED_AT):
            if following is phi:
                self.followed.add(phi)
                return gathered(out)
            if not isinstance(following, Op) or following.name != "add":
                return None
            a, b = following.args
            following, step = (a, b) if self._moves(a) else (b, a)
            if isinstance(step, Const):
                out.append((signed(step.bits, BITS[step.type]), ()))
            elif self._steady(step):
                out.append((1, (step,)))
            else:
                return None
        return None

    def _steady(self, value: Value) -> bool:
        """Tell whether a value is there as one number before the loop begins."""
        return self.v.shape(value).uniform and value in self.v.hoisted

    def _moves(self, value: Value) -> bool:
        home = self.v.home.get(value)
        return home is not None and self.v.flow.index[home] in self.blocks and value not in self.v.hoisted


def gathered(terms: Terms) -> Terms:
    """Add up the factors of equal products."""
    sums: dict[tuple[Value, ...], int] = {}
    for factor, values in terms:
        sums[values] = sums.get(values, 0) + factor
    return [(factor, values) for values, factor in sums.items()]

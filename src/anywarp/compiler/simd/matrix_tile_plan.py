"""Which products of a kernel go through the processor's tiles (AMX), and how: sums of 16 x 16, fed by two steps along k at a time.

One m16n8 product fills a quarter of what a tile instruction does. So neighbours are put together: products that add to the same sums one
after the other, and two sums side by side with the same A. They are computed where the last of them stands; nothing may read
their sums before that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from anywarp.compiler.attributes import MatrixProduct
from anywarp.compiler.ir import Block, Op, Value
from anywarp.compiler.simd.known import Machine
from anywarp.compiler.simd.matrix_places import Group, Results
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.matrix_forms import WIDTH, Product

ROW, ROWS = 64, 16
"""Bytes of a tile's row, and rows of a tile."""
TILE = ROW * ROWS
_STEP = 32
"""Bytes of A's rows that one product takes: two products fill the rows of a tile."""
_MOST_PANELS = 256
"""Tiles of A and B that a block may have, of 1 KiB on the stack for each warp of a gang."""
_BYTES = frozenset({"s8", "u8"})

Values2 = tuple[Value, ...]
"""The registers of a fragment."""


@dataclass(eq=False, slots=True)
class Home:
    """A tile of sums for each warp, in which one or two groups lie side by side."""

    groups: list[Group]
    base: str = ""


@dataclass(eq=False, slots=True)
class Panel:
    """A tile of A or B for each warp: its fragments by step along k and, of B, by column of sums (0, 1)."""

    side: str
    number: int
    parts: dict[tuple[int, int], Values2]

    @property
    def whole(self) -> bool:
        """Whether there are two steps."""
        return any(step for step, _ in self.parts)

    def places(self) -> Iterable[tuple[Value, int]]:
        """Yield each register with the offset of the first row of its matrix in the tile."""
        for (step, column), values in self.parts.items():
            for i, value in enumerate(values):
                if self.side == "a":
                    yield value, 8 * (i % 2) * ROW + step * _STEP + i // 2 * 16
                else:
                    yield value, (8 * step + 4 * i) * ROW + 32 * column


@dataclass(eq=False, slots=True)
class Batch:
    """Products that are computed together: one or two chains, and the panels of each tile instruction."""

    product: Product
    home: Home
    chains: list[list[Op]]
    panels: list[tuple[Panel, Panel]] = field(default_factory=list[tuple[Panel, Panel]])


@dataclass(slots=True)
class TilePlan:
    """What goes through tiles: `last` maps the product at which a batch is computed to it; `direct` the loads that write into panels."""

    products: set[Op] = field(default_factory=set[Op])
    last: dict[Op, Batch] = field(default_factory=dict[Op, Batch])
    homes: dict[int, tuple[Home, int]] = field(default_factory=dict[int, tuple[Home, int]])
    """By the identity of a group: its tile, and its column there."""
    direct: dict[Op, list[tuple[Panel, int]]] = field(default_factory=dict[Op, "list[tuple[Panel, int]]"])
    panels: int = 0


def suits_tiles(p: Product, machine: Machine) -> bool:
    """Tell whether products of a kind can go through tiles."""
    if p.layout != "mma" or p.sparse or p.saturate or (p.m, p.n) != (16, 8) or p.k * WIDTH[p.a] != 8 * _STEP:
        return False
    if p.integer:
        return machine.tiles_int8 and {p.a, p.b} <= _BYTES and p.combine == "mul"
    return machine.tiles_bf16 and (p.a, p.b, p.c, p.d) == ("bf16", "bf16", "f32", "f32")


def sides(op: Op) -> tuple[Values2, Values2]:
    """Return the registers of A and of B of a product."""
    p = MatrixProduct.of(op).product
    a, b = p.distinct("a"), p.distinct("b")
    return tuple(op.args[:a]), tuple(op.args[a : a + b])


def plan_tiles(v: Values, made: Results, groups: Mapping[Op, Group], uses: Mapping[Value, int], worth: int) -> TilePlan:
    """Choose products; `worth`: with how many one fragment of A must be multiplied in a block."""
    plan = TilePlan()
    if v.single or v.machine.chunk * 2 > v.lanes or not (v.machine.tiles_bf16 or v.machine.tiles_int8):
        return plan
    chains = _chains(v, groups, worth)
    blocks: dict[int, list[Block]] = {}
    for block, found in chains.items():
        for group in found:
            blocks.setdefault(group, []).append(block)
    partner = _pairs(made, chains, blocks)
    by_id = {id(group): group for group in groups.values()}
    for block, found in chains.items():
        batches: list[Batch] = []
        for group, chain in found.items():
            if group in partner.values():
                continue
            both = [group, partner[group]] if group in partner else [group]
            if group not in plan.homes:
                home = Home([by_id[g] for g in both])
                plan.homes |= {g: (home, column) for column, g in enumerate(both)}
            batch = Batch(MatrixProduct.of(chain[0]).product, plan.homes[group][0], [chains[block][g] for g in both])
            batches.append(batch)
        _add(plan, block, batches, made, uses)
    if plan.panels > _MOST_PANELS:
        return TilePlan()
    return plan


def _chains(v: Values, groups: Mapping[Op, Group], worth: int) -> dict[Block, dict[int, list[Op]]]:
    """Return of each block the products that add to the sums of a group, by the group's identity; of groups of which all products suit."""
    products = [op for op in groups if op.name == "matrix"]
    bad = {id(groups[op]) for op in products if not suits_tiles(MatrixProduct.of(op).product, v.machine)}
    while True:
        counts: dict[tuple[Block, Values2], int] = {}
        good = [op for op in products if id(groups[op]) not in bad]
        for op in good:
            key = (v.home[op], sides(op)[0])
            counts[key] = counts.get(key, 0) + 1
        rare = {id(groups[op]) for op in good if counts[v.home[op], sides(op)[0]] < worth}
        if not rare:
            break
        bad |= rare
    out: dict[Block, dict[int, list[Op]]] = {}
    for block in v.kernel.blocks:
        for op in block.ops:
            if op.name == "matrix" and id(groups[op]) not in bad:
                out.setdefault(block, {}).setdefault(id(groups[op]), []).append(op)
    return out


def _pairs(
    made: Results, chains: Mapping[Block, Mapping[int, list[Op]]], blocks: Mapping[int, list[Block]]
) -> dict[int, int]:
    """Return which groups lie beside each other: those with the same A in all of their products."""
    waiting: dict[object, int] = {}
    partner: dict[int, int] = {}
    for group, where in blocks.items():
        key = (tuple(map(id, where)), *(tuple(_left(op) for op in chains[block][group]) for block in where))
        first = waiting.pop(key, None)
        if first is None:
            waiting[key] = group
        elif all(_unread(made, block, chains[block][first], chains[block][group]) for block in where):
            partner[first] = group
        else:
            waiting[key] = group
    return partner


def _left(op: Op) -> tuple[Product, Values2]:
    return MatrixProduct.of(op).product, sides(op)[0]


def _unread(made: Results, block: Block, one: list[Op], other: list[Op]) -> bool:
    """Tell whether nothing reads the sums of one chain before the other's are there."""
    first, last = sorted((block.ops.index(one[-1]), block.ops.index(other[-1])))
    results = {value for value, _ in made[block.ops[first]]}
    return not any(
        results.intersection(op.operands()) for op in block.ops[first + 1 : last + 1] if op.name != "element"
    )


def _add(plan: TilePlan, block: Block, batches: list[Batch], made: Results, uses: Mapping[Value, int]) -> None:
    """Find the panels of a block's batches, and which loads can write straight into them."""
    known: dict[object, Panel] = {}
    taken: dict[Value, int] = {}

    def panel(side: str, parts: dict[tuple[int, int], Values2]) -> Panel:
        key = (side, tuple(parts.items()))
        if key not in known:
            known[key] = Panel(side, len(known), parts)
        return known[key]

    place = {op: i for i, op in enumerate(block.ops)}
    for batch in batches:
        plan.products.update(op for chain in batch.chains for op in chain)
        plan.last[max((chain[-1] for chain in batch.chains), key=place.__getitem__)] = batch
        steps = list(zip(*batch.chains, strict=True))
        for first in range(0, len(steps), 2):
            now = steps[first : first + 2]
            left = {(step, 0): sides(ops[0])[0] for step, ops in enumerate(now)}
            right = {(step, column): sides(op)[1] for step, ops in enumerate(now) for column, op in enumerate(ops)}
            batch.panels.append((panel("a", left), panel("b", right)))
        for op in (op for chain in batch.chains for op in chain):
            for value in (x for side in sides(op) for x in side):
                taken[value] = taken.get(value, 0) + 1
    plan.panels = max(plan.panels, len(known))
    _find_direct(plan, block, known.values(), made, {x for x, n in taken.items() if uses[x] == n})


def _find_direct(plan: TilePlan, block: Block, panels: Iterable[Panel], made: Results, only_here: set[Value]) -> None:
    places: dict[Value, set[tuple[Panel, int]]] = {}
    for one in panels:
        for value, offset in one.places():
            places.setdefault(value, set()).add((one, offset))
    for op in block.ops:
        if op.name != "matrix_load":
            continue
        found = [places.get(value, set()) if value in only_here else set[tuple[Panel, int]]() for value, _ in made[op]]
        if all(len(x) == 1 for x in found):
            targets = [next(iter(x)) for x in found]
            if all(a[0].side == b[0].side for a, b in pairwise(targets)):
                plan.direct[op] = targets

"""The pieces of a kernel between barriers: where each begins, what it runs, what must be kept for it.

All warps of a block run one region before any runs the next, so what a warp knows must be saved in between; whatever can be
computed again from parameters and indices is not.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.compiler.attributes import Barrier
from anywarp.compiler.cfg import ControlFlow, control_flow
from anywarp.compiler.ir import Block, Const, Kernel, Op, Phi, Undefined, Value, speculatable
from anywarp.compiler.shapes import Analysis
from anywarp.compiler.uses import definitions


@dataclass(frozen=True, slots=True)
class Region:
    """What a warp runs from `entry` until it waits at a barrier or ends.

    `blocks` in the kernel's order; `live` the values that must be saved for it, made elsewhere (its entry's phis are not among
    them: they are written on the way to the barrier); `recomputed` the pure values that it needs and can compute again, operands
    first.
    """

    entry: Block
    blocks: tuple[Block, ...]
    live: tuple[Value, ...]
    recomputed: tuple[Op, ...]


@dataclass(frozen=True, slots=True)
class Regions:
    """All regions, the kernel's start first. `divergent`: some barrier may be reached by only part of a warp's live lanes."""

    regions: tuple[Region, ...]
    divergent: bool

    def of(self, entry: Block) -> Region:
        """Return the region that begins at `entry`."""
        return next(r for r in self.regions if r.entry is entry)


def splits(block: Block) -> bool:
    """Tell whether warps part at the end of `block`: a barrier of the whole block (an arrival only, too)."""
    end = block.terminator
    return isinstance(end.attrs, Barrier) and not end.attrs.warp


def find_regions(kernel: Kernel, analysis: Analysis) -> Regions:
    """Split `kernel` at its barriers."""
    flow = control_flow(kernel)
    entries = dict.fromkeys([0, *(t for n, b in enumerate(flow.blocks) if splits(b) for t in flow.succ[n])])
    live = live_values(flow)
    order: dict[Value, int] = {value: i for i, (_, value) in enumerate(definitions(kernel))}
    regions = tuple(_region(flow, entry, live[entry] if entry else set(), order) for entry in entries)
    return Regions(regions, bool(analysis.staggered_barriers))


def _region(flow: ControlFlow, entry: int, live: set[Value], order: dict[Value, int]) -> Region:
    inside: set[int] = set()
    work = [entry]
    while work:
        node = work.pop()
        if node not in inside:
            inside.add(node)
            if not splits(flow.blocks[node]):
                work += flow.succ[node]
    saved: set[Value] = set()
    again: set[Op] = set()
    for value in live:
        tree = recomputable(value)
        if tree is None:
            saved.add(value)
        else:
            again |= tree
    return Region(
        flow.blocks[entry],
        tuple(flow.blocks[n] for n in sorted(inside)),
        tuple(sorted(saved, key=lambda v: order[v])),
        tuple(sorted(again, key=lambda v: order[v])),
    )


_TREE_LIMIT = 24
"""Operations that computing a value again may take at most."""

DEAR = frozenset({"div", "rem", "fdiv", "fsqrt", "approximate", "element"})
"""Pure operations not worth repeating to save a store and a load."""


def recomputable(value: Value) -> set[Op] | None:
    """Return the operations that compute `value` from parameters and special registers, or None where that is not possible."""
    out: set[Op] = set()
    work = [value]
    while work:
        one = work.pop()
        if isinstance(one, Const | Undefined) or one in out:
            continue
        if not isinstance(one, Op) or not speculatable(one) or one.name in DEAR or len(out) >= _TREE_LIMIT:
            return None
        out.add(one)
        work += one.args
    return out


def live_values(flow: ControlFlow) -> list[set[Value]]:
    """Return for each block the values live on entry, its own phis not among them."""
    count = len(flow.blocks)
    used: list[set[Value]] = []
    made: list[set[Value]] = []
    leaving: list[set[Value]] = [set() for _ in range(count)]
    for block in flow.blocks:
        own: set[Value] = set(block.phis)
        needs: set[Value] = set()
        for op in block.ops:
            needs.update(v for v in op.operands() if isinstance(v, Op | Phi) and v not in own)
            own.add(op)
        needs.update(v for v in block.terminator.args if isinstance(v, Op | Phi) and v not in own)
        used.append(needs)
        made.append(own)
        for phi in block.phis:
            for source, value in phi.incoming.items():
                if isinstance(value, Op | Phi):
                    leaving[flow.index[source]].add(value)
    live: list[set[Value]] = [set() for _ in range(count)]
    work = list(range(count))
    queued = set(work)
    while work:
        number = work.pop()
        queued.discard(number)
        out = set(leaving[number])
        for target in flow.succ[number]:
            out |= live[target]
        new = used[number] | (out - made[number])
        if new != live[number]:
            live[number] = new
            for p in flow.pred[number]:
                if p not in queued:
                    queued.add(p)
                    work.append(p)
    return live

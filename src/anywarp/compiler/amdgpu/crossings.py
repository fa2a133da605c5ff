"""Lanes that name each other at different `.sync` instructions or trips of a loop, which lanes that move in step cannot serve: they are stopped.

A `.sync` instruction waits for the lanes of its mask that have not ended to execute one of the same kind with the same mask (PTX manual,
`shfl.sync` and the others); not the same place in the code. Lanes in step go on without those that are elsewhere: on another way, or going
round a loop. That is right if those end before they come to such an instruction; if they come to one, both have gone on with values that lack
the other's, and nobody would know.

So each lane keeps the word of the lanes that it has gone on without, and each warp the words of those that did and of those that they lacked,
the latter in shared memory, where lanes find them that never meet the others. Kernels in which lanes take turns wait and need none of this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from anywarp.compiler.analysis import convergence_points, parts_lanes
from anywarp.compiler.attributes import Barrier, Converge, Waiting, Watched
from anywarp.compiler.cfg import ControlFlow, control_flow
from anywarp.compiler.divergence import gathers, influence, is_warp_barrier, waits
from anywarp.compiler.ir import CONVERGE, Const, Kernel, Op, Specialisation, Terminator, Value
from anywarp.compiler.layout import align_up
from anywarp.compiler.shapes import Analysis

RECORD = 8
"""Bytes of shared memory of a warp: which of its lanes have gone on without others, and without which."""
WARP, MOST_THREADS = 32, 1024

_VISITS = 1_000_000
"""Blocks that may be visited in all; beyond it everything is watched."""


def watch_crossings(kernel: Kernel, analysis: Analysis) -> None:
    """Mark the waiting instructions whose lanes others may have left for one elsewhere, and those. May be called again."""
    flow = control_flow(kernel)
    places = {node for node, block in enumerate(flow.blocks) if waits(block)}
    branches = sorted(flow.index[block] for block in analysis.divergent_branches if parts_lanes(block, analysis))
    apart = _run_apart(flow, branches, {node for node in places if flow.blocks[node] in analysis.apart})
    crossed = _Crossings(flow, places, apart).of(branches) if len(places) > 1 else set[int]()
    trips = apart & convergence_points(flow).keys()
    for node in crossed | trips:
        block = flow.blocks[node]
        before = list[Value]()
        ends = [block.terminator] if is_warp_barrier(block) else []
        for one in (*(op for op in block.ops if op.name == CONVERGE), *ends):
            mask = mask_of(one)
            if not any(_same(mask, m) for m in before):
                _watch(one, Watched(node in apart, node not in crossed))
                before.append(mask)  # who comes to the first of a block comes to all of it


def _watch(one: Op | Terminator, how: Watched) -> None:
    attrs = one.attrs
    if isinstance(attrs, Converge):
        one.attrs = replace(attrs, watched=how)
    else:
        one.attrs = replace(Barrier.of(one), watched=how)


def _same(a: Value, b: Value) -> bool:
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and a.bits == b.bits)


def mask_of(one: Op | Terminator) -> Value:
    """Return the member mask of what waits."""
    return (one.args[0] if one.args else None) or Const("i32", -1)


def _run_apart(flow: ControlFlow, branches: list[int], places: set[int]) -> set[int]:
    """Return which of `places` run with a part of a warp's lanes, where nobody runs ahead of those that wait."""
    out: set[int] = set()
    visits = 0
    for branch in branches:
        found = influence(flow, branch).blocks
        out |= places & found
        visits += len(found)
        if visits > _VISITS or len(out) == len(places):
            return places
    return out


@dataclass(slots=True)
class _Crossings:
    flow: ControlFlow
    places: set[int]
    apart: set[int]
    visits: int = 0

    def of(self, branches: list[int]) -> set[int]:
        """Return the places to watch: those that lanes parting at a branch come to while the others may come to another one."""
        out: set[int] = set()
        for branch in branches:
            near = self._reached(branch, -1) & self.places
            for node in sorted(near & self.apart) if len(near) > 1 else ():
                others = self._reached(branch, node) & self.places
                if others:
                    out |= {node, *others}
                if self.visits > _VISITS:
                    return self.places
        return out

    def _reached(self, branch: int, without: int) -> set[int]:
        """Return the blocks that lanes may come to from a branch before all threads gather, not through `without`."""
        seen: set[int] = set()
        work = [target for target in self.flow.succ[branch] if target != without]
        while work:
            node = work.pop()
            if node not in seen:
                seen.add(node)
                if not gathers(self.flow.blocks[node]):
                    work += [target for target in self.flow.succ[node] if target != without]
        self.visits += len(seen)
        return seen


def record_bytes(kernel: Kernel, specialisation: Specialisation, used: int) -> tuple[int, int]:
    """Return where the records of the warps begin in shared memory, of which `used` bytes are taken, and how many bytes they add to it."""
    some = any(
        isinstance(one.attrs, Waiting) and one.attrs.watched is not None and one.attrs.watched.apart
        for block in kernel.blocks
        for one in (*block.ops, block.terminator)
    )
    if not some:
        return used, 0
    shape = specialisation.block
    threads = shape[0] * shape[1] * shape[2] if shape else MOST_THREADS
    start = align_up(used, RECORD)
    return start, align_up(start + RECORD * -(-threads // WARP), kernel.dynamic_shared_align) - used

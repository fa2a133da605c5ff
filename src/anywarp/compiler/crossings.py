"""Find `.sync` instructions to which lanes of a warp come on different ways, though each waits for the others.

Such an instruction waits for the lanes of its mask to execute one with the same qualifiers and the same mask (PTX manual, `shfl.sync` and the
others); not the same place in the code. nvcc duplicates them into both arms of an `if`; ptxas has one subroutine for all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from anywarp.compiler.analysis import analyse, parts_lanes
from anywarp.compiler.attributes import Converge
from anywarp.compiler.cfg import ControlFlow, control_flow, postdominators
from anywarp.compiler.divergence import gathers
from anywarp.compiler.ir import CONVERGE, Const, Kernel, Op, Specialisation
from anywarp.diagnostics import Span

_WARP = 32

_VISITS = 1_000_000
"""Blocks that may be visited in all; what would be found beyond them waits in vain, and says so when it does."""

_What: TypeAlias = "tuple[str, object]"
"""Instructions that meet: form and mask."""

Crossing: TypeAlias = frozenset[Span]
"""Where the instructions stand in the PTX of which lanes may come to one each."""


def find_crossings(kernel: Kernel, specialisation: Specialisation) -> list[Crossing]:
    """Return groups of instructions that lanes parting at one branch come to before their ways meet.

    `kernel` has gone through the passes. It is analysed only if the graph alone does not tell that there are none.
    """
    sites = [[_what(op) for op in block.ops if op.name == CONVERGE] for block in kernel.blocks]
    everything = [what for block in sites for what, _ in block]
    if len(everything) == len(set(everything)):
        return []
    ends = [block.terminator for block in kernel.blocks]
    branches = [n for n, end in enumerate(ends) if len(set(end.targets)) > 1 and not isinstance(end.args[0], Const)]
    search = _Search(control_flow(kernel), sites)
    possible = [branch for branch in branches if search.at(branch)]
    if not possible:
        return []
    found = analyse(kernel, replace(specialisation, lanes=_WARP))
    parting = {n for n in possible if (b := kernel.blocks[n]) in found.divergent_branches and parts_lanes(b, found)}
    return [one for branch in possible if branch in parting for one in search.at(branch)]


def _what(op: Op) -> tuple[_What, Span]:
    mask = op.args[0]
    assert op.span is not None
    return (Converge.of(op).form, mask.bits if isinstance(mask, Const) else mask), op.span


class _Search:
    def __init__(self, flow: ControlFlow, sites: list[list[tuple[_What, Span]]]) -> None:
        self.flow = flow
        self.sites = sites
        self.meeting = postdominators(flow.succ)
        self.visits = 0
        self.known: dict[int, list[Crossing]] = {}

    def at(self, branch: int) -> list[Crossing]:
        """Return what lanes that part at the end of block `branch` may come to on different ways, for each kind."""
        if branch not in self.known:
            self.known[branch] = self._crossings(branch) if self.visits < _VISITS else []
        return self.known[branch]

    def _crossings(self, branch: int) -> list[Crossing]:
        ways = [self._way(target, branch) for target in self.flow.succ[branch]]
        if sum(any(self.sites[node] for node in way) for way in ways) < 2:
            return []
        places: dict[_What, list[tuple[int, Span]]] = {}
        for node in sorted(set[int]().union(*ways)):
            for what, span in self.sites[node]:
                places.setdefault(what, []).append((node, span))
        out: list[Crossing] = []
        for those in places.values():
            # On one way and not on the other, while there is one on the other: that may lie on both.
            crossed = {
                span
                for one in ways
                for other in ways
                if any(node in one and node not in other for node, _ in those)
                and any(node in other for node, _ in those)
                for node, span in those
                if node in one or node in other
            }
            if crossed:
                out.append(frozenset(crossed))
        return out

    def _way(self, start: int, branch: int) -> set[int]:
        """Return the blocks that lanes may come to from a target of a branch before all meet, threads gather, or the branch comes again."""
        seen: set[int] = set()
        work = [start]
        while work:
            node = work.pop()
            if node in seen or node in (branch, self.meeting[branch]):
                continue
            seen.add(node)
            if not gathers(self.flow.blocks[node]):
                work += self.flow.succ[node]
        self.visits += len(seen)
        return seen

"""What a branch on which lanes disagree does to control flow: who runs with fewer lanes, and where the lanes meet again.

Blocks are run in the kernel's linear order under masks; two groups of lanes meet at the first block that both must pass.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from anywarp.compiler.attributes import Barrier
from anywarp.compiler.cfg import ControlFlow, Loop
from anywarp.compiler.ir import CONVERGE, Block


@dataclass(slots=True)
class Influence:
    """The effect of one divergent branch.

    `blocks` may run with fewer lanes than the branch; `joins` are blocks that lanes reach on different ways, so that their phis
    differ between lanes; `loops` are left by lanes at different trips. `staggered` are barriers at which groups of lanes of one
    warp may wait at different times. `ahead` is where lanes may be, and go on, while others of their warp wait for members; at
    `beyond`, other barriers of the warp, they may meet those.
    """

    blocks: set[int] = field(default_factory=set[int])
    joins: set[int] = field(default_factory=set[int])
    loops: list[Loop] = field(default_factory=list[Loop])
    staggered: set[int] = field(default_factory=set[int])
    ahead: set[int] = field(default_factory=set[int])
    beyond: set[int] = field(default_factory=set[int])


def influence(flow: ControlFlow, branch: int) -> Influence:
    """Follow the lanes that part at the end of block `branch` until they are together again.

    Blocks are visited in linear order with a label for each way taken: a block reached under two labels is a join (of the kind
    that LLVM's divergence analysis calls sync dependence). A loop that some lanes leave while others go round is divergent: all
    its exits then release lanes at their own times. Lanes that end never return, but the others may still be together.
    """
    return _Sweep(flow, branch).run()


def worst(flow: ControlFlow) -> Influence:
    """Return an influence that covers that of any branch."""
    nodes = set(range(len(flow.blocks)))
    joins = {node for node in nodes if len(flow.pred[node]) > 1}
    barriers = {node for node in nodes if is_warp_barrier(flow.blocks[node])}
    staggered = {node for node in nodes if splits(flow, node)}
    return Influence(nodes, joins, list(flow.loops), staggered, nodes, barriers if len(barriers) > 1 else set())


class _Sweep:
    def __init__(self, flow: ControlFlow, branch: int) -> None:
        self.flow = flow
        self.branch = branch
        self.out = Influence()
        self.labels: dict[int, object] = {}
        self.pending: list[int] = []
        self.rounds: dict[Loop, set[object]] = {}
        self.enclosing = {loop.header: loop for loop in flow.nest.around(branch)}
        self.ended = False

    def run(self) -> Influence:
        for target in self.flow.succ[self.branch]:
            self._arrive(self.branch, target, target)
        while True:
            inner = self._innermost_round()
            if self.pending and (inner is None or self.pending[0] in inner.blocks):
                if self._met():
                    return self.out
                self._visit(heapq.heappop(self.pending))
            elif inner is None:
                return self.out
            elif not self.pending and len(self.rounds) == 1:
                self._all_go_round(inner)
                return self.out
            else:
                self._leave_apart(inner)

    def _innermost_round(self) -> Loop | None:
        return max(self.rounds, key=lambda loop: loop.depth) if self.rounds else None

    def _met(self) -> bool:
        """All lanes are at one block: done; where some have ended, the rest run on together under a thinner mask."""
        if len(self.pending) > 1 or self.rounds:
            return False
        if self.ended:
            self.out.blocks.update(reachable(self.flow, self.pending[:1]))
        return True

    def _arrive(self, source: int, target: int, label: object) -> None:
        loop = self.enclosing.get(target)
        if loop is not None and source in loop.blocks:
            self.rounds.setdefault(loop, set()).add(label)
        elif target <= source:
            return  # the back edge of a loop that lies wholly behind the branch
        elif target not in self.labels:
            self.labels[target] = label
            heapq.heappush(self.pending, target)
        elif self.labels[target] != label:
            self.labels[target] = ("join", target)
            self.out.joins.add(target)

    def _visit(self, node: int) -> None:
        self.out.blocks.add(node)
        self._barrier(node, self.pending)
        self._wait(node, self.pending)
        targets = self.flow.succ[node]
        if not targets:
            self.ended = True
        for target in targets:
            self._arrive(node, target, self.labels[node])

    def _barrier(self, node: int, others: Iterable[int]) -> None:
        """Lanes that wait here let the others run ahead to their end; it is staggered if those may come to a barrier, too."""
        others = list(others)
        if not splits(self.flow, node) or not (others or self.rounds):
            return
        self.ended = True
        if self.rounds or any(self._reaches_barrier(other) for other in others):
            self.out.staggered.add(node)

    def _wait(self, node: int, others: Iterable[int]) -> None:
        """Lanes that wait here for members let the others run ahead, to their end if need be."""
        ahead = {*others, *(loop.header for loop in self.rounds)}
        if ahead and waits(self.flow.blocks[node]):
            self.out.ahead |= {node, *ahead}
            if is_warp_barrier(self.flow.blocks[node]):
                self.out.beyond |= self._barriers_beyond(node, ahead)

    def _barriers_beyond(self, node: int, ahead: set[int]) -> set[int]:
        """Return the other barriers of the warp that lanes may come to from `ahead`, but for those that come by `node` first."""
        dominance, nest = self.flow.dominance, self.flow.nest
        first = {
            loop.header for loop in nest.around(node) if all(dominance.dominates(node, latch) for latch in loop.latches)
        }
        seen, work = {node}, list(ahead - first)
        while work:
            one = work.pop()
            if one not in seen:
                seen.add(one)
                work += self.flow.succ[one]
        return {one for one in seen if one != node and is_warp_barrier(self.flow.blocks[one])}

    def _reaches_barrier(self, start: int) -> bool:
        return any(splits(self.flow, node) for node in reachable(self.flow, [start]))

    def _all_go_round(self, loop: Loop) -> None:
        """All lanes that are left start the next trip together."""
        if len(self.rounds[loop]) > 1:
            self.out.joins.add(loop.header)
        if self.ended:
            self.out.blocks.update(reachable(self.flow, [loop.header]))

    def _leave_apart(self, loop: Loop) -> None:
        """Some lanes leave the loop, others go round: start again with everything that leaves it, at any trip."""
        self.out.loops.append(loop)
        leaving = {target for _, target in loop.exits}
        if len(self.rounds[loop]) > 1:
            self.out.joins.add(loop.header)
        self.out.blocks |= loop.blocks
        for node in self.pending:
            self.labels.pop(node, None)
            self.out.joins.discard(node)
        self.pending = []
        self.rounds = {}
        for node in loop.blocks:
            self._barrier(node, leaving)
            self._wait(node, {loop.header, *leaving})
        del self.enclosing[loop.header]
        for source, target in loop.exits:
            self._arrive(source, target, ("exit", source, target))


def splits(flow: ControlFlow, node: int) -> bool:
    """Tell whether a block ends in a barrier of the whole block of threads."""
    end = flow.blocks[node].terminator
    return isinstance(end.attrs, Barrier) and not end.attrs.warp


def waits(block: Block) -> bool:
    """Tell whether lanes wait in a block for others of their warp that an instruction names."""
    return any(op.name == CONVERGE for op in block.ops) or is_warp_barrier(block)


def is_warp_barrier(block: Block) -> bool:
    """Tell whether a block ends in a barrier of lanes that it names."""
    end = block.terminator
    return isinstance(end.attrs, Barrier) and end.attrs.warp


def gathers(block: Block) -> bool:
    """Tell whether a block ends in a barrier that all threads of the block of threads wait at: nobody goes on while others are elsewhere."""
    end = block.terminator
    waiting = isinstance(end.attrs, Barrier) and not end.attrs.warp and end.attrs.kind not in ("yield", "arrive")
    return waiting and (len(end.args) < 2 or end.args[1] is None)


def reachable(
    flow: ControlFlow, starts: Iterable[int], *, up_to_barriers: bool = False, known: Set[int] = frozenset()
) -> set[int]:
    """Return the blocks that can be reached from any of `starts`, these included (and not through a barrier that gathers all threads).

    Left out are those in `known`, a set that already holds all that is reached from it.
    """
    seen: set[int] = set()
    work = list(starts)
    while work:
        node = work.pop()
        if node not in seen and node not in known:
            seen.add(node)
            if not (up_to_barriers and gathers(flow.blocks[node])):
                work += flow.succ[node]
    return seen

"""How many 32-lane warps of a kernel share a wave of 64 lanes: two where nothing speaks against it, else one with half a wave idle.

The lanes of a wave run in step. Two warps of CUDA may wait for each other, or stand at different barriers; put into one wave, the one that
waits keeps the other from going on. Lanes of one warp that wait for each other in a loop take turns (`turns`), and so do those of two warps
where a block has too many threads for one warp per wave.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import prod

from anywarp.compiler import codes
from anywarp.compiler.amdgpu.barrier_plan import is_block_barrier, plan_barriers
from anywarp.compiler.analysis import analyse
from anywarp.compiler.attributes import Barrier, Compare
from anywarp.compiler.cfg import Loop, control_flow, postdominators
from anywarp.compiler.divergence import is_warp_barrier
from anywarp.compiler.gangs import WARP, Gang
from anywarp.compiler.ir import Block, Const, Kernel, Op, Specialisation
from anywarp.compiler.shapes import Analysis
from anywarp.ptx.isa.ops import BITS

WAVE = 64
MOST_THREADS = 1024
"""Threads of a workgroup: with one warp per wave, a block of half as many."""

LAUNCH_OUT_OF_RESOURCES = 701
"""CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: the launch has too many threads for what the kernel needs."""

APART = "lanes of one warp may wait at different barriers, which AMD GPUs cannot tell apart: they run the lanes of a warp in step"
"""A note about what no mode serves."""
TURNS = "lanes take turns, each up to where it waits: "
"""How a note about them begins."""
_STEPS_IN = frozenset({"store", "atomic", "host_call", "texture"})
"""Operations that others may wait for."""


def choose_warps(kernel: Kernel, specialisation: Specialisation, wave: int) -> Gang:
    """Return how many lanes of a block form a wave, 32 or 64, and why. `specialisation.lanes` is what was asked for; 0: choose."""
    if wave == WARP:
        return Gang(WARP, "a wave has 32 lanes")
    why = needs_one(kernel, specialisation)
    if specialisation.lanes == WARP:
        return Gang(WARP, "one warp per wave was asked for")
    if specialisation.lanes:
        return Gang(WAVE, "two warps per wave were asked for" + (f", although {why}" if why else ""))
    if why is None:
        return Gang(WAVE, "two warps share a wave")
    room = MOST_THREADS // 2
    if specialisation.block is None and _most_stated(kernel) > room and not _adds_apart(kernel, specialisation):
        return Gang(WAVE, f"{why}, but a block of any shape may have more than {room} threads: lanes take turns")
    if specialisation.block is not None and _threads(specialisation) > room:
        return Gang(
            WAVE, f"{why}, but a block of more than {room} threads has no room for one warp per wave: lanes take turns"
        )
    return Gang(WARP, f"one warp per wave: {why}")


def needs_one(kernel: Kernel, specialisation: Specialisation) -> str | None:
    """Return why two warps of `kernel` must not share a wave, or None."""
    if _threads(specialisation) <= WARP:
        return None
    if any(_yields(block) for block in kernel.blocks):
        return "a loop may wait for what another warp does"
    barriers = [block for block in kernel.blocks if is_block_barrier(block.terminator)]
    if not barriers:
        return None
    found = _analysed(kernel, specialisation, WAVE)
    if any(block in found.staggered_barriers for block in barriers):
        return "the warps of a pair may wait at different barriers"
    return _uncountable(kernel, specialisation, found, barriers)


def refuse_turns(kernel: Kernel, specialisation: Specialisation) -> None:
    """Raise AnywarpError where two warps of a wave must take turns and cannot: they add up at a barrier at different times."""
    if specialisation.lanes == WAVE and _adds_apart(kernel, specialisation):
        raise codes.problem(
            codes.UNSUPPORTED,
            f"kernel {kernel.name!r} reduces (`barrier.red`) at a barrier to which the warps of a wave may come at different times; with two "
            f"warps in a wave of {WAVE} lanes that cannot be done",
            help=f"launch it with blocks of at most {MOST_THREADS // 2} threads: then each warp has a wave of its own",
            cuda=LAUNCH_OUT_OF_RESOURCES,
        )


def _adds_apart(kernel: Kernel, specialisation: Specialisation) -> bool:
    """Tell whether the warps of a pair may be at different reductions of the block, or at one that counts threads."""
    adding = [b for b in kernel.blocks if is_block_barrier(b.terminator) and "red" in Barrier.of(b.terminator).kind]
    if not adding:
        return False
    plan, found = plan_barriers(kernel, specialisation), _analysed(kernel, specialisation, WAVE)
    numbers = [block.terminator.args[0] for block in adding]
    counted = any(n.bits in plan.counted if isinstance(n, Const) else bool(plan.counted) for n in numbers)
    return counted or any(block in found.staggered_barriers for block in adding)


def _most_stated(kernel: Kernel) -> int:
    """Return how many threads a block may have as the kernel states it."""
    given = [int(n) for n in kernel.directives.get("reqntid") or kernel.directives.get("maxntid") or ()]
    return min(prod(given), MOST_THREADS) if given and min(given) > 0 else MOST_THREADS


def needs_turns(kernel: Kernel, specialisation: Specialisation, wave: int) -> str | None:
    """Return why the lanes of a wave must take turns (`turns`), or None. `specialisation.lanes` is what `choose_warps` chose."""
    if wave == WAVE == specialisation.lanes and (why := needs_one(kernel, specialisation)):
        return why
    if _barriers_beside(kernel, specialisation):
        return "lanes of one branch may wait for those of another at a barrier of the warp"
    waiting = {block.terminator.targets[0] for block in kernel.blocks if _yields(block)}
    if not waiting:
        return None
    return _Waiting(kernel, _analysed(kernel, specialisation, WARP)).why(waiting)


def _barriers_beside(kernel: Kernel, specialisation: Specialisation) -> bool:
    """Tell whether lanes that part may come to different barriers of the warp before they are together again: these are one barrier."""
    if sum(is_warp_barrier(block) for block in kernel.blocks) < 2:
        return False
    waiting = _Waiting(kernel, _analysed(kernel, specialisation, WARP))
    return any(waiting.parted_at(block) for block in waiting.found.divergent_branches)


def remarks(kernel: Kernel, specialisation: Specialisation) -> tuple[str, ...]:
    """Return notes about what waits within a warp, which no number of warps per wave serves."""
    barriers = [block for block in kernel.blocks if is_block_barrier(block.terminator)]
    if not barriers:
        return ()
    found = _analysed(kernel, specialisation, WARP)
    return (APART,) if any(block in found.staggered_barriers for block in barriers) else ()


class _Waiting:
    """Looks for lanes of a warp that may wait in a loop for what other lanes of it have yet to do."""

    def __init__(self, kernel: Kernel, found: Analysis) -> None:
        self.found = found
        self.flow = flow = control_flow(kernel)
        self.after = postdominators(flow.succ)
        self.steps = {n for n, b in enumerate(flow.blocks) if any(op.name in _STEPS_IN for op in b.ops)}

    def why(self, headers: set[Block]) -> str | None:
        for header in headers:
            node = self.flow.index[header]
            loop = next(one for one in self.flow.loops if one.header == node)
            if self._beside(node):
                return "lanes of one branch may wait in a loop for those of another"
            if self._left_apart(loop) and not self._alone(node) and self._reached(loop.blocks) & self.steps:
                return "lanes of one warp may wait for each other in a loop"
        return None

    def _left_apart(self, loop: Loop) -> bool:
        blocks = self.flow.blocks
        return blocks[loop.header] in self.found.divergent_loops or any(
            blocks[source] in self.found.divergent_branches for source, _ in loop.exits
        )

    def _reached(self, starts: Iterable[int], end: int = -1) -> set[int]:
        """Return the blocks that lanes come to before all are together: at a barrier of the block, or at `end`."""
        seen: set[int] = set()
        work = [node for node in starts if node != end]
        while work:
            node = work.pop()
            if node not in seen:
                seen.add(node)
                if not is_block_barrier(self.flow.blocks[node].terminator):
                    work += [target for target in self.flow.succ[node] if target != end]
        return seen

    def _beside(self, node: int) -> bool:
        """Tell whether lanes that part from those which come to `node` do something before they meet again."""
        for block in self.found.divergent_branches:
            branch = self.flow.index[block]
            ways = [self._reached([target], self.after[branch]) for target in self.flow.succ[branch]]
            if any(node in way for way in ways) and any(way & self.steps for way in ways if node not in way):
                return True
        return False

    def parted_at(self, block: Block) -> bool:
        """Tell whether several ways from a branch to where all meet again hold barriers of the warp."""
        branch = self.flow.index[block]
        ways = [self._reached([target], self.after[branch]) for target in dict.fromkeys(self.flow.succ[branch])]
        barriers = [{node for node in way if is_warp_barrier(self.flow.blocks[node])} for way in ways]
        return any(a and b and a != b for a in barriers for b in barriers)

    def _alone(self, node: int) -> bool:
        """Tell whether at most one lane of a warp comes to `node`."""
        while (above := self.flow.dominance.idom[node]) != node:
            if self.flow.pred[node] == [above] and self._chooses_one(self.flow.blocks[above], self.flow.blocks[node]):
                return True
            node = above
        return False

    def _chooses_one(self, block: Block, target: Block) -> bool:
        end = block.terminator
        if end.name != "branch" or end.targets[0] is end.targets[1]:
            return False
        condition, predicate = end.args[0], "eq" if end.targets[0] is target else "ne"
        if not isinstance(condition, Op) or condition.name != "icmp" or Compare.of(condition).predicate != predicate:
            return False
        steps = [0] * WARP
        for sign, value in zip((1, -1), condition.args, strict=True):
            shape = self.found.shapes.get(value) if not isinstance(value, Const) else None
            if isinstance(value, Const):
                continue
            if shape is None or shape.offsets is None or shape.symbols:
                return False
            steps = [a + sign * b for a, b in zip(steps, shape.offsets, strict=True)]
        return len({step & (1 << BITS[condition.args[0].type]) - 1 for step in steps}) == WARP


def _uncountable(kernel: Kernel, specialisation: Specialisation, found: Analysis, barriers: list[Block]) -> str | None:
    """Return why a barrier whose threads are counted needs warps of their own waves, or None.

    Counted are warps. The pair of a wave arrives together and waits together where its lanes are together, and the count holds
    whole waves.
    """
    plan = plan_barriers(kernel, specialisation)
    for block in barriers:
        number, count = block.terminator.args[0], block.terminator.args[1]
        if isinstance(number, Const) and number.bits not in plan.counted:
            continue
        if not isinstance(number, Const) and not plan.counted:
            continue
        if block in found.divergent_blocks:
            return "some threads of a wave may come to a barrier that counts threads"
        if count is not None and (not isinstance(count, Const) or count.bits % WAVE):
            return "a barrier counts threads, and not by whole waves"
    return None


def _analysed(kernel: Kernel, specialisation: Specialisation, lanes: int) -> Analysis:
    return analyse(kernel, replace(specialisation, lanes=lanes))


def _yields(block: Block) -> bool:
    end = block.terminator
    return isinstance(end.attrs, Barrier) and end.attrs.kind == "yield"


def _threads(specialisation: Specialisation) -> int:
    """Return the threads of a block; 1 more than a warp has where the shape is not known."""
    shape = specialisation.block
    return WARP + 1 if shape is None else shape[0] * shape[1] * shape[2]

"""How many 32-lane warps of a kernel share a wave of 64 lanes: two where nothing speaks against it, else one with half a wave idle.

The lanes of a wave run in step. Two warps of CUDA may wait for each other, or stand at different barriers; put into one wave, the one that
waits keeps the other from going on. What even one warp per wave cannot serve, lanes of one warp that wait for each other, is noted.
"""

from __future__ import annotations

from dataclasses import replace

from anywarp.compiler.amdgpu.barrier_plan import is_block_barrier, plan_barriers
from anywarp.compiler.analysis import analyse
from anywarp.compiler.gangs import WARP, Gang
from anywarp.compiler.ir import Block, Const, Kernel, Specialisation
from anywarp.compiler.shapes import Analysis

WAVE = 64
MOST_THREADS = 1024
"""Threads of a workgroup: with one warp per wave, a block of half as many."""

INTERLOCKED = (
    "lanes of one warp may wait for each other, as they do where each takes the same lock: AMD GPUs run the lanes of a warp in step, so such a "
    "loop may never end"
)
APART = "lanes of one warp may wait at different barriers, which AMD GPUs cannot tell apart: they run the lanes of a warp in step"
"""Notes about what no mode serves."""


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
    if _threads(specialisation) > MOST_THREADS // 2:
        return Gang(
            WAVE, f"{why}, but a block of more than {MOST_THREADS // 2} threads has no room for one warp per wave"
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


def remarks(kernel: Kernel, specialisation: Specialisation) -> tuple[str, ...]:
    """Return notes about what waits within a warp, which no number of warps per wave serves."""
    waiting = [block for block in kernel.blocks if _yields(block)]
    barriers = [block for block in kernel.blocks if is_block_barrier(block.terminator)]
    if not waiting and not barriers:
        return ()
    found = _analysed(kernel, specialisation, WARP)
    out: list[str] = []
    headers = {target for block in waiting for target in block.terminator.targets}
    if headers & found.divergent_loops:
        out.append(INTERLOCKED)
    if any(block in found.staggered_barriers for block in barriers):
        out.append(APART)
    return tuple(out)


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
    return block.terminator.name == "barrier" and block.terminator.attrs.get("kind") == "yield"


def _threads(specialisation: Specialisation) -> int:
    """Return the threads of a block; 1 more than a warp has where the shape is not known."""
    shape = specialisation.block
    return WARP + 1 if shape is None else shape[0] * shape[1] * shape[2]

"""Which barriers of a kernel the hardware's serves, and the counters in shared memory of those that it does not.

`s_barrier` waits for every wave of the block. It is right for a barrier at which all threads arrive and wait; one with fewer threads, or
with threads that arrive without waiting, is counted in shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.compiler.attributes import Barrier
from anywarp.compiler.ir import Const, Kernel, Specialisation, Terminator
from anywarp.compiler.layout import align_up

COUNT = 16
"""Barriers of a block."""
SLOT = 16
"""Bytes of a barrier's counters: threads that arrived, completed phases, and what two phases' reductions add up."""


@dataclass(frozen=True, slots=True)
class BarrierPlan:
    """What is decided: `slots` are the places of the barriers that have counters, by number.

    `counted` are those at which the hardware's barrier is of no use. `start` is where the counters begin in shared memory, `bytes` what
    they take with what keeps dynamic shared memory aligned.
    """

    slots: dict[int, int]
    counted: frozenset[int]
    start: int
    bytes: int


def plan_barriers(kernel: Kernel, specialisation: Specialisation) -> BarrierPlan:
    """Decide for every barrier of a kernel."""
    found = [b.terminator for b in kernel.blocks if is_block_barrier(b.terminator)]
    numbers = [end.args[0].bits if isinstance(end.args[0], Const) else None for end in found]
    arrivals = [op.args[0] for b in kernel.blocks for op in b.ops if op.name == "barrier_arrive"]
    any_number = None in numbers
    counted = {n.bits if isinstance(n, Const) else None for n in arrivals}
    counted |= {n for n, end in zip(numbers, found, strict=True) if not waits_for_all(end, specialisation)}
    reducing = {n for n, end in zip(numbers, found, strict=True) if Barrier.of(end).kind.startswith("red")}
    every = frozenset(range(COUNT))
    if None in counted or (any_number and counted):
        counted = set(every)
    used = counted | reducing
    if None in used:
        used = set(every)
    slots = {n: i for i, n in enumerate(sorted(n for n in used if n is not None))}
    start = align_up(kernel.shared_bytes, SLOT)
    return BarrierPlan(
        slots,
        frozenset(n for n in counted if n is not None),
        start,
        align_up(start + SLOT * len(slots), kernel.dynamic_shared_align) - start if slots else 0,
    )


def is_block_barrier(end: Terminator) -> bool:
    """Tell whether threads of the whole block meet at a terminator."""
    return isinstance(end.attrs, Barrier) and end.attrs.kind != "yield" and not end.attrs.warp


def waits_for_all(end: Terminator, specialisation: Specialisation) -> bool:
    """Tell whether all threads of the block arrive at a barrier, and wait."""
    if Barrier.of(end).kind == "arrive":
        return False
    count, shape = end.args[1], specialisation.block
    if count is None:
        return True
    if not isinstance(count, Const) or shape is None:
        return False
    return count.bits >= align_up(shape[0] * shape[1] * shape[2], 32)

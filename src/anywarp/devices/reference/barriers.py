"""The barriers of a block (section 9.7.13 of the manual): who has arrived, who waits, when all go on.

Threads count one by one, as the manual has it for `barrier` since sm_70; threads that have ended are not waited for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anywarp.devices.reference.machine import Machine
from anywarp.devices.reference.program import Step
from anywarp.devices.reference.values import LANES, Plain, plain
from anywarp.devices.reference.warp import Warp
from anywarp.ptx.isa.barriers import BarrierKind, barrier_of
from anywarp.ptx.isa.operands import read, write

COUNT = 16
"""Barriers of a block."""

Thread = tuple[int, int]  # warp, lane


@dataclass(slots=True)
class Barrier:
    """One phase of one barrier: the predicate each thread arrived with, the step at which each waiting one stands."""

    expected: int | None = None
    arrived: dict[Thread, int] = field(default_factory=dict["Thread", int])
    waiting: dict[Thread, Step] = field(default_factory=dict["Thread", Step])


class Barriers:
    """The barriers of one block."""

    def __init__(self, machine: Machine, warps: list[Warp]) -> None:
        self.machine, self.warps = machine, warps
        self.barriers = [Barrier() for _ in range(COUNT)]

    def arrive(self, step: Step) -> None:
        """Let the running lanes arrive at the barrier instruction at hand; they wait unless it is `.arrive`."""
        machine, form = self.machine, barrier_of(step.instruction)
        numbers: Plain = read(machine, form.barrier, "i32")
        counts: Plain | None = read(machine, form.count, "i32") if form.count is not None else None
        predicates: Plain = machine.const("i1", 0) if form.predicate is None else read(machine, form.predicate, "i1")
        for n in machine.running():
            if numbers.lanes[n] >= COUNT:
                machine.fail("D010", f"there is no barrier {numbers.lanes[n]}", n)
            barrier, thread = self.barriers[numbers.lanes[n]], (machine.warp.index, n)
            expected = counts.lanes[n] if counts is not None else None
            if barrier.arrived and barrier.expected != expected:
                machine.fail("D014", f"barrier {numbers.lanes[n]} is used with different thread counts at once", n)
            if thread in barrier.arrived:
                machine.fail("D014", f"a thread arrives twice at barrier {numbers.lanes[n]} before it completes", n)
            barrier.expected = expected
            barrier.arrived[thread] = predicates.lanes[n]
            if form.kind == "arrive":
                machine.lane(n).at += 1
            else:
                barrier.waiting[thread] = step
                machine.lane(n).status = "waits_at_barrier"

    def release(self) -> bool:
        """Let the threads go on whose barrier is complete; tells whether there were any."""
        complete = [b for b in self.barriers if b.arrived and self._complete(b)]
        for barrier in complete:
            self.barriers[self.barriers.index(barrier)] = Barrier()
            self._go_on(barrier)
        return bool(complete)

    def _complete(self, barrier: Barrier) -> bool:
        if barrier.expected is None:
            living = {(w.index, n) for w in self.warps for n in range(LANES) if w.living() >> n & 1}
            return living <= barrier.arrived.keys()
        return sum(self._count(barrier, warp) for warp in self.warps) >= barrier.expected

    @staticmethod
    def _count(barrier: Barrier, warp: Warp) -> int:
        """A warp counts as 32 threads when all that live in it are there: counts are multiples of the warp size."""
        here = {n for w, n in barrier.arrived if w == warp.index}
        living = {n for n in range(LANES) if warp.living() >> n & 1}
        return LANES if here and living <= here else len(here)

    def _go_on(self, barrier: Barrier) -> None:
        predicates = list(barrier.arrived.values())
        for (w, n), step in barrier.waiting.items():
            self.machine.begin(self.warps[w], [n], step)
            form = barrier_of(step.instruction)
            if form.destination is not None:
                write(self.machine, form.destination, _reduced(form.kind, predicates))
            lane = self.machine.lane(n)
            lane.status = "runs"
            lane.at += 1


def _reduced(kind: BarrierKind, predicates: list[int]) -> Plain:
    if kind == "red_popc":
        return plain("i32", [sum(predicates)] * LANES)
    return plain("i1", [int(all(predicates) if kind == "red_and" else any(predicates))] * LANES)

"""Run the threads of a block: lanes at the same place go together, others wait for their turn.

Each lane has its own place in the program, so any program that NVIDIA's independent thread scheduling runs is run here; of the
lanes of a warp those deepest in calls and at the smallest step go first, which brings them together again after a branch.
"""

from __future__ import annotations

from dataclasses import replace

from anywarp.devices.reference import calls
from anywarp.devices.reference.barriers import Barriers
from anywarp.devices.reference.exchange import exchange
from anywarp.devices.reference.machine import Machine
from anywarp.devices.reference.program import Step
from anywarp.devices.reference.values import LANES, Plain
from anywarp.devices.reference.warp import Warp
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.isa.barriers import is_barrier
from anywarp.ptx.isa.operands import read
from anywarp.ptx.isa.registry import expand
from anywarp.ptx.tree import Instruction, Name

TURN = 512
"""Steps of a warp before another group of its lanes, or another warp, gets a turn."""
OTHERS_TURN = 64

_WAITS = {"shfl", "vote", "match", "redux", "elect"}
"""With `.sync` these wait for the lanes that their last operand names."""


class Scheduler:
    """Runs one block; `steps_left` is what remains of the limit for the whole launch."""

    def __init__(self, machine: Machine, warps: list[Warp], steps_left: int) -> None:
        self.machine, self.warps, self.steps_left = machine, warps, steps_left
        self.barriers = Barriers(machine, warps)

    def run(self) -> None:
        """Run all threads to their end; AnywarpError D014 when they wait for each other in vain."""
        while any(warp.living() for warp in self.warps):
            moved = False
            for warp in self.warps:
                moved = self._turn(warp) or moved
            moved = self.barriers.release() or moved
            if not moved:
                self._deadlock()

    def _turn(self, warp: Warp) -> bool:
        """Run a warp until none of its lanes can go on, or for a while; tells whether it ran at all."""
        for count in range(2 * TURN):
            group = warp.next_group(last=count % TURN >= TURN - OTHERS_TURN)
            if not group:
                return count > 0
            self._run_step(warp, group)
        return True

    def _run_step(self, warp: Warp, group: list[int]) -> None:
        lane = warp.lanes[group[0]]
        assert lane is not None
        step = self.machine.program.steps[lane.at]
        self.machine.begin(warp, group, step)
        self.steps_left -= 1
        if self.steps_left < 0:
            self.machine.fail("D015", "the launch takes too many steps", group[0])
        at = lane.at
        off = self.machine.active & ~self.machine.guarded
        for n in group:
            if off >> n & 1:
                self.machine.lane(n).at = at + 1
        if self.machine.executing:
            self._execute(step, at)

    def _execute(self, step: Step, at: int) -> None:
        machine, i = self.machine, step.instruction
        if i.opcode == "bra":
            self._branch(step)
        elif i.opcode == "brx":
            self._branch_by_index(step)
        elif i.opcode == "call":
            calls.call(machine, at)
        elif i.opcode == "exit":
            for n in machine.running():
                machine.lane(n).status = "ended"
            self._wake()
        elif i.opcode == "ret":
            calls.leave(machine)
            self._wake()
        elif is_barrier(i) and not i.has("warp"):
            self.barriers.arrive(step)
        elif i.has("warp") or (i.opcode in _WAITS and i.has("sync")):
            self._together(step, at)
        else:
            self._meaning(step, at)

    def _meaning(self, step: Step, at: int) -> None:
        machine = self.machine
        running = machine.running()
        if step.instruction.opcode != "bar":
            try:
                expand(machine, step.instruction)
            except AnywarpError as error:
                if error.diagnostic.source is not None:
                    raise
                raise AnywarpError(replace(error.diagnostic, source=machine.program.source)) from None
        for n in running:
            machine.lane(n).at = at + 1

    def _wake(self) -> None:
        """Lanes have ended: let those that wait for others look again."""
        for lane in self.machine.warp.lanes:
            if lane is not None and lane.status == "waits_for_lanes":
                lane.status = "runs"

    # --- branches ---------------------------------------------------------------------------------------------------------
    def _branch(self, step: Step) -> None:
        target = step.instruction.operands[0]
        self._jump(step, target.name if isinstance(target, Name) else "", self.machine.running())

    def _branch_by_index(self, step: Step) -> None:
        index, listed = step.instruction.operands
        names = step.names.target_list(listed.name) if isinstance(listed, Name) else None
        if names is None:
            self.machine.fail("D010", "a branch without its list of targets")
        values: Plain = read(self.machine, index, "i32")
        for n in self.machine.running():
            if values.lanes[n] >= len(names):
                self.machine.fail("D010", f"index {values.lanes[n]} of {len(names)} targets", n)
            self._jump(step, names[values.lanes[n]], [n])

    def _jump(self, step: Step, name: str, lanes: list[int]) -> None:
        target = step.names.label(name)
        if target is None:
            self.machine.fail("D010", f"there is no label {name}", lanes[0])
        for n in lanes:
            self.machine.lane(n).at = target

    # --- instructions that wait for lanes ---------------------------------------------------------------------------------
    def _together(self, step: Step, at: int) -> None:
        """Run a `.sync` instruction for each set of lanes that is complete; the others wait."""
        machine = self.machine
        masks: tuple[int, ...] = read(machine, step.instruction.operands[-1], "i32").lanes
        here = machine.running()
        for n in here:
            if not masks[n] >> n & 1:
                machine.fail("D014", f"the member mask 0x{masks[n]:08x} leaves the thread itself out", n)
        for n in here:
            machine.lane(n).mask = masks[n]
        barrier = step.instruction.has("warp")
        for mask in sorted({masks[n] for n in here}):
            came = self._came(here, step.instruction, mask)
            complete = mask & machine.warp.living() & ~came == 0
            lanes = [n for n in range(LANES) if came >> n & 1]
            for n in lanes:
                machine.lane(n).status = "runs" if complete else "waits_for_lanes"
            if complete and barrier:
                for n in lanes:
                    machine.lane(n).at += 1
            elif complete and len({machine.warp.place(n) for n in lanes}) > 1:
                exchange(machine, lanes)
            elif complete:
                machine.begin(machine.warp, lanes, step)
                self._meaning(step, at)

    def _came(self, here: list[int], instruction: Instruction, mask: int) -> int:
        """Mask of the lanes that stand at an instruction of this form, or at any barrier of the warp, with this member mask.

        The place does not matter (PTX manual, of each of them).
        """
        warp, steps = self.machine.warp, self.machine.program.steps
        waiting = [n for n, lane in enumerate(warp.lanes) if lane and lane.status == "waits_for_lanes"]
        there = [steps[self.machine.lane(n).at].instruction for n in waiting]
        alike = [one.has("warp") if instruction.has("warp") else one.form == instruction.form for one in there]
        came = {*here, *(n for n, same in zip(waiting, alike, strict=True) if same)}
        return sum(1 << n for n in came if self.machine.lane(n).mask == mask)

    def _deadlock(self) -> None:
        """Say who waits for what."""
        for warp in self.warps:
            for n, lane in enumerate(warp.lanes):
                if lane is not None and lane.status in ("waits_at_barrier", "waits_for_lanes"):
                    self.machine.begin(warp, [n], self.machine.program.steps[lane.at])
                    what = "at a barrier" if lane.status == "waits_at_barrier" else "for other lanes"
                    count = sum(x is not None and x.status == lane.status for w in self.warps for x in w.lanes)
                    self.machine.fail("D014", f"{count} threads wait {what} in vain", n)

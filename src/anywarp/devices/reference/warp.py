"""The state of a warp and of the block it belongs to: where each lane is, what its registers and frames hold.

Each lane has its own place in the program; which lanes run together is decided step by step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from anywarp.devices.reference.program import Code
from anywarp.devices.reference.values import LANES, undefined
from anywarp.ptx.tree import Instruction

Status = Literal["runs", "waits_for_lanes", "waits_at_barrier", "ended"]


@dataclass(slots=True)
class Frame:
    """One call of a function by one lane: where it goes on afterwards, and where its frame lies in local memory."""

    code: Code
    base: int
    call: Instruction | None = None
    back: int = 0


@dataclass(slots=True)
class Lane:
    """One thread: its index in the block, the step it is at, its frames, its local memory."""

    thread: tuple[int, int, int]
    at: int
    frames: list[Frame]
    status: Status = "runs"
    local: bytearray = field(default_factory=bytearray)
    mask: int = 0  # which lanes it waits for


class Warp:
    """Up to 32 lanes; `lanes[l]` is None where the block ends within the warp."""

    def __init__(self, index: int, lanes: list[Lane | None]) -> None:
        self.index = index
        self.lanes = lanes
        self.files: list[dict[str, list[int]]] = []

    def living(self) -> int:
        """Mask of the lanes that exist and have not ended."""
        return sum(1 << n for n, lane in enumerate(self.lanes) if lane and lane.status != "ended")

    def register(self, depth: int, key: str) -> list[int]:
        """Return the 32 values of a register at a depth of calls; never written ones are undefined."""
        while len(self.files) <= depth:
            self.files.append({})
        file = self.files[depth]
        if key not in file:
            file[key] = [undefined("i128")] * LANES
        return file[key]

    def forget(self, depth: int, lanes: list[int], function: str) -> None:
        """Make the registers of `function` undefined for lanes that enter it at `depth`."""
        while len(self.files) <= depth:
            self.files.append({})
        for key, values in self.files[depth].items():
            if key.startswith((f"{function}:", f"{function}.")):
                for lane in lanes:
                    values[lane] = undefined("i128")

    def next_group(self, *, last: bool = False) -> list[int]:
        """Choose the lanes that run next: deepest in calls, then at the smallest step; `last` asks for the opposite."""
        runs = [n for n, lane in enumerate(self.lanes) if lane and lane.status == "runs"]
        if not runs:
            return []
        places = {n: self.place(n) for n in runs}
        wanted = max(places.values()) if last else min(places.values())
        return [n for n in runs if places[n] == wanted]

    def place(self, lane: int) -> tuple[int, int]:
        """Return (minus depth of calls, step): lanes at the same place may run together."""
        found = self.lanes[lane]
        assert found is not None
        return -len(found.frames), found.at

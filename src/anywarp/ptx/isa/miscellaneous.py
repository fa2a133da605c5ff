"""What is left: traps, sleeping, and hints to the hardware.

Hints that only shift time or resources between warps mean nothing to the result and are accepted as such.
"""

from __future__ import annotations

from anywarp.ptx.isa.operands import read, take
from anywarp.ptx.isa.ops import Ops
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction


@meaning("trap", "brkpt")
def trap(ops: Ops, i: Instruction) -> None:
    """`trap` aborts the grid; so does `brkpt`, as no debugger is there to continue it."""
    take(i, 0)
    ops.trap()


@meaning("nanosleep.u32")
def nanosleep(ops: Ops, i: Instruction) -> None:
    """`nanosleep`."""
    (duration,) = take(i, 1)
    ops.host_call("nanosleep", (read(ops, duration, "i32"),), None)


@meaning(
    "griddepcontrol.launch_dependents/wait", "pmevent{.mask}", "setmaxnreg.inc/dec.sync.aligned.u32",
)  # fmt: skip
def hint(ops: Ops, i: Instruction) -> None:
    """`griddepcontrol` (grids never overlap here, so nothing to wait for), `pmevent`, `setmaxnreg`."""
    take(i, 0, 1)

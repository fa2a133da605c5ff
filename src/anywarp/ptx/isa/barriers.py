"""Barriers: decoding `bar` and `barrier` for whoever runs the control flow.

A barrier decides which threads run next, so it is no meaning over `Ops`; what its many spellings say is decoded once here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anywarp.ptx.isa.operands import malformed
from anywarp.ptx.isa.registry import supports, unsupported
from anywarp.ptx.tree import Instruction, Integer, Operand

BarrierKind = Literal["sync", "arrive", "red_popc", "red_and", "red_or"]


CLUSTER = Integer(15)
"""The block barrier at which `barrier.cluster.wait` waits.

A cluster is one block, whose threads have all arrived once they all wait; so arriving is a fence, and waiting a barrier.
"""


def is_barrier(instruction: Instruction) -> bool:
    """Tell whether an instruction makes threads of a block wait or arrive; arriving at the cluster's barrier does not."""
    return instruction.opcode in ("bar", "barrier") and not (instruction.has("cluster") and instruction.has("arrive"))


@dataclass(frozen=True, slots=True)
class BarrierForm:
    """A decoded barrier.

    `barrier` is the id operand of a block barrier, or the member mask of a warp barrier (`warp`). `count` is the thread count
    operand, None for the whole block. `predicate` and `destination` belong to the reductions. `aligned`: all threads of the
    warp run the same barrier together.
    """

    kind: BarrierKind
    barrier: Operand
    count: Operand | None = None
    predicate: Operand | None = None
    destination: Operand | None = None
    warp: bool = False
    aligned: bool = True


def barrier_of(instruction: Instruction) -> BarrierForm:
    """Decode `bar` and `barrier` forms (manual, "Parallel Synchronization and Communication Instructions")."""
    i = instruction
    if i.opcode not in ("bar", "barrier") or not supports(i.opcode, i.modifiers):
        raise unsupported(i)
    count = len(i.operands)
    if i.has("cluster"):
        if count != 0 or i.has("arrive"):
            raise malformed(i, f"it has {count}, not 0")
        return BarrierForm("sync", CLUSTER, aligned=i.has("aligned"))
    if i.has("warp"):
        if count != 1:
            raise malformed(i, f"it has {count}, not 1")
        return BarrierForm("sync", i.operands[0], warp=True)
    aligned = i.opcode == "bar" or i.has("aligned")
    if i.has("red"):
        return _reduction(i, aligned)
    kind: BarrierKind = "arrive" if i.has("arrive") else "sync"
    least = 2 if kind == "arrive" else 1
    if not least <= count <= 2:
        raise malformed(i, f"it has {count}, not {least} to 2")
    return BarrierForm(kind, i.operands[0], i.operands[1] if count == 2 else None, aligned=aligned)


def _reduction(i: Instruction, aligned: bool) -> BarrierForm:
    kind: BarrierKind = "red_popc" if i.has("popc") else "red_and" if i.has("and") else "red_or"
    count = len(i.operands)
    if count not in (3, 4):
        raise malformed(i, f"it has {count}, not 3 to 4")
    destination, barrier = i.operands[:2]
    threads = i.operands[2] if count == 4 else None
    return BarrierForm(kind, barrier, threads, i.operands[-1], destination, aligned=aligned)

"""Remove operations and phis whose results nobody needs; most come from instructions that compute more than is asked for."""

from __future__ import annotations

from anywarp.compiler.attributes import MemoryAccess
from anywarp.compiler.ir import ACTING, Kernel, Op, Phi, Specialisation, Value


def remove_dead_code(kernel: Kernel, specialisation: Specialisation) -> None:
    """Keep what effects and terminators need, directly or not.

    Legality: pure and warp operations have no effect; an ordered one has none but its result (that a load might have faulted is no
    promise of PTX), except a volatile load.
    """
    work: list[Value] = []
    for block in kernel.blocks:
        work += [a for a in block.terminator.args if a is not None]
        work += [op for op in block.ops if op.name in ACTING or (op.name == "load" and MemoryAccess.of(op).volatile)]
    alive: set[Value] = set()
    while work:
        value = work.pop()
        if value in alive:
            continue
        alive.add(value)
        if isinstance(value, Op):
            work += value.operands()
        elif isinstance(value, Phi):
            work += value.incoming.values()
    for block in kernel.blocks:
        block.phis = [phi for phi in block.phis if phi in alive]
        block.ops = [op for op in block.ops if op in alive]

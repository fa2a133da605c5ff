"""Let all threads of a block read what a barrier has brought before any of them writes there again.

Where warps take turns, the first one runs up to the next barrier before another reads what the last one brought. Programs whose threads all
read one place behind a barrier, and write it in their next round with no barrier between, race; on a GPU all warps leave a barrier at once
and the round takes longer than the read, so that nobody notices (the furthest point sampling of PointNet++ and of all that took it over).
"""

from __future__ import annotations

from dataclasses import replace

from anywarp.compiler.analysis import analyse
from anywarp.compiler.attributes import Access, AtomicAccess, Barrier, Special, Symbol
from anywarp.compiler.cfg import ControlFlow, control_flow
from anywarp.compiler.ir import Block, Kernel, Op, Phi, Specialisation, Terminator, Value, speculatable

_MOST_THREADS = 1024
"""That a block has (CUDA C++ Programming Guide, Technical Specifications per Compute Capability)."""

_TREE_LIMIT = 12
"""Operations of an address that are looked at."""


def read_before_writing(kernel: Kernel, specialisation: Specialisation) -> None:
    """Repeat a barrier of the block behind the reads that follow it, where threads may write what these read before the next barrier.

    Only reads of shared memory at an address that is the same for all threads count, and writes to the same variable. Legality: all threads of
    the block have left the barrier together, and meet again at its repetition, as there are only reads between the two.
    """
    if not any(_brings_something(block) for block in kernel.blocks):
        return
    flow = control_flow(kernel)
    found: list[tuple[Block, int, Terminator]] = []
    for node, block in enumerate(flow.blocks):
        before = [flow.blocks[each] for each in flow.pred[node]]
        if len(before) == 1 and _brings_something(before[0]):
            count = _racing_reads(flow, node)
            if count:
                found.append((block, count, before[0].terminator))
    if not found:
        return
    parted = analyse(kernel, replace(specialisation, lanes=_threads(specialisation))).divergent_blocks
    made = {block: _divide(block, count, barrier) for block, count, barrier in found if block not in parted}
    if made:
        kernel.blocks = [
            part for block in kernel.blocks for part in ((block, made[block]) if block in made else (block,))
        ]


def _threads(specialisation: Specialisation) -> int:
    """Return a power of two of at least as many lanes as a block has threads: a gang that is the whole block."""
    x, y, z = specialisation.block or (_MOST_THREADS, 1, 1)
    return max(32, 1 << (x * y * z - 1).bit_length())


def _brings_something(block: Block) -> bool:
    """Tell whether a block ends in a barrier of all threads that does nothing else."""
    attrs = block.terminator.attrs
    return isinstance(attrs, Barrier) and attrs.kind == "sync" and not attrs.warp


def _racing_reads(flow: ControlFlow, node: int) -> int:
    """Return how many operations at the start of a block end in a read of what may be written before the next barrier; 0 for none."""
    block = flow.blocks[node]
    read: dict[tuple[int, int], int] = {}
    for place, op in enumerate(block.ops):
        if op.name == "load":
            variable = _one_place(op)
            if variable is not None:
                read[variable] = place
        elif not speculatable(op):
            break
    if not read:
        return 0
    written = _written(flow, node)
    return max((place + 1 for variable, place in read.items() if variable in written), default=0)


def _one_place(load: Op) -> tuple[int, int] | None:
    """Return the variable of a read of shared memory at an address that is the same for all threads."""
    if Access.of(load).space != "shared":
        return None
    return _variable(load.args[0], same_for_all=True)


def _variable(address: Value, same_for_all: bool = False) -> tuple[int, int] | None:
    """Return where the variable lies that an address is computed from (Symbol.extent); None if it is not seen."""
    found: set[tuple[int, int]] = set()
    work, seen = [address], 0
    while work:
        one = work.pop()
        seen += 1
        if seen > _TREE_LIMIT or (same_for_all and isinstance(one, Phi)):
            return None
        if not isinstance(one, Op):
            continue
        attrs = one.attrs
        if isinstance(attrs, Symbol):
            if attrs.extent is not None:
                found.add(attrs.extent)
        elif same_for_all and (not speculatable(one) or isinstance(attrs, Special)):
            return None
        elif speculatable(one):
            work += one.args
    return found.pop() if len(found) == 1 else None


def _written(flow: ControlFlow, node: int) -> set[tuple[int, int]]:
    """Return the variables of shared memory that are written from the start of a block on, up to the next barrier."""
    written: set[tuple[int, int]] = set()
    inside: set[int] = set()
    work = [node]
    while work:
        one = work.pop()
        if one in inside:
            continue
        inside.add(one)
        for op in flow.blocks[one].ops:
            if op.name == "store" or isinstance(op.attrs, AtomicAccess):
                variable = _variable(op.args[0])
                if variable is not None:
                    written.add(variable)
        if not _brings_something(flow.blocks[one]):
            work += flow.succ[one]
    return written


def _divide(block: Block, count: int, barrier: Terminator) -> Block:
    """End a block behind its first operations in the barrier that led to it, and return the block of the others.

    What takes one of several results stands in the block of the operation that has them.
    """
    rest = Block(f"{block.name}.read")
    reads = set(block.ops[:count])
    with_it = [op for op in block.ops[count:] if op.name == "element" and op.args[0] in reads]
    rest.ops = [op for op in block.ops[count:] if op not in with_it]
    block.ops = [*block.ops[:count], *with_it]
    rest.terminator = block.terminator
    block.terminator = Terminator("barrier", list(barrier.args), [rest], barrier.attrs, span=barrier.span)
    for target in rest.terminator.targets:
        for phi in target.phis:
            if block in phi.incoming:
                phi.incoming[rest] = phi.incoming.pop(block)
    return rest

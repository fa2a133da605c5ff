"""How many lanes of a block are emitted together: one warp, or a gang of several.

Wide gangs fill the vector registers, need fewer rounds at barriers (none at all if the gang is the block) and touch memory in
longer pieces; but every live vector takes several registers, and code grows with the width.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.compiler.artifact import Artifact
from anywarp.compiler.attributes import Access, Barrier, MemoryAccess, Service
from anywarp.compiler.cfg import ControlFlow, control_flow
from anywarp.compiler.ir import PURE, Block, Const, Kernel, Op, Phi, Specialisation, Value
from anywarp.compiler.regions import live_values
from anywarp.compiler.shapes import Analysis
from anywarp.ptx.isa.ops import BITS

WARP, SINGLE = 32, 1
_REGISTERS = 0.8
"""Share of the vector registers that live values of the hottest loop may take."""
_STREAMING = 64
"""Lanes to which kernels without loops and barriers are widened: more only makes code longer (128 on Zen 4: as fast, and twice the code)."""
_APART = 64
"""Lanes to which loops are widened whose number of trips differs from lane to lane: all wait for the last."""
_SIZE = 5200
"""Vector instructions up to which code may grow by widening; a kernel of the usual size compiles in a tenth of a second then."""
_MANY = 1200
"""Vector operations of one warp from which on lanes run one by one where they may.

So much code, most of it there twice for lanes that part, takes LLVM the longer the more there is of it (half a minute for 5000
operations), spills most of what it computes, and runs no faster than each lane on its own would.
"""
_ALONE, _FEWER = 3, 1.5
"""How far the registers may be exceeded where that makes barriers vanish, or makes rounds at them fewer."""
_TREE, _ALONE_FOR_TREE, _TREE_SIZE = 4, 9, 2
"""Barriers outside loops from which on a block takes more time at them than in loops, as it does that adds up in a tree; how far registers and
the size of the code may be exceeded (times) where the gang is the block then. Measured with registers of 256 bits."""
_SPILT, _KEPT = 120, 0.1
"""Accesses of the stack for each vector of lanes from which on code of one warp at a time is tried, and which share of them that may have to be kept.

Spills alone say little: most wide gangs that spill are faster for it, since they wait less often. Measured on Zen 4 over the kernels of benchmarks/:
of eight that spill most for their width, two lose nearly all spills with one warp at a time, and win by it (argmax takes 0.6, cheapest_path 0.8 of the
time); the next has 90 and wins nothing.
"""
_ROW = 4
"""Neighbours in memory that each lane loads at once."""
_LENGTH = {"approximate": 14, "fdiv": 2, "fsqrt": 2, "div": 8, "rem": 8, "shuffle": 2, "matrix": 8}
"""Vector operations that some operations become."""
_PLAIN = frozenset({"sync", "red_popc", "red_and", "red_or"})
_WAITS = frozenset({"atomic", "host_call"})


@dataclass(frozen=True, slots=True)
class Gang:
    """The width of a gang in lanes, and why."""

    lanes: int
    reason: str


def widest(block: tuple[int, int, int] | None) -> int:
    """Return the largest number of lanes, 32 times a power of two, that divides a block of threads."""
    if block is None:
        return WARP
    threads = block[0] * block[1] * block[2]
    return max(WARP, threads & -threads)


def allowed(kernel: Kernel, specialisation: Specialisation) -> Gang:
    """Return the widest gang that is right for `kernel`, as far as that can be told without its analysis."""
    if specialisation.block is None:
        return Gang(WARP, "the block shape is not known")
    if specialisation.checks:
        return Gang(WARP, "accesses are checked warp by warp")
    most = widest(specialisation.block)
    if most == WARP:
        return Gang(WARP, "no larger gang divides the block")
    if waits_in_loops(kernel):
        return Gang(WARP, "a loop may wait for what other warps do")
    return Gang(most, "the largest that divides the block")


def can_run_apart(kernel: Kernel) -> bool:
    """Tell whether each lane may run on its own from one barrier of the block to the next.

    Lanes of a warp are then not in step: none may take part in what a warp does together, wait for another, or (as code for old
    cards does, with volatile accesses) rest on the order of a warp's accesses.
    """
    if any(not _on_its_own(op) for block in kernel.blocks for op in block.ops) or waits_in_loops(kernel):
        return False
    ends = [block.terminator for block in kernel.blocks if block.terminator.name == "barrier"]
    if any(Barrier.of(end).kind not in _PLAIN or Barrier.of(end).warp or end.args[1] is not None for end in ends):
        return False
    numbers = {end.args[0].bits if isinstance(end.args[0], Const) else None for end in ends}
    return None not in numbers and len(numbers) < 2


def _on_its_own(op: Op) -> bool:
    if op.name in PURE or op.name in ("atomic", "fence", "barrier_result"):
        return True
    if op.name == "host_call":
        return not Service.of(op).name.startswith("bulk_")
    return op.name in ("load", "store") and not MemoryAccess.of(op).volatile


def too_long(kernel: Kernel, specialisation: Specialisation, analysis: Analysis | None = None) -> bool:
    """Tell whether lanes had better run one by one because vector code would be too long; without an analysis: surely so."""
    size = sum(len(block.ops) for block in kernel.blocks) // 2 if analysis is None else _size(kernel, analysis)
    return size > _MANY and not specialisation.checks and can_run_apart(kernel)


def waits_in_loops(kernel: Kernel) -> bool:
    """Tell whether a loop reads memory in a way that may wait for another warp: such warps must be able to run in turns.

    Ordered or volatile loads, and atomics whose old value is used.
    """
    flow = control_flow(kernel)
    used = {a for block in kernel.blocks for op in block.ops for a in op.operands()}
    used |= {a for block in kernel.blocks for a in block.terminator.args if a is not None}
    used |= {a for block in kernel.blocks for phi in block.phis for a in phi.incoming.values()}
    inside = {i for loop in flow.nest.loops for i in loop.blocks}
    return any(_may_wait(op, used) for i in inside for op in flow.blocks[i].ops)


def _may_wait(op: Op, used: set[Value]) -> bool:
    if op.name == "load":
        return Access.of(op).strong
    return op.name in _WAITS and op in used


def may_spill_too_much(made: Artifact) -> bool:
    """Tell whether code of a wide gang lies on the stack so much that one warp at a time should be tried."""
    return made.lanes > WARP and made.on_stack >= _SPILT


def spills_no_more(narrow: Artifact, wide: Artifact) -> bool:
    """Tell whether nearly all accesses of the stack are gone with one warp at a time."""
    return narrow.on_stack <= _KEPT * wide.on_stack


def choose(kernel: Kernel, analysis: Analysis, specialisation: Specialisation, registers: int, chunk: int) -> Gang:
    """Choose the width for a target with `registers` vector registers of `chunk` 32-bit lanes. `analysis`: of one warp."""
    most = allowed(kernel, specialisation)
    if too_long(kernel, specialisation, analysis):
        return Gang(SINGLE, "lanes run one by one: as vectors there would be too much code")
    if most.lanes == WARP or specialisation.quick:
        return most if most.lanes == WARP else Gang(WARP, "code is wanted soon")
    flow = control_flow(kernel)
    live = _pressure(flow, analysis)
    size = _size(kernel, analysis)
    ends = [(i, b.terminator.attrs) for i, b in enumerate(flow.blocks)]
    barriers = [i for i, attrs in ends if isinstance(attrs, Barrier) and not attrs.warp]
    tree = sum(flow.nest.innermost[i] is None for i in barriers) >= _TREE
    limit = registers * _REGISTERS * chunk / max(live, 0.5)
    block = specialisation.block or (1, 1, 1)
    lanes, why = most.lanes, most.reason
    if not barriers and not flow.nest.loops and lanes > _STREAMING:
        lanes, why = _STREAMING, "enough for a kernel without loops and barriers"
    if lanes > _APART and _part_for_long(flow, analysis):
        lanes, why = _APART, "lanes leave loops apart"
    whole = block[0] * block[1] * block[2]
    rows = any(_by_rows(op, analysis) for loop in flow.nest.loops for i in loop.blocks for op in flow.blocks[i].ops)
    alone = _ALONE_FOR_TREE if tree else _ALONE
    while lanes > WARP and lanes > limit * (1 if rows or not barriers else alone if lanes == whole else _FEWER):
        lanes, why = lanes // 2, f"{live:g} vectors of a warp's lanes are alive in the hottest loop"
    while lanes > WARP and size * lanes // chunk > _SIZE * (_TREE_SIZE if tree and lanes == whole else 1):
        lanes, why = lanes // 2, f"the code of some {size} vector operations would take long to compile"
    return Gang(lanes, why)


def _size(kernel: Kernel, analysis: Analysis) -> int:
    """Estimate the operations on vectors in the code: what may run under masks is there twice."""
    size = 0
    for block in kernel.blocks:
        copies = 2 if block in analysis.divergent_blocks else 1
        for op in block.ops:
            if op.name in ("load", "store", "atomic"):
                size += copies * 3
            elif _varies(analysis, op):
                size += copies * _LENGTH.get(op.name, 1)
    return size


def _part_for_long(flow: ControlFlow, analysis: Analysis) -> bool:
    """Tell whether lanes leave some loop at trips that have nothing to do with their numbers."""
    for loop in flow.nest.loops:
        if flow.blocks[loop.header] not in analysis.divergent_loops:
            continue
        for i in loop.blocks:
            end = flow.blocks[i].terminator
            leaves = any(flow.index[target] not in loop.blocks for target in end.targets)
            if leaves and end.args and not _by_number(end.args[0], analysis):
                return True
    return False


def _by_number(condition: Value | None, analysis: Analysis) -> bool:
    """Tell whether a condition compares numbers that are uniform or grow with the lane."""
    if not isinstance(condition, Op):
        return True
    if condition.name in ("and", "or", "not"):
        return all(_by_number(a, analysis) for a in condition.args)
    operands = condition.args if condition.name in ("icmp", "fcmp") else [condition]
    return not any(_varies(analysis, a) for a in operands)


def _varies(analysis: Analysis, value: Value) -> bool:
    if value.type == "i1" or value in analysis.guarded:
        return False
    shape = analysis.shapes.get(value)
    return shape is not None and shape.varying


def _weight(value: Value) -> float:
    return max(1.0, BITS[value.type] / 32)


def _pressure(flow: ControlFlow, analysis: Analysis) -> float:
    """Return the most vectors (of 32-bit elements) alive at once in the innermost loops; without loops, anywhere."""
    live = _live_out(flow, analysis)
    inner = {i for loop in flow.nest.loops for i in loop.blocks if flow.nest.innermost[i] is loop}
    deepest = max((loop.depth for loop in flow.nest.loops), default=0)
    worst = 0.0
    for i, block in enumerate(flow.blocks):
        loop = flow.nest.innermost[i]
        if not inner or (i in inner and loop is not None and loop.depth == deepest):
            worst = max(worst, _most_alive(block, live[i], analysis))
    return worst


def _most_alive(block: Block, after: set[Value], analysis: Analysis) -> float:
    now = set(after)
    total = sum(_weight(v) for v in now)
    worst = total
    for op in reversed(block.ops):
        if op in now:
            now.discard(op)
            total -= _weight(op)
        for a in op.operands():
            if a not in now and isinstance(a, Op | Phi) and _varies(analysis, a):
                now.add(a)
                total += _weight(a)
        worst = max(worst, total + (_ROW - 1 if _by_rows(op, analysis) else 0))
    return worst


def _by_rows(op: Op, analysis: Analysis) -> bool:
    """Tell whether lanes load along rows of their own, so that several neighbours are loaded at once."""
    if op.name != "load":
        return False
    found = analysis.guarded.get(op.args[0])
    shape = found.shape if found is not None else analysis.shapes.get(op.args[0])
    if shape is None or shape.offsets is None:
        return False
    return any(f[1] != f[0] for _, f in shape.symbols) or abs(shape.offsets[1] - shape.offsets[0]) > BITS[op.type] // 8


def _live_out(flow: ControlFlow, analysis: Analysis) -> list[set[Value]]:
    """Return for each block the varying values alive at its end."""
    starts = live_values(flow)
    out: list[set[Value]] = []
    for i, block in enumerate(flow.blocks):
        alive: set[Value] = set()
        for target in flow.succ[i]:
            alive |= starts[target]
            alive |= {phi.incoming[block] for phi in flow.blocks[target].phis}
        alive |= {a for a in block.terminator.args if a is not None}
        out.append({v for v in alive if isinstance(v, Op | Phi) and _varies(analysis, v)})
    return out

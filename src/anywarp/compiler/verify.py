"""Checks of the kernel IR's invariants, run in tests and after every pass when asked.

A pass that breaks SSA shows far away, as a wrong number; so the rules are written down and checked.
"""

from __future__ import annotations

from anywarp.compiler.cfg import ControlFlow, control_flow
from anywarp.compiler.ir import Block, Const, Kernel, Op, Undefined, Value
from anywarp.compiler.verify_operations import problem_of, problem_of_end


def verify(kernel: Kernel) -> list[str]:
    """Return what is wrong with `kernel`: an empty list when nothing is."""
    problems: list[str] = []
    known = set(kernel.blocks)
    for block in kernel.blocks:
        if any(t not in known for t in block.terminator.targets):
            problems.append(f"{block.name} goes to a block outside the kernel")
    if problems:
        return problems
    flow = control_flow(kernel)
    if flow.pred[0]:
        problems.append("the entry block has predecessors")
    if flow.nest.irreducible:
        problems.append("control flow is irreducible")
    where = _definitions(kernel, problems)
    for number, block in enumerate(kernel.blocks):
        _block(flow, number, block, where, problems)
    return problems


def check(kernel: Kernel, stage: str) -> None:
    """Raise AssertionError when `kernel` is malformed after `stage`."""
    problems = verify(kernel)
    if problems:
        raise AssertionError(f"{kernel.name} after {stage}: " + "; ".join(problems[:20]))


def _definitions(kernel: Kernel, problems: list[str]) -> dict[Value, tuple[int, int]]:
    """Map each value to its block and position there (phis before everything)."""
    where: dict[Value, tuple[int, int]] = {}
    for number, block in enumerate(kernel.blocks):
        for phi in block.phis:
            where[phi] = (number, -1)
        for position, op in enumerate(block.ops):
            if op in where:
                problems.append(f"an operation stands twice ({op.name} in {block.name})")
            where[op] = (number, position)
    return where


def _block(
    flow: ControlFlow, number: int, block: Block, where: dict[Value, tuple[int, int]], problems: list[str]
) -> None:
    pred = {flow.blocks[p] for p in flow.pred[number]}
    for phi in block.phis:
        if set(phi.incoming) != pred:
            problems.append(f"a phi of {block.name} does not match its predecessors")
            continue
        for source, value in phi.incoming.items():
            if value.type != phi.type:
                problems.append(f"a phi of {block.name} mixes {phi.type} and {value.type}")
            _use(flow, value, flow.index[source], 1 << 60, where, f"a phi of {block.name}", problems)
    for position, op in enumerate(block.ops):
        place = f"{op.name} at {position} of {block.name}"
        for operand in op.operands():
            _use(flow, operand, number, position, where, place, problems)
        wrong = problem_of(op)
        if wrong is not None:
            problems.append(f"{place} {wrong}")
    _end(flow, number, block, where, problems)


def _end(
    flow: ControlFlow, number: int, block: Block, where: dict[Value, tuple[int, int]], problems: list[str]
) -> None:
    end = block.terminator
    wrong = problem_of_end(end)
    if wrong is not None:
        problems.append(f"{block.name} ends in {end.name}, which {wrong}")
    for value in end.args:
        if value is not None:
            _use(flow, value, number, 1 << 60, where, f"the end of {block.name}", problems)


def _use(
    flow: ControlFlow,
    value: Value,
    block: int,
    position: int,
    where: dict[Value, tuple[int, int]],
    place: str,
    problems: list[str],
) -> None:
    if isinstance(value, Const | Undefined):
        return
    home = where.get(value)
    kind = value.name if isinstance(value, Op) else "phi"
    if home is None:
        problems.append(f"{place} uses a {kind} that is in no block")
    elif home[0] == block:
        if home[1] >= position:
            problems.append(f"{place} uses a {kind} before it is made")
    elif not flow.dominance.dominates(home[0], block):
        problems.append(f"{place} uses a {kind} of {flow.blocks[home[0]].name}, which does not dominate it")
    else:
        loop = flow.nest.innermost[home[0]]
        if loop is not None and block not in loop.blocks:
            problems.append(f"{place} uses a {kind} of {flow.blocks[home[0]].name}, which left its loop without a phi")

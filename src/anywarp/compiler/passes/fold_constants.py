"""Simplify operations again after constants were learned, and phis that merge only one value.

What is constant here is a scalar or nothing at all in the vector code.
"""

from __future__ import annotations

from anywarp.compiler.cfg import ControlFlow, control_flow
from anywarp.compiler.fold import canonical, compose, same, simplify
from anywarp.compiler.ir import PURE, Block, Const, Kernel, Op, Phi, Specialisation, Undefined, Value
from anywarp.compiler.ranges import Ranges
from anywarp.compiler.uses import homes, resolve, substitute


def fold_constants(kernel: Kernel, specialisation: Specialisation) -> None:
    """Fold in one sweep over the blocks in order, using ranges of values (thread indices are bounded).

    Legality: replaces values by equal ones that dominate them. A phi at a loop's exit that brings out a value of the loop stays
    (see `place_phis`).
    """
    flow = control_flow(kernel)
    home = homes(kernel)
    ranges = Ranges(specialisation)
    mapping: dict[Value, Value] = {}
    for block in kernel.blocks:
        for phi in block.phis:
            one = _only_value(phi, block, flow, home, mapping)
            if one is not None:
                mapping[phi] = one
            else:
                ranges.phi(phi)
        for op in block.ops:
            _fold(op, mapping, ranges)
    substitute(kernel, mapping)
    for block in kernel.blocks:
        block.phis = [phi for phi in block.phis if phi not in mapping]
        block.ops = [op for op in block.ops if op not in mapping]


def _only_value(
    phi: Phi, block: Block, flow: ControlFlow, home: dict[Value, Block], mapping: dict[Value, Value]
) -> Value | None:
    """The value that a phi has whichever way it is reached."""
    found: Value | None = None
    for value in phi.incoming.values():
        value = resolve(value, mapping)
        if value is phi or isinstance(value, Undefined):
            continue
        if found is not None and not same(found, value):
            return None
        found = value
    if found is None or isinstance(found, Const):
        return found if found is not None else Undefined(phi.type)
    if len({id(resolve(v, mapping)) for v in phi.incoming.values()} - {id(phi)}) > 1:
        return None  # an undefined way in: the value need not dominate
    source = home[found]
    inner = flow.nest.innermost[flow.index[source]]
    return found if inner is None or flow.index[block] in inner.blocks else None


def _fold(op: Op, mapping: dict[Value, Value], ranges: Ranges) -> None:
    op.args = [resolve(a, mapping) for a in op.args]
    if op.guard is not None:
        op.guard = resolve(op.guard, mapping)
        if isinstance(op.guard, Const) and op.guard.bits:
            op.guard = None
    if op.name not in PURE:
        return
    while True:
        op.name, op.args, op.attrs = canonical(op.name, op.args, op.attrs)
        simple = simplify(op.name, op.type, op.args, op.attrs)
        if simple is not None:
            mapping[op] = simple
            return
        merged = compose(op.name, op.type, op.args, op.attrs)
        if merged is None:
            break
        op.name, op.args, op.attrs = merged
    known = ranges.op(op)
    if known is not None:
        mapping[op] = Const(op.type, known)

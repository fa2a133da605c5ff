"""Which values the blocks of a kernel need from before: what masked copies, and barriers that lanes come to apart, must keep."""

from __future__ import annotations

from collections.abc import Iterable

from anywarp.compiler.ir import Block, Value
from anywarp.compiler.simd.values import Values


def _foreign(v: Values, block: Block, used: Iterable[Value]) -> set[Value]:
    """Return which values of other blocks are read where `used` are."""
    return {leaf for x in used for leaf in v.leaves(x) if v.home.get(leaf, block) is not block}


def values_live_in(v: Values) -> dict[Block, list[Value]]:
    """Return the values that each block's start needs from before (its own phis apart), in a fixed order."""
    order = {value: i for i, value in enumerate(v.home)}
    use: dict[Block, set[Value]] = {}
    for block in v.kernel.blocks:
        used: set[Value] = set()
        for op in block.ops:
            used.update(_foreign(v, block, op.operands()))
        used.update(_foreign(v, block, (x for x in block.terminator.args if x is not None)))
        for target in block.terminator.targets:
            for phi in target.phis:
                used.update(_foreign(v, block, (phi.incoming[block],)))
        use[block] = {x for x in used if x in order}
    live = {block: set(used) for block, used in use.items()}
    predecessors = v.kernel.predecessors()
    work = list(v.kernel.blocks)
    while work:
        block = work.pop()
        for p in predecessors[block]:
            new = {x for x in live[block] if v.home[x] is not p} - live[p]
            if new:
                live[p] |= new
                work.append(p)
    return {block: sorted(values, key=lambda x: order[x]) for block, values in live.items()}

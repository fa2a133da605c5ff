"""Values that lie in memory all the time, of kernels in which so many live so long that moving them about would be most of the code.

Two things move values that a block does not even touch: a barrier saves what is needed behind it and loads it again, and each place
of the chain of masked copies is one where ways meet, so that LLVM writes a phi for each register that is alive there (150,000 phis for
a kernel of 4,400 blocks, over which its register coalescer takes half a minute). With hundreds of vectors alive and 16 or 32 registers they would lie in memory anyhow.
"""

from __future__ import annotations

from collections import Counter

from anywarp.compiler.ir import Value
from anywarp.compiler.simd.barriers import Barriers
from anywarp.compiler.simd.flow import Flow
from anywarp.compiler.simd.values import Values

_RESTORED = 400
"""Chunks that all barriers together load again from which on values lie where barriers would save them."""

_MET = 20_000
"""Chunks alive at all masked copies together up to which they may be registers."""


def keep_in_memory(v: Values, barriers: Barriers, flow: Flow) -> None:
    """Choose what stays in memory; at the beginning of a warp, when its state is known and no variable is made yet."""
    framed = _saved_often(v, barriers, flow)
    for value in framed:
        barriers.lie_in_state(value)
    if barriers.per_lane:
        v.variables.set_under_mask(framed)
    if not v.specialisation.quick and _too_many_met(v, flow, set(framed)):
        v.variables.keep_in_memory()


def _saved_often(v: Values, barriers: Barriers, flow: Flow) -> list[Value]:
    """Return values that several barriers save, of a kernel that saves many.

    Only those of which there is one variable, set for all lanes at once: not what the loop's end of some lanes must keep, nor what
    lanes that run ahead set before others have read it. Where lanes wait at barriers apart they are set under masks.
    """
    if not barriers.any or (not barriers.per_lane and (flow.converging or v.analysis.ahead)):
        return []
    targets = barriers.entries[1:]
    saved = Counter(value for target in targets for value in barriers.kept(flow.live[target]) if v.varies(value))
    if saved.total() * v.chunks < _RESTORED:
        return []
    set_by_barriers = {phi for target in targets for phi in target.phis}
    return [
        value
        for value, times in saved.items()
        if times > 1
        and value.type != "i1"
        and value not in set_by_barriers
        and value not in v.temporal_loop
        and not v.has_first(value)
        and not v.variables.is_resident(value)  # written where it lies
    ]


def _too_many_met(v: Values, flow: Flow, framed: set[Value]) -> bool:
    """Tell whether so many values are alive at masked copies of blocks that they had better not be registers."""
    met = 0
    for block in flow.masked if not v.unparted else ():
        met += sum(v.chunks if v.varies(value) else 1 for value in flow.live[block] if value not in framed)
        met += sum(v.chunks if v.varies(phi) else 1 for phi in block.phis)
    return met > _MET

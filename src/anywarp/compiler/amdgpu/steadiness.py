"""How seldom a value changes: with the launch, or with the trips of as many loops as it is in.

What changes seldom is best added to an address first: it is computed before the loop then, and in scalar registers where all lanes have it.
"""

from __future__ import annotations

import sys

from anywarp.compiler.attributes import Special
from anywarp.compiler.cfg import control_flow
from anywarp.compiler.ir import Const, Kernel, Op, Undefined, Value
from anywarp.compiler.operation_table import OPERATIONS

_LAUNCH = ("ctaid.", "nctaid.", "ntid.")
LAUNCH, _UNMET = -1, sys.maxsize


class Steadiness:
    """The depth of loops in which each value is made; LAUNCH for what the launch and the block's place in the grid decide."""

    def __init__(self, kernel: Kernel) -> None:
        self._depth: dict[Value, int] = {}
        flow = control_flow(kernel)
        for block, loop in zip(flow.blocks, flow.nest.innermost, strict=True):
            depth = loop.depth if loop is not None else 0
            self._depth |= dict.fromkeys(block.phis, depth)
            for op in block.ops:
                self._depth[op] = LAUNCH if self._of_launch(op) else depth

    def depth(self, value: Value) -> int:
        """Return the depth of a value; of one that was not met yet the greatest."""
        return LAUNCH if isinstance(value, (Const, Undefined)) else self._depth.get(value, _UNMET)

    def _of_launch(self, op: Op) -> bool:
        if op.name in ("param", "symbol"):
            return True
        if op.name == "special":
            return Special.of(op).name.startswith(_LAUNCH)
        operation = OPERATIONS.get(op.name)
        return operation is not None and operation.effect == "pure" and all(self.depth(a) == LAUNCH for a in op.args)

"""Compute each pure value once: an operation equal to one that dominates it is replaced by that.

Expanded functions and instruction meanings repeat themselves, and equal addresses are only seen to be equal when they are one.
"""

from __future__ import annotations

from typing import Any

from anywarp.compiler.cfg import ControlFlow, control_flow
from anywarp.compiler.ir import PURE, Const, Kernel, Op, Specialisation, Undefined, Value, is_clock
from anywarp.compiler.uses import resolve, substitute

_TRIES = 4
"""Earlier equal operations that are looked at."""


def number_values(kernel: Kernel, specialisation: Specialisation) -> None:
    """Merge equal pure operations.

    Legality: the earlier one dominates, so it has been computed, for at least the lanes that are here; and it is in no loop
    that the later one is not in (its value would leave the loop without a phi).
    """
    flow = control_flow(kernel)
    known: dict[tuple[Any, ...], list[tuple[int, Op]]] = {}
    mapping: dict[Value, Value] = {}
    for number, block in enumerate(kernel.blocks):
        for op in block.ops:
            if op.name not in PURE or is_clock(op):
                continue
            op.args = [resolve(a, mapping) for a in op.args]
            key = (op.name, op.type, *map(_identity, op.args), op.attrs)
            found = next((o for b, o in reversed(known.get(key, [])[-_TRIES:]) if _serves(flow, b, number)), None)
            if found is not None:
                mapping[op] = found
            else:
                known.setdefault(key, []).append((number, op))
    substitute(kernel, mapping)
    for block in kernel.blocks:
        block.ops = [op for op in block.ops if op not in mapping]


def _identity(value: Value) -> object:
    """What makes operands equal: constants by their bits, undefined values never."""
    if isinstance(value, Const):
        return value.type, value.bits
    return object() if isinstance(value, Undefined) else value


def _serves(flow: ControlFlow, earlier: int, later: int) -> bool:
    if not flow.dominance.dominates(earlier, later):
        return False
    loop = flow.nest.innermost[earlier]
    return loop is None or later in loop.blocks

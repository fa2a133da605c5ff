"""Replace sums of which terms cancel: an index that was divided into row and column, and put together again, is the index.

`tile[i / 20][i % 20]` of rows of 20 elements is `tile[i]`: 80 q + 4 (i - 20 q) is 4 i, whatever q is. Lanes that count up are known to
lie side by side then, where of a quotient nothing is known.
"""

from __future__ import annotations

from anywarp.compiler.ir import Const, Kernel, Op, Specialisation, Value
from anywarp.ptx.isa.ops import BITS

Terms = dict[Value, int]
"""A sum of values times numbers."""

_TERMS = 6
"""Terms of a sum that is looked through, at most."""
_LEFT = 3
"""Terms that may be left of one that is replaced."""


def cancel_terms(kernel: Kernel, specialisation: Specialisation) -> None:
    """Write sums of i32 and i64 anew where a term of one operand makes up for one of the other.

    Legality: whole numbers modulo 2**width are a ring, so sums and products by constants may be taken in any order. What is left are
    operands of operands: they dominate, and are in no loop that the sum is not in, since what leaves a loop passes through a phi.
    """
    sums: dict[Value, tuple[Terms, int]] = {}
    for block in kernel.blocks:
        ops: list[Op] = []
        for op in block.ops:
            found = _sum(op, sums)
            if found is not None:
                terms, number, cancelled = found
                sums[op] = terms, number
                if cancelled and len(terms) <= _LEFT:
                    ops += _written(op, terms, number)
            ops.append(op)
        block.ops = ops


def _sum(op: Op, sums: dict[Value, tuple[Terms, int]]) -> tuple[Terms, int, bool] | None:
    """Return the terms of an operation and the number added to them, and whether terms of its operands cancelled; None if it is no sum."""
    if op.type not in ("i32", "i64") or op.name not in ("add", "sub", "mul", "shl"):
        return None
    left, right = op.args
    size = 1 << BITS[op.type]
    if op.name in ("mul", "shl"):
        if not isinstance(right, Const) or (op.name == "shl" and right.bits >= BITS[op.type]):
            return None
        by = right.bits if op.name == "mul" else 1 << right.bits
        terms, number = _of(left, sums)
        scaled = {value: factor * by % size for value, factor in terms.items()}
        return {value: factor for value, factor in scaled.items() if factor}, number * by % size, False
    sign = -1 if op.name == "sub" else 1
    (terms, number), (others, more) = _of(left, sums), _of(right, sums)
    out, cancelled = dict(terms), False
    for value, factor in others.items():
        out[value] = (out.get(value, 0) + sign * factor) % size
        if not out[value]:
            del out[value]
            cancelled = True
    if len(out) > _TERMS:
        return None
    return out, (number + sign * more) % size, cancelled


def _of(value: Value, sums: dict[Value, tuple[Terms, int]]) -> tuple[Terms, int]:
    if isinstance(value, Const):
        return {}, value.bits
    return sums.get(value, ({value: 1}, 0))


def _written(op: Op, terms: Terms, number: int) -> list[Op]:
    """Make `op` the last step of adding up; returns the steps before it."""
    steps: list[Op] = []

    def step(name: str, *args: Value) -> Op:
        steps.append(Op(name, op.type, list(args), span=op.span))
        return steps[-1]

    total: Value = Const(op.type, 0)
    for i, (value, factor) in enumerate(terms.items()):
        term = value if factor == 1 else step("mul", value, Const(op.type, factor))
        total = step("add", total, term) if i else term
    if number or not steps:
        step("add", total, Const(op.type, number))
    last = steps.pop()
    op.name, op.args = last.name, last.args
    return steps

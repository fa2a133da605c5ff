"""Replace what is known of all lanes of a warp at once: values that shapes tell, and divisions of multiples.

Lanes that count from an even number alternate between even and odd whatever the number is, so `x % 2` is known of each, and how
often a loop over it turns. Intervals of values, by which constants were folded before, know nothing of that.
"""

from __future__ import annotations

from anywarp.compiler.analysis import analyse
from anywarp.compiler.fold import INTEGERS
from anywarp.compiler.ir import PURE, Const, Kernel, Op, Specialisation, Value
from anywarp.compiler.passes.fold_constants import fold_constants
from anywarp.compiler.passes.remove_dead_code import remove_dead_code
from anywarp.compiler.passes.simplify_branches import simplify_branches
from anywarp.compiler.shapes import VARYING, Analysis, Shape
from anywarp.compiler.transfer import is_biased
from anywarp.compiler.uses import substitute
from anywarp.ptx.isa.ops import BITS

_ROUNDS = 3
"""Times that a kernel is looked at: what is known of one value may decide another."""


def fold_known(kernel: Kernel, specialisation: Specialisation) -> Analysis:
    """Fold, and return the analysis of what is left.

    Legality: shapes hold for all lanes that are active where a value is made. `x + b >> k`, where b is 2^k - 1 or 0, is `x >> k` if
    the lowest k bits of x are 0: adding b carries into none of the others.
    """
    for _ in range(_ROUNDS):
        analysis = analyse(kernel, specialisation)
        if not _divided(kernel, analysis) and not _decided(kernel, analysis):
            break
        fold_constants(kernel, specialisation)
        simplify_branches(kernel, specialisation)
        remove_dead_code(kernel, specialisation)
    else:
        analysis = analyse(kernel, specialisation)
    return analysis


def _decided(kernel: Kernel, analysis: Analysis) -> bool:
    """Replace the conditions, and what else is one number, where a branch or a choice hangs on it; tells whether any did."""
    known: dict[Value, Value] = {}
    matters = False
    for block in kernel.blocks:
        for op in block.ops:
            if (
                op.name in PURE
                and op.type in INTEGERS
                and (bits := _constant(analysis.shapes.get(op, VARYING), BITS[op.type])) is not None
            ):
                known[op] = Const(op.type, bits)
            matters |= op.name == "select" and op.args[0] in known
        matters |= any(a in known for a in block.terminator.args if a is not None)
    if matters:
        substitute(kernel, known)
    return matters


def _constant(shape: Shape, width: int) -> int | None:
    return shape.residue if shape.uniform and shape.modulus == 1 << width else None


def _divided(kernel: Kernel, analysis: Analysis) -> bool:
    """Drop what makes a division by a power of two round towards zero where every lane holds a multiple; tells whether any did."""
    found = False
    for block in kernel.blocks:
        for op in block.ops:
            if (
                op.name == "ashr"
                and is_biased(op.args[0])
                and isinstance(op.args[1], Const)
                and isinstance(op.args[0], Op)
            ):
                number, bias = op.args[0].args
                bits = _bias_bits(bias)
                shape = analysis.shapes.get(number)
                if bits <= op.args[1].bits and shape is not None and _multiple(shape, 1 << bits):
                    op.args = [number, op.args[1]]
                    found = True
    return found


def _bias_bits(bias: Value) -> int:
    """How many of the lowest bits a bias may set: the shift right leaves so many."""
    assert isinstance(bias, Op) and isinstance(bias.args[1], Const)
    return BITS[bias.type] - bias.args[1].bits


def _multiple(shape: Shape, unit: int) -> bool:
    if shape.offsets is None or shape.symbols or shape.modulus < unit:
        return False
    return all((shape.residue + o) % unit == 0 for o in shape.offsets)

"""The approximate functions: ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt.

The target supplies the functions within the manual's error bounds; forms, halves and the odd f64 versions are here.
"""

from __future__ import annotations

from anywarp.ptx.isa.floating import rounded
from anywarp.ptx.isa.operands import elementwise, read, take, write
from anywarp.ptx.isa.ops import Approximation, Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction


def _function(i: Instruction) -> Approximation:
    names: dict[str, Approximation] = {
        "ex2": "ex2", "lg2": "lg2", "sin": "sin", "cos": "cos", "tanh": "tanh", "rcp": "rcp", "rsqrt": "rsqrt", "sqrt": "sqrt",
    }  # fmt: skip
    return names[i.opcode]


@meaning(
    "ex2.approx{.ftz}.f32", "lg2.approx{.ftz}.f32", "sin.approx{.ftz}.f32", "cos.approx{.ftz}.f32", "tanh.approx.f32",
    "rcp.approx{.ftz}.f32", "rsqrt.approx{.ftz}.f32", "sqrt.approx{.ftz}.f32", "rsqrt.approx.f64",
)  # fmt: skip
def approximate(ops: Ops, i: Instruction) -> None:
    """All approximations of f32, and `rsqrt.approx.f64`."""
    function = _function(i)
    elementwise(ops, i, i.types[0], 1, rounded(ops, i, lambda a: ops.approximate(function, a)))


@meaning("ex2.approx{.ftz}.f16/f16x2/bf16/bf16x2", "tanh.approx.f16/f16x2/bf16/bf16x2")
def approximate_half(ops: Ops, i: Instruction) -> None:
    """`ex2`, `tanh` of half-precision numbers, by way of f32; results below the normal range are kept."""
    function = _function(i)

    def value(a: V) -> V:
        return ops.fconvert(ops.approximate(function, ops.fconvert(a, "f32")), a.type)

    elementwise(ops, i, i.types[0], 1, rounded(ops, i, value))


@meaning("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64")
def coarse(ops: Ops, i: Instruction) -> None:
    """`rcp`, `rsqrt` of the upper 32 bits of an f64, giving the upper 32 bits of the result; the rest is zero."""
    d, a = take(i, 2)
    upper = ops.const("i64", 0xFFFFFFFF << 32)

    def cut(v: V) -> V:
        return ops.flush(ops.bitcast(ops.and_(ops.bitcast(v, "i64"), upper), "f64"))

    source = read(ops, a, "f64")
    number = cut(source)
    # A NaN whose payload is in the lower half would become an infinity by the cut.
    number = ops.select(ops.fcmp("uno", source, source), source, number)
    write(ops, d, cut(ops.approximate(_function(i), number)))

"""Integer, bit and selection operations: one scalar instruction per lane, total as the kernel IR states them."""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.ir import Op
from anywarp.compiler.simd import integers
from anywarp.compiler.simd.text import Text

Scalar = Callable[..., str]

_HOW: dict[str, Scalar] = {
    **dict.fromkeys(("add", "sub", "mul", "and", "or", "xor"), integers.binary),
    **dict.fromkeys(("shl", "lshr", "ashr"), integers.shift),
    **dict.fromkeys(("min", "max"), integers.extreme),
    **dict.fromkeys(("ctpop", "ctlz", "cttz", "bitreverse"), integers.count),
    **dict.fromkeys(("trunc", "zext", "sext"), integers.resize),
    **dict.fromkeys(("div", "rem"), integers.divide),
    "not": integers.invert,
    "icmp": integers.compare,
    "select": integers.select,
    "bitcast": integers.bitcast,
    "mulhi": integers.multiply_high,
    "dot4": integers.dot4,
}
"""The scalar forms (of 0 lanes together) of what the vector target emits."""


def emit_integer(e: Emitter, op: Op) -> None:
    """Emit an operation that LLVM has for scalars."""
    e.define(op, scalar(e.t, op, [e.value(a) for a in op.args]))


def scalar(t: Text, op: Op, args: list[str]) -> str:
    """Emit a scalar integer operation on values that have names."""
    return _HOW[op.name](t, op, 0, *args)


OPERATIONS = dict.fromkeys(_HOW, emit_integer)

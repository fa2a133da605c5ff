"""The approximate functions (ex2, rsqrt ...) of one lane: the hardware's instructions where their error is documented to suffice.

v_exp_f32, v_log_f32, v_rcp_f32, v_rsq_f32 and v_sqrt_f32 have an error of 1 ulp and flush subnormals (instruction set manuals of CDNA3
and RDNA3, "VOP1 instructions"), so numbers near the subnormal range are scaled. The PTX manual allows 2 ulp (ex2), 2**-22 (lg2), 1 ulp
(rcp), 2**-22.9 (rsqrt), 2**-23 (sqrt). Of v_sin_f32 no error is documented: sines are the polynomials that all targets share.
"""

from __future__ import annotations

from typing import cast

from anywarp.compiler import approximations
from anywarp.compiler.amdgpu import floats, integers
from anywarp.compiler.amdgpu.code import Code
from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.attributes import Approximated
from anywarp.compiler.ir import Op, Value
from anywarp.compiler.simd.approximate import ChunkOps, Part
from anywarp.compiler.simd.text import Text, constant
from anywarp.ptx.isa.ops import Ops

_LEAST_NORMAL = constant("f32", 0x00800000)


def emit_approximate(e: Emitter, op: Op) -> None:
    """Emit `approximate` of an f32 or f64."""
    function, a = Approximated.of(op).function, e.value(op.args[0])
    own = _OWN.get(function) if op.type == "f32" else None
    e.define(op, own(e.t, a) if own is not None else _expanded(e.t, op, a))


def emit_flush(e: Emitter, op: Op) -> None:
    """Emit `flush`. Of an approximate function it is the hardware's instruction, which flushes what it takes and what it gives: nothing is scaled."""
    of = _made_by(op.args[0], "approximate")
    name = _FLUSHING.get(Approximated.of(of).function) if of is not None and of.type == "f32" else None
    if of is None or name is None:
        floats.emit_float(e, op)
        return
    flushed = _made_by(of.args[0], "flush")
    x = of.args[0] if flushed is None else flushed.args[0]
    e.define(op, e.t.call("float", name, ("float", e.value(x))))


def _made_by(value: Value, name: str) -> Op | None:
    return value if isinstance(value, Op) and value.name == name else None


def _expanded(t: Code, op: Op, a: str) -> str:
    """Emit the expansion that all targets share, operation by operation."""

    def one(made: Op, n: int, args: list[str]) -> str:
        if made.name == "fdiv" and made.type == "f32":  # of tanh, whose bound is 2**-11
            return _divide(t, args[0], args[1], "2.5")
        emit = integers.scalar if made.name in integers.OPERATIONS else floats.scalar
        return emit(t, made, args)

    out = approximations.expand(cast(Ops, ChunkOps(one, 0)), Approximated.of(op).function, Part(op.type, a))
    return cast(Part, out).text


def _divide(t: Text, a: str, b: str, ulp: str) -> str:
    """Divide with an error of a few ulp: LLVM scales what the reciprocal's instruction would flush."""
    return t.let(f"fdiv float {a}, {b}, !fpmath !{{float {ulp}}}")


def _ex2(t: Text, x: str) -> str:
    """2**x: LLVM adds 64 to numbers below -126 and scales the power back."""
    return t.call("float", "llvm.exp2.f32", ("float", x))


def _lg2(t: Text, x: str) -> str:
    """log2(x): LLVM scales subnormals by 2**32 and subtracts 32."""
    return t.call("float", "llvm.log2.f32", ("float", x))


def _rcp(t: Text, x: str) -> str:
    return _divide(t, "1.0", x, "1.0")


def _scaled(t: Text, name: str, x: str, up: int, down: int) -> str:
    """Apply an instruction to x * 2**up where x is below the normal range, and multiply the result by 2**down: both exact."""
    small = t.two("fcmp olt", "float", x, _LEAST_NORMAL)
    raised = t.two("fmul", "float", x, constant("f32", (127 + up) << 23))
    found = t.call("float", name, ("float", t.pick(0, small, "float", raised, x)))
    lowered = t.two("fmul", "float", found, constant("f32", (127 + down) << 23))
    return t.pick(0, small, "float", lowered, found)


def _rsqrt(t: Text, x: str) -> str:
    return _scaled(t, "llvm.amdgcn.rsq.f32", x, 24, 12)


def _sqrt(t: Text, x: str) -> str:
    return _scaled(t, "llvm.amdgcn.sqrt.f32", x, 32, -16)


_OWN = {"ex2": _ex2, "lg2": _lg2, "rcp": _rcp, "rsqrt": _rsqrt, "sqrt": _sqrt}

_FLUSHING = {
    "ex2": "llvm.amdgcn.exp2.f32",
    "lg2": "llvm.amdgcn.log.f32",
    "rcp": "llvm.amdgcn.rcp.f32",
    "rsqrt": "llvm.amdgcn.rsq.f32",
    "sqrt": "llvm.amdgcn.sqrt.f32",
}
"""The instructions themselves, for `.ftz`."""

OPERATIONS = {"approximate": emit_approximate, "flush": emit_flush}

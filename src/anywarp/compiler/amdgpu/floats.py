"""Floating point: LLVM's own operations to nearest, `directed` for other roundings. Subnormals are on; `.ftz` is the operation `flush`."""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.amdgpu import directed
from anywarp.compiler.amdgpu.code import Code
from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.ir import Op
from anywarp.compiler.simd.floats import Floats
from anywarp.compiler.simd.text import LLVM_TYPE


class GpuFloats(Floats):
    """Float arithmetic of one lane. f16 and bf16 are held as bits; f16 is computed by the hardware, bf16 in f32 or f64."""

    def __init__(self, text: Code) -> None:
        super().__init__(text, chunk=0, avx512=False, fp16=True, f16c=True)
        self.code = text

    def pairs(self, name: str, args: list[str]) -> str:
        """Emit an operation on vectors of two f16, rounded to nearest."""
        return self._nearest(name, "half", 2, args)

    def _small(self, name: str, type: str, n: int, args: list[str], rounding: str) -> str:
        if type == "f16" and rounding == "rn" and name in ("fdiv", "fsqrt"):
            # In f32 and rounded again: 24 digits are more than twice 11 and two, so the second rounding changes nothing.
            wide = [self.widen(n, a, type, "f32") for a in args]
            return self.narrow(n, self._nearest(name, "float", n, wide), "f32", type, rounding)
        return super()._small(name, type, n, args, rounding)

    def _directed(self, name: str, type: str, n: int, args: list[str], rounding: str) -> str:
        t, element = self.code, LLVM_TYPE[type]
        if name == "fdiv":
            return directed.quotient(t, element, args, rounding)
        if name == "fsqrt":
            return directed.root(t, element, args[0], rounding)
        return (directed.by_mode if element == "float" else directed.stepped)(t, name, args, rounding)


_HOW: dict[str, Callable[[Floats], Callable[..., str]]] = {
    **dict.fromkeys(("fadd", "fsub", "fmul", "fma", "fdiv", "fsqrt"), lambda f: f.arithmetic),
    **dict.fromkeys(("fneg", "fabs"), lambda f: f.sign),
    **dict.fromkeys(("fmin", "fmax"), lambda f: f.extreme),
    "fcmp": lambda f: f.compare,
    "fround": lambda f: f.round,
    "flush": lambda f: f.flush,
    "fconvert": lambda f: f.convert,
    "int_to_float": lambda f: f.from_int,
    "float_to_int": lambda f: f.to_int,
}


def emit_float(e: Emitter, op: Op) -> None:
    """Emit a float operation."""
    e.define(op, scalar(e.t, op, [e.value(a) for a in op.args]))


def scalar(t: Code, op: Op, args: list[str]) -> str:
    """Emit a scalar float operation on values that have names."""
    return _HOW[op.name](GpuFloats(t))(op, 0, *args)


OPERATIONS = dict.fromkeys(_HOW.keys() - {"flush"}, emit_float)
"""`flush` is emitted by approximate.py, which knows whose result it is."""

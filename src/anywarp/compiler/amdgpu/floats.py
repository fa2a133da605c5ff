"""Floating point: LLVM's own operations to nearest, the hardware's rounding mode or an exact remainder otherwise.

The kernel runs with subnormals on and rounding to nearest. An operation in another rounding sets the mode, computes and sets it
back in one piece of assembly, which nothing can be moved into.
"""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.ir import Op
from anywarp.compiler.simd.floats import Floats
from anywarp.compiler.simd.text import LLVM_TYPE, Text, splat

_MODE = {"rn": 0, "rp": 1, "rm": 2, "rz": 3}  # MODE.round, for f32 in bits 0 and 1, for f16 and f64 in bits 2 and 3
_ASSEMBLY = {
    ("fadd", "float"): "v_add_f32 $0, $1, $2",
    ("fsub", "float"): "v_sub_f32 $0, $1, $2",
    ("fmul", "float"): "v_mul_f32 $0, $1, $2",
    ("fma", "float"): "v_fma_f32 $0, $1, $2, $3",
    ("fadd", "double"): "v_add_f64 $0, $1, $2",
    ("fsub", "double"): "v_add_f64 $0, $1, -$2",
    ("fmul", "double"): "v_mul_f64 $0, $1, $2",
    ("fma", "double"): "v_fma_f64 $0, $1, $2, $3",
}


class GpuFloats(Floats):
    """Float arithmetic of one lane. f16 and bf16 are held as bits; f16 is computed by the hardware, bf16 in f32 or f64."""

    def __init__(self, text: Text) -> None:
        super().__init__(text, chunk=0, avx512=False, fp16=True, f16c=True)

    def _small(self, name: str, type: str, n: int, args: list[str], rounding: str) -> str:
        if type == "f16" and rounding == "rn" and name in ("fdiv", "fsqrt"):
            # In f32 and rounded again: 24 digits are more than twice 11 and two, so the second rounding changes nothing.
            wide = [self.widen(n, a, type, "f32") for a in args]
            return self.narrow(n, self._nearest(name, "float", n, wide), "f32", type, rounding)
        return super()._small(name, type, n, args, rounding)

    def _directed(self, name: str, type: str, n: int, args: list[str], rounding: str) -> str:
        t, element = self.t, LLVM_TYPE[type]
        if name == "fdiv":
            return self._directed_quotient(element, args, rounding)
        if name == "fsqrt":
            return self._directed_root(element, args[0], rounding)
        field = "0" if element == "float" else "2"
        text = _ASSEMBLY[name, element]
        set_mode = f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, {field}, 2), {_MODE[rounding]}"
        back = f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, {field}, 2), 0"
        inputs = ", ".join(f"{element} {a}" for a in args)
        constraints = ",".join(["=&v", *["v"] * len(args)])
        return t.let(f'call {element} asm sideeffect "{set_mode}\\0A{text}\\0A{back}", "{constraints}"({inputs})')

    # --- quotients and roots: nearest first, then a step to the side on which the true value lies -----------------------

    def _directed_quotient(self, element: str, args: list[str], rounding: str) -> str:
        t, suffix = self.t, self.t.mangle(element, 0)
        q = t.let(f"fdiv {element} {args[0]}, {args[1]}")
        (a, ea), (b, eb) = (self._parts(element, x) for x in args)
        scale = t.two("sub", "i32", eb, ea)
        same = t.call(element, f"llvm.ldexp.{suffix}.i32", (element, q), ("i32", scale))
        minus = t.let(f"fneg {element} {same}")
        rest = t.call(element, f"llvm.fma.{suffix}", (element, minus), (element, b), (element, a))
        # What is left over has the sign of the error times the divisor's.
        one = t.call(element, f"llvm.copysign.{suffix}", (element, _one(element)), (element, b))
        error = t.let(f"fmul {element} {rest}, {one}")
        return self._stepped(element, q, self._overflowed(element, q, args, error), rounding)

    def _overflowed(self, element: str, q: str, args: list[str], error: str) -> str:
        """Return the side of the true value: toward zero where a quotient of finite numbers became infinite, none by zero."""
        t, suffix = self.t, self.t.mangle(element, 0)
        infinity = splat("f32" if element == "float" else "f64", 0x7F800000 if element == "float" else 0x7FF << 52, 0)

        def size(x: str) -> str:
            return t.call(element, f"llvm.fabs.{suffix}", (element, x))

        infinite = t.let(f"fcmp oeq {element} {size(q)}, {infinity}")
        finite = t.two(
            "and", "i1", t.let(f"fcmp olt {element} {size(args[0])}, {infinity}"), t.let(f"fcmp one {element} {args[1]}, 0.0")
        )  # fmt: skip
        inward = t.call(element, f"llvm.copysign.{suffix}", (element, _one(element)), (element, q))
        inward = t.let(f"fneg {element} {inward}")
        error = t.pick(0, t.two("and", "i1", infinite, finite), element, inward, error)
        exact = t.two("and", "i1", infinite, t.two("xor", "i1", finite, "true"))
        ends = t.let(f"fcmp oeq {element} {size(args[1])}, {infinity}")  # a finite number by infinity is zero, exactly
        return t.pick(0, t.two("or", "i1", exact, ends), element, "0.0", error)

    def _directed_root(self, element: str, a: str, rounding: str) -> str:
        t, suffix = self.t, self.t.mangle(element, 0)
        q = t.call(element, f"llvm.sqrt.{suffix}", (element, a))
        small, up, half = (
            ("0x3A00000000000000", "64", "32") if element == "float" else ("0x0200000000000000", "512", "256")
        )
        tiny = t.let(f"fcmp olt {element} {a}, {small}")
        scaled = [
            t.call(element, f"llvm.ldexp.{suffix}.i32", (element, x), ("i32", t.pick(0, tiny, "i32", by, "0")))
            for x, by in ((a, up), (q, half))
        ]
        minus = t.let(f"fneg {element} {scaled[1]}")
        error = t.call(element, f"llvm.fma.{suffix}", (element, minus), (element, scaled[1]), (element, scaled[0]))
        return self._stepped(element, q, error, rounding)

    def _parts(self, element: str, a: str) -> tuple[str, str]:
        """Return a number's digits, in [1/2, 1), and its exponent."""
        t, suffix = self.t, self.t.mangle(element, 0)
        digits = t.call(element, f"llvm.amdgcn.frexp.mant.{suffix}", (element, a))
        return digits, t.call("i32", f"llvm.amdgcn.frexp.exp.i32.{suffix}", (element, a))

    def _stepped(self, element: str, value: str, error: str, rounding: str) -> str:
        """Step from the nearest result, given a number with the sign of (true value - result); NaN and infinity of their own stay."""
        t = self.t
        word = "i32" if element == "float" else "i64"
        bits = t.cast("bitcast", element, value, word)
        above = t.let(f"fcmp ogt {element} {error}, 0.0")  # the true value lies above
        below = t.let(f"fcmp olt {element} {error}, 0.0")
        negative = t.two("icmp slt", word, bits, "0")
        up, down = t.two("add", word, bits, "1"), t.two("sub", word, bits, "1")
        if rounding == "rp":
            wrong, fixed = above, t.pick(0, negative, word, down, up)
        elif rounding == "rm":
            wrong, fixed = below, t.pick(0, negative, word, up, down)
        else:
            wrong, fixed = t.pick(0, negative, "i1", above, below), down
        size = t.two("and", word, bits, str((1 << 31) - 1 if word == "i32" else (1 << 63) - 1))
        zero = t.two("icmp eq", word, size, "0")
        top = 1 << (31 if word == "i32" else 63)
        if rounding == "rp":  # from -0 there is no step up: what was rounded to it is below zero
            fixed = t.pick(0, zero, word, t.pick(0, negative, word, bits, "1"), fixed)
        elif rounding == "rm":
            fixed = t.pick(0, zero, word, t.pick(0, negative, word, str(1 - top), bits), fixed)
        else:
            fixed = t.pick(0, zero, word, bits, fixed)
        return t.cast("bitcast", word, t.pick(0, wrong, word, fixed, bits), element)


def _one(element: str) -> str:
    return splat("f32", 0x3F800000, 0) if element == "float" else splat("f64", 0x3FF << 52, 0)


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


def scalar(t: Text, op: Op, args: list[str]) -> str:
    """Emit a scalar float operation on values that have names."""
    return _HOW[op.name](GpuFloats(t))(op, 0, *args)


OPERATIONS = dict.fromkeys(_HOW, emit_float)

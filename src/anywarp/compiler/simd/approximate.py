"""The approximate functions (ex2, rsqrt ...) for one scalar or one chunk of lanes: AVX-512's own instructions where they pay,
otherwise the expansions that all targets share, made operation by operation."""  # fmt: skip

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import cast

from anywarp.compiler import approximations
from anywarp.compiler.attributes import (
    NONE,
    Approximated,
    Attributes,
    Compare,
    Converted,
    FloatCompare,
    FloatPredicate,
    IntegerPredicate,
    Rounded,
)
from anywarp.compiler.ir import Const, Op, Value
from anywarp.compiler.operation_table import OPERATIONS
from anywarp.compiler.simd.text import Text, splat, vector_type
from anywarp.ptx.isa.ops import Ops, Type

Emit = Callable[[Op, int, list[str]], str]
_EX2 = approximations._EX2  # pyright: ignore[reportPrivateUsage]


class Part(Value):
    """A value in the middle of an expansion: its name in the LLVM IR."""

    __slots__ = ("text",)

    def __init__(self, type: Type, text: str) -> None:
        super().__init__(type)
        self.text = text


class ChunkOps:
    """The few `Ops` that expansions use, for `n` lanes (0: a scalar)."""

    def __init__(self, emit: Emit, n: int) -> None:
        self._emit = emit
        self._n = n

    def const(self, type: Type, bits: int) -> Value:
        """A constant by its bits."""
        return Const(type, bits)

    def _text(self, value: Value) -> str:
        return splat(value.type, value.bits, self._n) if isinstance(value, Const) else cast(Part, value).text

    def _make(self, name: str, type: Type, args: tuple[Value, ...], attrs: Attributes = NONE) -> Part:
        op = Op(name, type, list(args), attrs)
        return Part(type, self._emit(op, self._n, [self._text(a) for a in args]))

    def __getattr__(self, name: str) -> Callable[..., Part]:
        """Operations whose result has the type of their first operand."""
        stem = name.rstrip("_")
        if stem not in _SAME_TYPE:
            raise AttributeError(name)
        attrs = OPERATIONS[stem].attributes()  # rounded to nearest, where they are
        return lambda *args: self._make(stem, args[0].type, args, attrs)

    def fcmp(self, predicate: FloatPredicate, a: Value, b: Value) -> Part:
        """Compare floats."""
        return self._make("fcmp", "i1", (a, b), FloatCompare(predicate))

    def icmp(self, predicate: IntegerPredicate, a: Value, b: Value) -> Part:
        """Compare integers."""
        return self._make("icmp", "i1", (a, b), Compare(predicate))

    def select(self, condition: Value, a: Value, b: Value) -> Part:
        """Choose per lane."""
        return self._make("select", a.type, (condition, a, b))

    def bitcast(self, a: Value, type: Type) -> Part:
        """Reinterpret bits."""
        return self._make("bitcast", type, (a,))

    def trunc(self, a: Value, type: Type) -> Part:
        """Keep the low bits."""
        return self._make("trunc", type, (a,))

    def fconvert(self, a: Value, type: Type) -> Part:
        """Convert between float types, to nearest."""
        return self._make("fconvert", type, (a,), Rounded())

    def int_to_float(self, a: Value, type: Type, signed: bool) -> Part:
        """Convert an integer, to nearest."""
        return self._make("int_to_float", type, (a,), Converted(signed))


_SAME_TYPE = frozenset(
    [
        "add",
        "sub",
        "mul",
        "and",
        "or",
        "xor",
        "not",
        "shl",
        "lshr",
        "ashr",
        "fadd",
        "fsub",
        "fmul",
        "fma",
        "fdiv",
        "fsqrt",
        "fneg",
        "fabs",
        "fmin",
        "fmax",
    ]
)


def approximate(t: Text, emit: Emit, avx512: bool, op: Op, n: int, a: str) -> str:
    """Emit `approximate` of `n` lanes."""
    function = Approximated.of(op).function
    if avx512 and n == 16 and op.type == "f32":
        if function == "rsqrt":
            return _rsqrt(t, a)
        if function == "ex2":
            return _ex2(t, a)
    ops = cast(Ops, ChunkOps(emit, n))
    out = approximations.expand(ops, function, Part(op.type, a))
    return cast(Part, out).text


_F32 = vector_type("float", 16)


def _f(bits: int) -> str:
    return splat("f32", bits, 16)


def _fma(t: Text, a: str, b: str, c: str) -> str:
    return t.call(_F32, "llvm.fma.v16f32", (_F32, a), (_F32, b), (_F32, c))


def _rsqrt(t: Text, x: str) -> str:
    """The 14-bit instruction and one step of Newton's: error below 2**-23.3 where the manual allows 2**-22.9.

    At 0 and infinity the step's residue is no number, and the instruction's result is already right.
    """
    t.declare(_F32, "llvm.x86.avx512.rsqrt14.ps.512", [_F32, _F32, "i16"])
    y = t.call(_F32, "llvm.x86.avx512.rsqrt14.ps.512", (_F32, x), (_F32, "zeroinitializer"), ("i16", "-1"))
    product = t.two("fmul", _F32, x, y)
    rest = _fma(t, t.let(f"fneg {_F32} {product}"), y, _f(0x3F800000))
    better = _fma(t, t.two("fmul", _F32, y, _f(0x3F000000)), rest, y)
    return t.pick(16, t.two("fcmp ord", _F32, rest, "zeroinitializer"), _F32, better, y)


def _ex2(t: Text, x: str) -> str:
    """As the shared expansion, with the instructions for what is behind the point and for a power of two with a single rounding.

    Behind the point infinity has 0, and scaling by any power is right, so no bounds are needed.
    """
    whole = t.call(_F32, "llvm.roundeven.v16f32", (_F32, x))
    all_lanes, name = ("i16", "-1"), "llvm.x86.avx512.mask.reduce.ps.512"
    rest = t.call(_F32, name, (_F32, x), ("i32", "8"), (_F32, "zeroinitializer"), all_lanes, ("i32", "4"))
    bits = [_bits(c) for c in _EX2]
    value = _f(bits[-1])
    for c in reversed(bits[:-1]):
        value = _fma(t, value, rest, _f(c))
    name = "llvm.x86.avx512.mask.scalef.ps.512"
    return t.call(_F32, name, (_F32, value), (_F32, whole), (_F32, "zeroinitializer"), ("i16", "-1"), ("i32", "4"))


def _bits(x: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", x))[0])

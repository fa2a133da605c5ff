"""The operations in which instruction meanings are written, and which every target supplies.

A meaning calls these on opaque typed values. The compiler supplies an implementation that appends to its kernel IR; the
reference device supplies one that computes with plain numbers, lane by lane. Semantics stated here bind both.

Value types: i1 (predicates), i8, i16, i32, i64, i128 (bits, no sign), f16, bf16, f32, f64. A packed PTX type (f16x2) is i32
bits until a meaning takes it apart. All operations are per lane. Pure operations may be evaluated for inactive lanes, so they
must be total: where a case is marked *undefined* the result is any value, never a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

from anywarp.ptx.isa.matrix_forms import Product
from anywarp.ptx.tree import Operand

Type: TypeAlias = Literal["i1", "i8", "i16", "i32", "i64", "i128", "f16", "bf16", "f32", "f64"]
Rounding: TypeAlias = Literal["rn", "rz", "rm", "rp", "rna"]
AddressSpace: TypeAlias = Literal["generic", "global", "shared", "local", "const", "param"]
AtomicOp: TypeAlias = Literal[
    "add", "and", "or", "xor", "exch", "cas", "min", "max", "umin", "umax", "inc", "dec", "fadd", "fmin", "fmax", "arrive"
]  # fmt: skip
Approximation: TypeAlias = Literal["ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt", "sqrt"]
Order: TypeAlias = Literal["weak", "relaxed", "acquire", "release", "acq_rel", "sc"]
Scope: TypeAlias = Literal["cta", "cluster", "gpu", "sys"]

BITS: dict[str, int] = {
    "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128, "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
}  # fmt: skip


class Value(Protocol):
    """An opaque value of a target; only its type may be looked at."""

    @property
    def type(self) -> Type: ...


V: TypeAlias = Any  # a target's own Value; meanings pass it around unopened


class Ops(Protocol):
    """What a target supplies. Names follow LLVM where LLVM has the operation."""

    # --- operands of the instruction at hand -------------------------------------------------------------------------
    def read(self, operand: Operand, type: Type) -> V:
        """Read a source operand as `type`.

        A register narrower or wider than `type` is zero-extended or truncated as bits (section 9.4.1: operand size
        exceeding instruction-type size); float types are a bitcast of the bits. Immediates are converted: Float to the
        float type (or to its bits for an integer type of the same width), Integer wrapped to the width. A variable's
        name reads as its address within its own state space.
        """
        ...

    def write(self, operand: Operand, value: V) -> None:
        """Write a destination register under the instruction's guard; a wider register gets the value zero-extended."""
        ...

    def write_signed(self, operand: Operand, value: V) -> None:
        """As `write`, but a wider register gets the value sign-extended (section 9.4.1, signed loads and cvt)."""
        ...

    # --- constants -----------------------------------------------------------------------------------------------
    def const(self, type: Type, bits: int) -> V:
        """A constant given by its bits (floats too), wrapped to the width."""
        ...

    # --- integers (i8..i128; and/or/xor/not/select also i1) ------------------------------------------------------
    def add(self, a: V, b: V) -> V: ...
    def sub(self, a: V, b: V) -> V: ...
    def mul(self, a: V, b: V) -> V: ...
    def mulhi(self, a: V, b: V, signed: bool) -> V:
        """The upper half of the double-width product."""
        ...

    def dot4(self, a: V, b: V, c: V, signed: tuple[bool, bool]) -> V:
        """`c` plus the products of the four bytes of `a` and `b`, modulo 2^32 (i32); `signed`: whether those of a, those of b are."""
        ...

    def div(self, a: V, b: V, signed: bool) -> V:
        """Truncating division; by zero the result is all ones; the most negative by -1 wraps."""
        ...

    def rem(self, a: V, b: V, signed: bool) -> V:
        """Remainder with the dividend's sign; by zero the result is the dividend; the most negative by -1 is 0."""
        ...

    def and_(self, a: V, b: V) -> V: ...
    def or_(self, a: V, b: V) -> V: ...
    def xor(self, a: V, b: V) -> V: ...
    def not_(self, a: V) -> V: ...
    def shl(self, a: V, amount: V) -> V:
        """Shift left; `amount` has the type of `a`, is unsigned; amounts >= the width give 0 (also lshr)."""
        ...

    def lshr(self, a: V, amount: V) -> V: ...
    def ashr(self, a: V, amount: V) -> V:
        """Arithmetic shift right; amounts >= the width give copies of the sign."""
        ...

    def min(self, a: V, b: V, signed: bool) -> V: ...
    def max(self, a: V, b: V, signed: bool) -> V: ...
    def ctpop(self, a: V) -> V: ...
    def ctlz(self, a: V) -> V:
        """Leading zeros; the width for 0. Same type as `a` (also cttz, ctpop)."""
        ...

    def cttz(self, a: V) -> V: ...
    def bitreverse(self, a: V) -> V: ...
    def icmp(
        self, predicate: Literal["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"], a: V, b: V
    ) -> V: ...
    def select(self, condition: V, a: V, b: V) -> V: ...
    def trunc(self, a: V, type: Type) -> V: ...
    def zext(self, a: V, type: Type) -> V: ...
    def sext(self, a: V, type: Type) -> V: ...
    def bitcast(self, a: V, type: Type) -> V:
        """Same width, other type (i16<->f16/bf16, i32<->f32, i64<->f64)."""
        ...

    # --- floating point (f16, bf16, f32, f64); subnormals are kept; NaN payloads are unspecified ----------------------
    def fadd(self, a: V, b: V, rounding: Rounding = "rn") -> V: ...
    def fsub(self, a: V, b: V, rounding: Rounding = "rn") -> V: ...
    def fmul(self, a: V, b: V, rounding: Rounding = "rn") -> V: ...
    def fma(self, a: V, b: V, c: V, rounding: Rounding = "rn") -> V: ...
    def fdiv(self, a: V, b: V, rounding: Rounding = "rn") -> V: ...
    def fsqrt(self, a: V, rounding: Rounding = "rn") -> V: ...
    def fneg(self, a: V) -> V:
        """Flip the sign bit, NaN included (also fabs clears it)."""
        ...

    def fabs(self, a: V) -> V: ...
    def fmin(self, a: V, b: V) -> V:
        """IEEE 754-2019 minimumNumber: a NaN loses, -0 < +0; two NaNs give a quiet NaN (also fmax)."""
        ...

    def fmax(self, a: V, b: V) -> V: ...
    def fcmp(
        self,
        predicate: Literal[
            "oeq", "one", "olt", "ole", "ogt", "oge", "ueq", "une", "ult", "ule", "ugt", "uge", "ord", "uno"
        ],
        a: V,
        b: V,
    ) -> V: ...
    def fround(self, a: V, rounding: Literal["rn", "rz", "rm", "rp"]) -> V:
        """Round to an integral value in the same type."""
        ...

    def flush(self, a: V) -> V:
        """Replace a subnormal by a zero of its sign (.ftz)."""
        ...

    def fconvert(self, a: V, type: Type, rounding: Rounding = "rn") -> V:
        """Convert between float types; overflow as IEEE 754 for the rounding (to infinity or the largest finite)."""
        ...

    def int_to_float(self, a: V, type: Type, signed: bool, rounding: Rounding = "rn") -> V: ...
    def float_to_int(self, a: V, type: Type, signed: bool, rounding: Rounding) -> V:
        """Round, then clamp to the range of `type`; NaN gives 0."""
        ...

    def approximate(self, function: Approximation, a: V) -> V:
        """ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt of an f32 (rcp, rsqrt also f64) to the manual's stated bound.

        Special values as the manual's tables have them, subnormals honoured (the meaning adds `.ftz` with `flush`).
        """
        ...

    # --- memory --------------------------------------------------------------------------------------------------
    def load(
        self,
        space: AddressSpace,
        type: Type,
        address: V,
        count: int = 1,
        *,
        volatile: bool = False,
        order: Order = "weak",
        scope: Scope = "sys",
    ) -> Sequence[V]:
        """Load `count` adjacent elements under the guard; lanes that are off get an undefined value.

        `address` is i32 or i64 within `space` (generic = flat). i1 is not a memory type.
        """  # fmt: skip
        ...

    def store(
        self, space: AddressSpace, address: V, values: Sequence[V], *, volatile: bool = False,
        order: Order = "weak", scope: Scope = "sys",
    ) -> None: ...  # fmt: skip
    def atomic(
        self,
        op: AtomicOp,
        space: AddressSpace,
        address: V,
        values: Sequence[V],
        *,
        order: Order = "relaxed",
        scope: Scope = "gpu",
        returns: bool = True,
    ) -> V | None:
        """Atomic read-modify-write under the guard, returning the old value.

        `values` is (b,) or for cas (compare, new). inc/dec wrap as the manual says. Lanes act in some order, each once.
        `arrive` (i64) is the update of an mbarrier: add b, and where that completes a phase begin the next (see `mbarriers`).
        `returns=False` (red) lets a target combine lanes. The type acted on is that of `values`: i16 (cas), i32, i64; f32,
        f64, f16, bf16 (fadd, fmin, fmax). `.f16x2` and vector forms arrive as one call per element, as the manual allows.
        """  # fmt: skip
        ...

    def fence(self, order: Order, scope: Scope) -> None: ...
    def address_of(self, name: str, offset: int = 0) -> V:
        """The address of a variable or function within its own state space, as i64."""
        ...

    def element_size(self, name: str) -> int:
        """The bytes of one element of a variable, by which an index is scaled."""
        ...

    def space_of(self, name: str) -> AddressSpace:
        """The state space in which a variable lives.

        Asked for every `.param` access by name: a kernel's parameter is "param"; a parameter of a device function, or one of
        a call, is whatever space the target puts it in ("local", say). For a register (holding an address) the answer is "param".
        """
        ...

    def to_generic(self, space: AddressSpace, address: V) -> V:
        """i64 generic address of an address in `space` (cvta)."""
        ...

    def from_generic(self, space: AddressSpace, address: V) -> V:
        """i64 address within `space` of a generic address (cvta.to)."""
        ...

    def is_space(self, space: AddressSpace, address: V) -> V:
        """i1: whether a generic address falls into `space` (isspacep)."""
        ...

    # --- the warp: 32 lanes everywhere ---------------------------------------------------------------------------
    def special(self, name: str) -> V:
        """A special register by its name without %: "tid.x", "laneid", "clock64"; i32 or i64 as the manual types it."""
        ...

    def guard(self) -> V:
        """i1: the instruction's guard predicate, true without one."""
        ...

    def shuffle(self, a: V, lane: V) -> V:
        """The value of `a` in lane `lane` (i32, 0..31) of the same warp; undefined where that lane is not active."""
        ...

    def ballot(self, predicate: V) -> V:
        """i32: bit l set where lane l is active (and guarded on) and its `predicate` is true; the same in all lanes."""
        ...

    def match_any(self, a: V) -> V:
        """i32: mask of the active lanes whose `a` (i32 or i64) equals this lane's."""
        ...

    def reduce(self, op: Literal["add", "and", "or", "xor", "min", "max", "umin", "umax"], a: V, members: V) -> V:
        """i32: reduction of `a` over the active lanes named in this lane's mask `members` (i32)."""
        ...

    # --- matrices: all 32 lanes of a warp together; undefined results where some are off -----------------------------
    def matrix(self, product: Product, registers: Sequence[V]) -> Sequence[V]:
        """Multiply: `registers` are those of A, B and C (f32 and f64 as such, all else i32), then a sparse A's indices.

        Returns the registers of D. Sums of floats have at least the precision of f32 (f64 for f64) before they are rounded to D;
        their order, and whether subnormals count, is open.
        """
        ...

    def matrix_load(self, space: AddressSpace, address: V, count: int, *, transposed: bool) -> Sequence[V]:
        """Load `count` 8x8 matrices of 16-bit elements; lane 8j+r names the 16 bytes of row r of matrix j.

        Lane 4r+c gets elements 2c and 2c+1 of row (transposed: column) r of each matrix as an i32.
        """
        ...

    # --- textures and surfaces -----------------------------------------------------------------------------------------
    def texture(self, form: int, objects: Sequence[Operand], words: Sequence[V], results: int) -> Sequence[V]:
        """Ask the texture unit for what `form` says (`texture_form.TextureForm`), under the guard; `results` words (i32).

        `objects` are operands as written: a register with a handle or with the address of an opaque variable, such a variable,
        or a kernel's parameter that is one. `words` are i32: index of the layer, coordinates, level or gradients, offsets, data.
        """
        ...

    # --- effects -------------------------------------------------------------------------------------------------
    def trap(self) -> None:
        """Abort the grid under the guard."""
        ...

    def host_call(self, name: str, arguments: Sequence[V], returns: Type | None) -> V | None:
        """Call a service of the runtime by name, once per active lane ("nanosleep", "vprintf", "malloc", ...)."""
        ...

"""The compiler's `Ops`: each operation simplifies, or appends to the kernel IR.

Meanings of instructions know nothing of SSA; registers, guards and state spaces become values here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

from anywarp.compiler import codes
from anywarp.compiler.attributes import (
    NONE,
    Approximated,
    AtomicAccess,
    Attributes,
    Checked,
    Compare,
    Converge,
    Converted,
    Element,
    Factors,
    Fence,
    FloatCompare,
    FloatPredicate,
    IntegerPredicate,
    MatrixLoad,
    MatrixProduct,
    MemoryAccess,
    Parameter,
    Reducing,
    Reduction,
    Rounded,
    Service,
    Signed,
    Space,
    Special,
    Symbol,
    TextureAccess,
)
from anywarp.compiler.fold import canonical, compose, simplify
from anywarp.compiler.ir import CLOCKS, PURE, Block, Const, Op, Undefined, Value
from anywarp.compiler.layout import Global, as_double, narrowed
from anywarp.compiler.skeleton import FunctionName, Missing, ParamPlace, Step, VectorRegister
from anywarp.compiler.variables import Place, Register
from anywarp.diagnostics import Source, Span
from anywarp.ptx.isa.matrix_forms import Product
from anywarp.ptx.isa.operands import displacement
from anywarp.ptx.isa.ops import BITS, AddressSpace, Approximation, AtomicOp, Order, Rounding, Scope, Type
from anywarp.ptx.isa.special_registers import SPECIAL
from anywarp.ptx.tree import Float, Instruction, Integer, Name, Negated, Offset, Operand, Sink

_BITS_OF: dict[int, Type] = {1: "i1", 8: "i8", 16: "i16", 32: "i32", 64: "i64", 128: "i128"}

_FIXED = {
    "cluster_ctaid": 0, "cluster_nctaid": 1, "cluster_ctarank": 0, "cluster_nctarank": 1, "is_explicit_cluster": 0, "envreg": 0,
    "pm": 0, **{f"pm{n}_": 0 for n in range(8)}, "current_graph_exec": 0, "reserved_smem_offset_": 0,
    **{f"reserved_smem_offset_{which}": 0 for which in ("begin", "end", "cap")},
}  # fmt: skip
"""Special registers that are constants without clusters (a block is a cluster of its own), driver variables and counters of events;
by their names without digits at the end."""


class IRBuilder:
    """Appends to `block`; `lookup` finds a register's value on entry to that block.

    `prologue` collects parameters, symbols and special registers: each is made once, and stands at the head of the entry block.
    """

    def __init__(self, lookup: Callable[[Register], Value], source: Source | None = None) -> None:
        self.lookup = lookup
        self.source = source
        self.block = Block("entry")
        self.prologue: list[Op] = []
        self.values: dict[Register, Value] = {}
        self.step: Step | None = None
        self._guard: Value | None = None
        self._constants: dict[tuple[Type, int], Const] = {}
        self._undefined: dict[Type, Undefined] = {}
        self._launch: dict[tuple[Any, ...], Op] = {}
        self._local: dict[tuple[Any, ...], Op] = {}

    # --- where we are -------------------------------------------------------------------------------------------------

    def enter(self, block: Block, values: dict[Register, Value]) -> None:
        """Go on in `block`, whose registers hold `values` as they are written."""
        self.block, self.values = block, values
        self._local = {}

    def begin(self, step: Step) -> None:
        """Prepare for the operands and guard of `step`."""
        self.step = step
        self._guard = None
        instruction = step.what
        if isinstance(instruction, Instruction) and instruction.guard is not None:
            guard = self.read(instruction.guard.register, "i1")
            self._guard = self.not_(guard) if instruction.guard.negated else guard

    def fail(self, code: str, message: str, span: Span | None = None) -> NoReturn:
        """Raise a diagnostic at the current instruction."""
        if span is None and self.step is not None:
            span = self.step.span
        raise codes.problem(code, message, self.source, span)

    # --- making operations --------------------------------------------------------------------------------------------

    def emit(self, name: str, type: Type, args: list[Value], attrs: Attributes = NONE) -> Value:
        """Make a pure operation, or find a simpler or equal value."""
        while True:
            name, args, attrs = canonical(name, args, attrs)
            simple = simplify(name, type, args, attrs)
            if simple is not None:
                return self._interned(simple)
            merged = compose(name, type, args, attrs)
            if merged is None:
                break
            name, args, attrs = merged
        args = [self._interned(a) for a in args]
        key = (name, type, *map(id, args), attrs)
        special = isinstance(attrs, Special)
        if name in ("symbol", "param") or (special and attrs.name not in CLOCKS):
            return self._once(key, name, type, attrs)
        if name in PURE and not special:
            known = self._local.get(key)
            if known is None:
                known = self._local[key] = self._append(name, type, args, attrs)
            return known
        return self._append(name, type, args, attrs)

    def _once(self, key: tuple[Any, ...], name: str, type: Type, attrs: Attributes) -> Op:
        known = self._launch.get(key)
        if known is None:
            known = self._launch[key] = Op(name, type, [], attrs, span=self._span())
            self.prologue.append(known)
        return known

    def _append(
        self, name: str, type: Type, args: list[Value], attrs: Attributes = NONE, guard: Value | None = None
    ) -> Op:
        op = Op(name, type, args, attrs, guard, self._span())
        self.block.ops.append(op)
        return op

    def _effect(self, name: str, type: Type, args: list[Value], attrs: Attributes = NONE) -> Op:
        return self._append(name, type, args, attrs, self._guard)

    def _span(self) -> Span | None:
        return self.step.span if self.step is not None else None

    def _interned(self, value: Value) -> Value:
        if isinstance(value, Const):
            return self._constants.setdefault((value.type, value.bits), value)
        return self.undefined(value.type) if isinstance(value, Undefined) else value

    def const(self, type: Type, bits: int) -> Value:
        """A constant by its bits."""
        return self._interned(Const(type, bits))

    def undefined(self, type: Type) -> Value:
        """The undefined value of a type."""
        return self._undefined.setdefault(type, Undefined(type))

    # --- operands -----------------------------------------------------------------------------------------------------

    def register(self, register: Register) -> Value:
        """Return the current value of a register."""
        found = self.values.get(register)
        if found is None:
            found = self.lookup(register)
        return found

    def assign(self, register: Register, value: Value) -> None:
        """Set a register, under the guard."""
        assert self.step is not None
        if register not in self.step.writes:
            self.fail(codes.INTERNAL, f"the write of {register.name} was not foreseen")
        if self._guard is not None:
            value = self.emit("select", value.type, [self._guard, value, self.register(register)])
        self.values[register] = value

    def read(self, operand: Operand, type: Type) -> Value:
        """Read a source operand as `type` (see `Ops.read`)."""
        if isinstance(operand, Integer):
            return self._integer(operand, type)
        if isinstance(operand, Float):
            return self._float(operand, type)
        if isinstance(operand, Negated):
            return self.not_(self.read(operand.operand, type))
        if isinstance(operand, Offset):
            return self.resize(self.address_of(operand.base.name, displacement(self, operand)), type)
        if not isinstance(operand, Name):
            self.fail(codes.WRONG_OPERAND, "this operand cannot be read as one value")
        register = self._register_of(operand)
        if register is not None:
            return self.resize(self.register(register), type)
        return self._named(operand, type)

    def _named(self, operand: Name, type: Type) -> Value:
        if operand.name == "WARP_SZ":
            return self.const(type, 32)
        if operand.name.startswith("%") and operand.name not in self._names():
            name = operand.name[1:] if operand.member is None else f"{operand.name[1:]}.{operand.member}"
            return self.resize(self.special(name), type)
        return self.resize(self.address_of(operand.name), type)

    def _names(self) -> dict[str, Any]:
        assert self.step is not None
        return cast("dict[str, Any]", self.step.names)

    def _register_of(self, operand: Name) -> Register | None:
        entity = self._names().get(operand.name)
        if isinstance(entity, VectorRegister):
            index = ("xyzw" if (operand.member or "") in "xyzw" else "rgba").find(operand.member or "?")
            if index < 0 or index >= len(entity.elements):
                self.fail(codes.WRONG_OPERAND, f"`{operand.name}` is a vector register; name one of its elements")
            return entity.elements[index]
        return entity if isinstance(entity, Register) else None

    def _integer(self, operand: Integer, type: Type) -> Value:
        if type in ("f16", "bf16", "f32", "f64"):
            double = int.from_bytes(_double_bytes(float(operand.value)), "little")
            return self._float(Float(double, 64), type)
        if type == "i1":
            return self.const("i1", int(operand.value != 0))
        return self.const(type, operand.value)

    def _float(self, operand: Float, type: Type) -> Value:
        if operand.width == BITS[type]:
            return self.const(type, operand.bits)
        if type == "f64":
            return self.const(type, int.from_bytes(_double_bytes(as_double(operand)), "little"))
        if type in ("f32", "i32"):
            return self.const(type, narrowed(as_double(operand)))
        if type in ("f16", "bf16"):
            single = self.const("f32", narrowed(as_double(operand)))
            return self.emit("fconvert", type, [single], Rounded())
        self.fail(codes.WRONG_OPERAND, f"a floating-point constant where {BITS[type]} bits of an integer belong")

    def resize(self, value: Value, type: Type, *, sign: bool = False) -> Value:
        """Truncate, extend or reinterpret a value's bits as `type`."""
        have, want = BITS[value.type], BITS[type]
        if (have == 1) != (want == 1):
            self.fail(codes.WRONG_OPERAND, "a predicate where a number belongs, or the other way round")
        if have == want:
            return value if value.type == type else self.emit("bitcast", type, [value])
        plain, whole = _BITS_OF[have], _BITS_OF[want]
        if value.type != plain:
            value = self.emit("bitcast", plain, [value])
        value = self.emit("trunc" if have > want else "sext" if sign else "zext", whole, [value])
        return value if whole == type else self.emit("bitcast", type, [value])

    def write(self, operand: Operand, value: Value) -> None:
        """Write a destination under the guard, zero-extending into a wider register."""
        self._write(operand, value, sign=False)

    def write_signed(self, operand: Operand, value: Value) -> None:
        """Write a destination under the guard, sign-extending into a wider register."""
        self._write(operand, value, sign=True)

    def _write(self, operand: Operand, value: Value, *, sign: bool) -> None:
        if isinstance(operand, Sink):
            return
        register = self._register_of(operand) if isinstance(operand, Name) else None
        if register is None:
            shown = f"`{operand.name[:200]}` is" if isinstance(operand, Name) else "the destination is"
            self.fail(codes.WRONG_OPERAND, f"{shown} not a register that is declared here")
        if BITS[value.type] > BITS[register.type]:
            message = f"{BITS[value.type]} bits do not fit into `{register.name}` of {BITS[register.type]}"
            self.fail(codes.WRONG_OPERAND, message)
        self.assign(register, self.resize(value, register.type, sign=sign))

    # --- integers -----------------------------------------------------------------------------------------------------

    def add(self, a: Value, b: Value) -> Value:
        """Sum; the address of a generic pointer moves within its own state space."""
        if isinstance(a, Op) and a.name == "to_generic" and isinstance(b, Const) and a.args[0].type == "i64":
            moved = self.emit("add", "i64", [a.args[0], b])
            return self.emit("to_generic", "i64", [moved], a.attrs)
        return self.emit("add", a.type, [a, b])

    def sub(self, a: Value, b: Value) -> Value:
        """Difference."""
        return self.emit("sub", a.type, [a, b])

    def mul(self, a: Value, b: Value) -> Value:
        """Low half of the product."""
        return self.emit("mul", a.type, [a, b])

    def mulhi(self, a: Value, b: Value, signed: bool) -> Value:
        """High half of the product."""
        return self.emit("mulhi", a.type, [a, b], Signed(signed))

    def dot4(self, a: Value, b: Value, c: Value, signed: tuple[bool, bool]) -> Value:
        """Sum of the products of four bytes."""
        return self.emit("dot4", "i32", [a, b, c], Factors(signed))

    def div(self, a: Value, b: Value, signed: bool) -> Value:
        """Quotient."""
        return self.emit("div", a.type, [a, b], Signed(signed))

    def rem(self, a: Value, b: Value, signed: bool) -> Value:
        """Remainder."""
        return self.emit("rem", a.type, [a, b], Signed(signed))

    def and_(self, a: Value, b: Value) -> Value:
        """Bitwise and."""
        return self.emit("and", a.type, [a, b])

    def or_(self, a: Value, b: Value) -> Value:
        """Bitwise or."""
        return self.emit("or", a.type, [a, b])

    def xor(self, a: Value, b: Value) -> Value:
        """Bitwise exclusive or."""
        return self.emit("xor", a.type, [a, b])

    def not_(self, a: Value) -> Value:
        """Complement."""
        return self.emit("not", a.type, [a])

    def shl(self, a: Value, amount: Value) -> Value:
        """Shift left."""
        return self.emit("shl", a.type, [a, amount])

    def lshr(self, a: Value, amount: Value) -> Value:
        """Logical shift right."""
        return self.emit("lshr", a.type, [a, amount])

    def ashr(self, a: Value, amount: Value) -> Value:
        """Arithmetic shift right."""
        return self.emit("ashr", a.type, [a, amount])

    def min(self, a: Value, b: Value, signed: bool) -> Value:
        """Lesser of two."""
        return self.emit("min", a.type, [a, b], Signed(signed))

    def max(self, a: Value, b: Value, signed: bool) -> Value:
        """Greater of two."""
        return self.emit("max", a.type, [a, b], Signed(signed))

    def ctpop(self, a: Value) -> Value:
        """Number of ones."""
        return self.emit("ctpop", a.type, [a])

    def ctlz(self, a: Value) -> Value:
        """Leading zeros."""
        return self.emit("ctlz", a.type, [a])

    def cttz(self, a: Value) -> Value:
        """Trailing zeros."""
        return self.emit("cttz", a.type, [a])

    def bitreverse(self, a: Value) -> Value:
        """Bits in reverse."""
        return self.emit("bitreverse", a.type, [a])

    def icmp(self, predicate: IntegerPredicate, a: Value, b: Value) -> Value:
        """Compare integers."""
        return self.emit("icmp", "i1", [a, b], Compare(predicate))

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        """One of two values."""
        return self.emit("select", a.type, [condition, a, b])

    def trunc(self, a: Value, type: Type) -> Value:
        """Low bits."""
        return self.emit("trunc", type, [a])

    def zext(self, a: Value, type: Type) -> Value:
        """Extend with zeros."""
        return self.emit("zext", type, [a])

    def sext(self, a: Value, type: Type) -> Value:
        """Extend with the sign."""
        return self.emit("sext", type, [a])

    def bitcast(self, a: Value, type: Type) -> Value:
        """Same bits, other type."""
        return self.emit("bitcast", type, [a])

    # --- floating point -----------------------------------------------------------------------------------------------

    def fadd(self, a: Value, b: Value, rounding: Rounding = "rn") -> Value:
        """Sum."""
        return self.emit("fadd", a.type, [a, b], Rounded(rounding))

    def fsub(self, a: Value, b: Value, rounding: Rounding = "rn") -> Value:
        """Difference."""
        return self.emit("fsub", a.type, [a, b], Rounded(rounding))

    def fmul(self, a: Value, b: Value, rounding: Rounding = "rn") -> Value:
        """Product."""
        return self.emit("fmul", a.type, [a, b], Rounded(rounding))

    def fma(self, a: Value, b: Value, c: Value, rounding: Rounding = "rn") -> Value:
        """Product and sum with one rounding."""
        return self.emit("fma", a.type, [a, b, c], Rounded(rounding))

    def fdiv(self, a: Value, b: Value, rounding: Rounding = "rn") -> Value:
        """Quotient."""
        return self.emit("fdiv", a.type, [a, b], Rounded(rounding))

    def fsqrt(self, a: Value, rounding: Rounding = "rn") -> Value:
        """Square root."""
        return self.emit("fsqrt", a.type, [a], Rounded(rounding))

    def fneg(self, a: Value) -> Value:
        """Flip the sign."""
        return self.emit("fneg", a.type, [a])

    def fabs(self, a: Value) -> Value:
        """Clear the sign."""
        return self.emit("fabs", a.type, [a])

    def fmin(self, a: Value, b: Value) -> Value:
        """Lesser number."""
        return self.emit("fmin", a.type, [a, b])

    def fmax(self, a: Value, b: Value) -> Value:
        """Greater number."""
        return self.emit("fmax", a.type, [a, b])

    def fcmp(self, predicate: FloatPredicate, a: Value, b: Value) -> Value:
        """Compare floats."""
        return self.emit("fcmp", "i1", [a, b], FloatCompare(predicate))

    def fround(self, a: Value, rounding: Rounding) -> Value:
        """Round to an integral value."""
        return self.emit("fround", a.type, [a], Rounded(rounding))

    def flush(self, a: Value) -> Value:
        """Replace a subnormal by zero."""
        return self.emit("flush", a.type, [a])

    def fconvert(self, a: Value, type: Type, rounding: Rounding = "rn") -> Value:
        """Convert between float types."""
        return a if a.type == type else self.emit("fconvert", type, [a], Rounded(rounding))

    def int_to_float(self, a: Value, type: Type, signed: bool, rounding: Rounding = "rn") -> Value:
        """Convert an integer to a float."""
        return self.emit("int_to_float", type, [a], Converted(signed, rounding))

    def float_to_int(self, a: Value, type: Type, signed: bool, rounding: Rounding) -> Value:
        """Convert a float to an integer."""
        return self.emit("float_to_int", type, [a], Converted(signed, rounding))

    def approximate(self, function: Approximation, a: Value) -> Value:
        """An approximated function. The power of two of a subnormal is 1, flushed or not."""
        if function == "ex2" and isinstance(a, Op) and a.name == "flush":
            a = a.args[0]
        return self.emit("approximate", a.type, [a], Approximated(function))

    # --- memory -------------------------------------------------------------------------------------------------------

    def _place(self, space: AddressSpace, address: Value) -> tuple[AddressSpace, Value]:
        """Find the state space behind a generic address, and the memory behind a device function's parameter."""
        if space == "generic" and isinstance(address, Op) and address.name == "to_generic":
            return Space.of(address).space, address.args[0]
        if space == "param":
            origin: Value = address
            while isinstance(origin, Op) and origin.name in ("add", "trunc", "zext") and origin.args:
                origin = origin.args[0]
            if isinstance(origin, Op) and origin.name == "symbol":
                return Symbol.of(origin).space, address
        return space, address

    def load(
        self, space: AddressSpace, type: Type, address: Value, count: int = 1, *, volatile: bool = False,
        order: Order = "weak", scope: Scope = "sys",
    ) -> Sequence[Value]:  # fmt: skip
        """Load adjacent elements; a kernel parameter at a constant offset is a value of its own."""
        space, address = self._place(space, address)
        if space == "param" and isinstance(address, Const):
            size = BITS[type] // 8
            return [self.emit("param", type, [], Parameter(address.bits + i * size)) for i in range(count)]
        first = self._effect("load", type, [address], MemoryAccess(space, count, volatile, order, scope))
        return [first, *(self.emit("element", type, [first], Element(i)) for i in range(1, count))]

    def store(
        self, space: AddressSpace, address: Value, values: Sequence[Value], *, volatile: bool = False,
        order: Order = "weak", scope: Scope = "sys",
    ) -> None:  # fmt: skip
        """Store adjacent elements."""
        space, address = self._place(space, address)
        if space == "param":
            self.fail(codes.WRONG_OPERAND, "the parameters of a kernel cannot be written")
        attrs = MemoryAccess(space, len(values), volatile, order, scope)
        self._effect("store", values[0].type, [address, *values], attrs)

    def atomic(
        self, op: AtomicOp, space: AddressSpace, address: Value, values: Sequence[Value], *,
        order: Order = "relaxed", scope: Scope = "gpu", returns: bool = True,
    ) -> Value | None:  # fmt: skip
        """Atomic read-modify-write."""
        space, address = self._place(space, address)
        attrs = AtomicAccess(op, space, order, scope, returns=returns)
        old = self._effect("atomic", values[0].type, [address, *values], attrs)
        return old if returns else None

    def converge(
        self, members: Value, line: int, form: str, site: Value | None = None, lines: tuple[int, ...] = ()
    ) -> None:
        """Wait for the lanes of a mask; `site` says which of `lines` a lane is at."""
        args = [members] if site is None else [members, site]
        self._append("converge", "i1", args, Converge(line, form=form, lines=lines))

    def check_members(self, mask: Value) -> None:
        """Have the member mask of a `.sync` instruction checked."""
        self._effect("check", "i1", [mask], Checked())

    def fence(self, order: Order, scope: Scope) -> None:
        """Order memory accesses."""
        self._append("fence", "i1", [], Fence(order, scope))

    def _entity(self, name: str) -> object:
        return self._names().get(name)

    def element_size(self, name: str) -> int:
        """The bytes of one element of a variable (see `Ops.element_size`)."""
        entity = self._entity(name)
        if isinstance(entity, Place | Global) and entity.element:
            return entity.element
        self.fail(codes.WRONG_OPERAND, f"`{name[:200]}` is no variable that can be indexed")

    def address_of(self, name: str, offset: int = 0) -> Value:
        """The address of a variable within its state space, as i64; of a register, `%r1+4`, what it holds and the offset."""
        entity = self._entity(name)
        if isinstance(entity, Register) and entity.type in (
            "i16",
            "i32",
            "i64",
        ):  # ptxas adds, whatever the instruction
            return self.add(self.resize(self.register(entity), "i64"), self.const("i64", offset))
        if isinstance(entity, Place):
            return self.place(entity, "i64", offset)
        if isinstance(entity, ParamPlace):
            return self.const("i64", entity.offset + offset)
        if isinstance(entity, Global):
            extent = (entity.offset, entity.size)
            space = cast("AddressSpace", entity.space)
            return self.emit("symbol", "i64", [], Symbol(space, entity.offset + offset, extent))
        if isinstance(entity, FunctionName):
            return self.const("i64", entity.address + offset)
        if isinstance(entity, Missing):
            self.fail(codes.UNRESOLVED_EXTERN, f"the variable `{name[:200]}` is declared extern and defined nowhere")
        self.fail(codes.UNKNOWN_NAME, f"`{name[:200]}` is not declared")

    def place(self, place: Place, type: Type, offset: int = 0) -> Value:
        """The address of a shared or local variable within its state space; one on the stack lies behind a register."""
        if place.frame is not None:
            return self.resize(self.add(self.register(place.frame), self.const("i32", place.offset + offset)), type)
        return self.emit("symbol", type, [], Symbol(place.space, offset, variable=place))

    def space_of(self, name: str) -> AddressSpace:
        """The state space of a variable; parameters of device functions are in local memory."""
        entity = self._entity(name)
        if isinstance(entity, Place):
            return entity.space
        if isinstance(entity, (ParamPlace, Register)):
            return "param"
        if isinstance(entity, Global):
            return cast("AddressSpace", entity.space)
        self.address_of(name)
        self.fail(codes.UNKNOWN_NAME, f"`{name[:200]}` is not a variable")

    def to_generic(self, space: AddressSpace, address: Value) -> Value:
        """Generic address of an address in `space`."""
        space, address = self._place(space, address)
        return self.emit("to_generic", "i64", [self.resize(address, "i64")], Space(space))

    def from_generic(self, space: AddressSpace, address: Value) -> Value:
        """Address within `space` of a generic address."""
        return self.emit("from_generic", "i64", [address], Space(space))

    def is_space(self, space: AddressSpace, address: Value) -> Value:
        """Whether a generic address falls into `space`."""
        if isinstance(address, Op) and address.name == "to_generic":
            return self.const("i1", int(Space.of(address).space == space))
        return self.emit("is_space", "i1", [address], Space(space))

    # --- the warp -----------------------------------------------------------------------------------------------------

    def special(self, name: str) -> Value:
        """A special register; those that only clusters or drivers set are constants."""
        if name in ("tid.w", "ctaid.w"):
            return self.const("i32", 0)
        if name in ("ntid.w", "nctaid.w"):
            return self.const("i32", 1)
        if name not in SPECIAL:
            self.fail(codes.UNKNOWN_REGISTER, f"`%{name[:200]}` is not declared, nor a special register that is known")
        if name in ("envreg1", "envreg2"):  # where the barrier of a cooperative grid lies
            return self.emit("special", "i32", [], Special(name))
        base = name.partition(".")[0].rstrip("0123456789")
        if base in _FIXED:
            return self.const(SPECIAL[name], _FIXED[base])
        if base in ("clusterid", "nclusterid"):
            return self.special(name.replace("clusterid", "ctaid"))
        if base.startswith("lanemask_"):
            return self._lane_mask(base)
        return self.emit("special", SPECIAL[name], [], Special(name))

    def _lane_mask(self, name: str) -> Value:
        one = self.const("i32", 1)
        equal = self.shl(one, self.special("laneid"))
        below = self.sub(equal, one)
        masks = {"eq": equal, "lt": below}
        kind = name[-2:]
        if kind in masks:
            return masks[kind]
        if kind == "le":
            return self.or_(equal, below)
        return self.not_(below) if kind == "ge" else self.not_(self.or_(equal, below))

    def guard(self) -> Value:
        """The instruction's guard."""
        return self._guard if self._guard is not None else self.const("i1", 1)

    def shuffle(self, a: Value, lane: Value) -> Value:
        """The value in another lane."""
        return self._append("shuffle", a.type, [a, lane])

    def ballot(self, predicate: Value) -> Value:
        """Mask of active lanes with a true predicate."""
        if self._guard is not None:
            predicate = self.and_(predicate, self._guard)
        return self._append("ballot", "i32", [predicate])

    def match_any(self, a: Value) -> Value:
        """Mask of active lanes with an equal value."""
        return self._append("match_any", "i32", [a])

    def reduce(self, op: Reducing, a: Value, members: Value) -> Value:
        """Reduction over the named active lanes."""
        return self._append("reduce", a.type, [a, members], Reduction(op))

    # --- matrices -----------------------------------------------------------------------------------------------------

    def matrix(self, product: Product, registers: Sequence[Value]) -> Sequence[Value]:
        """The registers of a product."""
        held: Type = {"f32": "f32", "f64": "f64"}.get(product.d, "i32")  # type: ignore[assignment]
        first = self._append("matrix", held, list(registers), MatrixProduct(product))
        return [first, *self._elements(first, product.registers("d"))]

    def _elements(self, first: Value, count: int) -> list[Value]:
        return [self.emit("element", first.type, [first], Element(i)) for i in range(1, count)]

    def matrix_load(self, space: AddressSpace, address: Value, count: int, *, transposed: bool) -> Sequence[Value]:
        """Matrices of 16-bit elements from memory."""
        space, address = self._place(space, address)
        first = self._effect("matrix_load", "i32", [address], MatrixLoad(space, count, transposed=transposed))
        return [first, *self._elements(first, count)]

    # --- textures and surfaces ----------------------------------------------------------------------------------------

    def texture(self, form: int, objects: Sequence[Operand], words: Sequence[Value], results: int) -> Sequence[Value]:
        """What the texture unit answers."""
        args = [*(self._opaque(o) for o in objects), *words]
        first = self._effect("texture", "i32", args, TextureAccess(form, len(objects), results))
        return [first, *self._elements(first, results)] if results else []

    def _opaque(self, operand: Operand) -> Value:
        """A handle in a register or parameter, or the address of a variable that stands for an object."""
        if not isinstance(operand, Name):
            self.fail(codes.WRONG_OPERAND, "a texture, sampler or surface is named by a register or a variable")
        if self._register_of(operand) is not None:
            return self.read(operand, "i64")
        entity = self._entity(operand.name)
        if isinstance(entity, ParamPlace):
            return self.load("param", "i64", self.const("i64", entity.offset))[0]
        if not isinstance(entity, Global) and not isinstance(entity, Missing):
            self.fail(codes.WRONG_OPERAND, f"`{operand.name[:200]}` is no texture, sampler or surface")
        return self.address_of(operand.name)

    # --- effects ------------------------------------------------------------------------------------------------------

    def trap(self) -> None:
        """Never reached: traps end blocks of the skeleton."""
        self.fail(codes.INTERNAL, "a trap inside an instruction")

    def host_call(self, name: str, arguments: Sequence[Value], returns: Type | None) -> Value | None:
        """Call a service of the runtime."""
        attrs = Service(name, returns)
        result = self._append("host_call", returns or "i1", list(arguments), attrs, self._guard)
        return None if returns is None else result


def _double_bytes(value: float) -> bytes:
    return struct.pack("<d", value)

"""The operations of instruction meanings (`ptx/isa/ops.py`) as C++ for HIP: a target whose code is source text.

The meanings are those that the processor and the GPUs run by, so a translated instruction computes what it would compute there.
What HIP lacks is in `support/anywarp_ptx.h`; what cannot be said in HIP raises `Untranslatable`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from anywarp.migrate.translate.inline_ptx_values import (
    AND,
    ATOM,
    BOTH,
    CHOICE,
    CPP,
    EITHER,
    EQUAL,
    OR,
    PLUS,
    RELATION,
    SHIFT,
    SIGNED,
    TIMES,
    UNARY,
    XOR,
    Text,
    Value,
    binary,
    call,
    cast,
)
from anywarp.ptx.isa.extended import CARRY
from anywarp.ptx.isa.matrix_forms import Product
from anywarp.ptx.isa.ops import BITS, AddressSpace, Approximation, AtomicOp, Order, Rounding, Scope, Type
from anywarp.ptx.tree import Float, Instruction, Integer, Name, Operand

ARITHMETIC, WARP, DEVICE = b'"anywarp_ptx.h"', b'"anywarp_warp.h"', b'"anywarp_cuda.h"'


class Untranslatable(Exception):
    """An instruction, or a use of one, that has no form in HIP; the text says why, `help` what to do."""

    def __init__(self, why: str, help: str = "") -> None:
        super().__init__(why)
        self.help = help


@dataclass(frozen=True)
class Register:
    """A register of the asm statement: the C++ that reads it, the C++ that writes it, and the type it holds."""

    type: Type
    read: Text
    write: Text | None
    simple: bool = True
    raw: Text | None = None


@dataclass
class CppOps:
    """Builds C++ for one asm statement, an instruction at a time: `writes` and `effects` are those of the instruction at hand."""

    registers: Mapping[str, Register]
    instruction: Instruction
    needs: set[bytes] = field(default_factory=set[bytes])
    writes: list[tuple[Register, Value]] = field(default_factory=list["tuple[Register, Value]"])
    effects: list[Value] = field(default_factory=list[Value])
    loads: list[tuple[str, Value]] = field(default_factory=list["tuple[str, Value]"])
    carry: bool = False
    carries: bool = False
    notes: list[str] = field(default_factory=list[str])

    # --- operands ------------------------------------------------------------------------------------------------------------
    def read(self, operand: Operand, type: Type) -> Value:
        if isinstance(operand, Integer):
            return self.const(type, operand.value)
        if isinstance(operand, Float):
            return self._float(operand, type)
        if not isinstance(operand, Name) or operand.member is not None:
            raise Untranslatable("an operand is not a plain register")
        if operand == CARRY and not self.carry:
            raise Untranslatable(
                "it continues a carry that another asm statement left",
                "put the whole chain of carries into one asm statement",
            )
        register = self.registers.get(operand.name)
        if register is None:
            raise Untranslatable(f"`{operand.name}` is no register of this statement")
        binds = ATOM if register.simple else UNARY
        leaf = Value(register.type, register.read, binds, raw=register.raw, simple=True)
        return self._as(leaf, type)

    def _as(self, value: Value, type: Type) -> Value:
        if value.type == type:
            return value
        have = BITS[value.type]
        bits: Type = value.type if value.type in SIGNED or value.type == "i1" else _integer(have)
        if bits != value.type:
            value = self.bitcast(value, bits)
        want: Type = type if type in SIGNED or type == "i1" else _integer(BITS[type])
        if BITS[want] != BITS[value.type]:
            value = cast(want, value)
        return value if want == type else self.bitcast(value, type)

    def _float(self, operand: Float, type: Type) -> Value:
        if operand.width == 64:
            number = struct.unpack("<d", struct.pack("<Q", operand.bits))[0]
            if type == "f32":
                try:
                    return self.const("f32", struct.unpack("<I", struct.pack("<f", number))[0])
                except OverflowError:
                    raise Untranslatable("a constant is beyond the range of its type") from None
            if type in ("f16", "bf16"):
                raise Untranslatable("a decimal constant of half precision")
        return self.const(type, operand.bits)

    def write(self, operand: Operand, value: Value) -> None:
        self._write(operand, value, signed=False)

    def write_signed(self, operand: Operand, value: Value) -> None:
        self._write(operand, value, signed=True)

    def _write(self, operand: Operand, value: Value, *, signed: bool) -> None:
        if not isinstance(operand, Name):
            raise Untranslatable("a destination is not a plain register")
        if operand == CARRY:
            self.carry = self.carries = True
        register = self.registers.get(operand.name)
        if register is None or register.write is None:
            raise Untranslatable(f"`{operand.name}` is written, but is no output of the statement")
        if signed and BITS[register.type] > BITS[value.type]:
            value = self.sext(value, _integer(BITS[register.type]))
        self.writes.append((register, self._as(value, register.type)))

    def const(self, type: Type, bits: int) -> Value:
        bits &= (1 << BITS[type]) - 1
        return Value(
            type, (_literal(type, bits),), UNARY if type in ("i8", "i16", "i128", "f16") else ATOM, constant=bits
        )

    # --- integers ------------------------------------------------------------------------------------------------------------
    def add(self, a: Value, b: Value) -> Value:
        return self._small(binary(a.type, "+", PLUS, a, b))

    def sub(self, a: Value, b: Value) -> Value:
        return self._small(binary(a.type, "-", PLUS, a, b))

    def mul(self, a: Value, b: Value) -> Value:
        if a.type == "i16":
            return cast("i16", binary("i32", "*", TIMES, cast("i32", a), b))
        return self._small(binary(a.type, "*", TIMES, a, b))

    def _small(self, value: Value) -> Value:
        """Take back C++'s promotion to int."""
        return cast(value.type, value) if value.type in ("i8", "i16") else value

    def mulhi(self, a: Value, b: Value, signed: bool) -> Value:
        names = {
            ("i32", False): "__umulhi",
            ("i64", False): "__umul64hi",
            ("i32", True): "__mulhi",
            ("i64", True): "__mul64hi",
        }
        name = names.get((a.type, signed))
        if name is None:
            return self._support("mulhi", a.type, *self._view(signed, a, b))
        return self.unsigned(call(a.type, name, *self._view(signed, a, b)), signed)

    def dot4(self, a: Value, b: Value, c: Value, signed: tuple[bool, bool]) -> Value:
        x, y = (self.signed(v) if s else v for v, s in zip((a, b), signed, strict=True))
        return self._support("dp4a", "i32", x, y, c)

    def div(self, a: Value, b: Value, signed: bool) -> Value:
        return self._support("div", a.type, *self._view(signed, a, b))

    def rem(self, a: Value, b: Value, signed: bool) -> Value:
        return self._support("rem", a.type, *self._view(signed, a, b))

    def and_(self, a: Value, b: Value) -> Value:
        return binary("i1", "&&", BOTH, a, b) if a.type == "i1" else self._small(binary(a.type, "&", AND, a, b))

    def or_(self, a: Value, b: Value) -> Value:
        return binary("i1", "||", EITHER, a, b) if a.type == "i1" else self._small(binary(a.type, "|", OR, a, b))

    def xor(self, a: Value, b: Value) -> Value:
        return binary("i1", "!=", EQUAL, a, b) if a.type == "i1" else self._small(binary(a.type, "^", XOR, a, b))

    def not_(self, a: Value) -> Value:
        if a.type == "i1":
            return Value("i1", ("!", a), UNARY)
        return self._small(Value(a.type, ("~", a), UNARY))

    def shl(self, a: Value, amount: Value) -> Value:
        return self._shift("shl", "<<", a, amount)

    def lshr(self, a: Value, amount: Value) -> Value:
        return self._shift("shr", ">>", a, amount)

    def ashr(self, a: Value, amount: Value) -> Value:
        width = BITS[a.type]
        if amount.constant is not None:
            by = self.const("i32", min(amount.constant, width - 1))
            return cast(a.type, binary(a.type, ">>", SHIFT, self.signed(a), by))
        return self._support("shr", a.type, self.signed(a), self._amount(amount))

    def _shift(self, name: str, operator: str, a: Value, amount: Value) -> Value:
        if amount.constant is None:
            return self._support(name, a.type, a, self._amount(amount))
        if amount.constant >= BITS[a.type]:
            return self.const(a.type, 0)
        by = self.const("i32", amount.constant)
        return a if amount.constant == 0 else self._small(binary(a.type, operator, SHIFT, a, by))

    def _amount(self, amount: Value) -> Value:
        return amount if amount.type in ("i32", "i64") else cast("i32", amount)

    def min(self, a: Value, b: Value, signed: bool) -> Value:
        return self._extreme("min", a, b, signed)

    def max(self, a: Value, b: Value, signed: bool) -> Value:
        return self._extreme("max", a, b, signed)

    def _extreme(self, name: str, a: Value, b: Value, signed: bool) -> Value:
        if a.type not in ("i32", "i64"):
            return self._support(name, a.type, *self._view(signed, a, b))
        return self.unsigned(call(a.type, name, *self._view(signed, a, b)), signed)

    def ctpop(self, a: Value) -> Value:
        return cast(a.type, call("i32", "__popcll" if a.type == "i64" else "__popc", a))

    def ctlz(self, a: Value) -> Value:
        name = "__clzll" if a.type == "i64" else "__clz"
        return cast(a.type, call("i32", name, self.signed(a)))

    def cttz(self, a: Value) -> Value:
        return self._support("ctz", a.type, a)

    def bitreverse(self, a: Value) -> Value:
        return call(a.type, "__brevll" if a.type == "i64" else "__brev", a)

    def icmp(self, predicate: str, a: Value, b: Value) -> Value:
        if predicate in ("eq", "ne"):
            return binary("i1", "==" if predicate == "eq" else "!=", EQUAL, a, b)
        operator = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}[predicate[1:]]
        return binary("i1", operator, RELATION, *self._view(predicate[0] == "s", a, b))

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        if condition.constant is not None:
            return a if condition.constant else b
        return self._small(Value(a.type, (condition, " ? ", a, " : ", b), CHOICE))

    def trunc(self, a: Value, type: Type) -> Value:
        return Value("i1", ("(", a, " & 1) != 0"), EQUAL) if type == "i1" else cast(type, a)

    def zext(self, a: Value, type: Type) -> Value:
        return self.const(type, a.constant) if a.constant is not None else cast(type, a)

    def sext(self, a: Value, type: Type) -> Value:
        if a.type == "i1":
            return self.select(a, self.const(type, -1), self.const(type, 0))
        return cast(type, self.signed(a))

    def bitcast(self, a: Value, type: Type) -> Value:
        if a.type == type:
            return a
        if a.constant is not None:
            return self.const(type, a.constant)
        inside = a.operands[0] if a.parts[0] in _BACK.get((type, a.type), ()) and len(a.operands) == 1 else None
        if inside is not None and inside.type == type:
            return inside
        name = _BITCASTS.get((a.type, type))
        if name is not None:
            return self.unsigned(call(type, name, a), a.type == "f64")
        if (a.type, type) == ("i64", "f64"):
            return call(type, "__longlong_as_double", self.signed(a))
        self.needs.add(ARITHMETIC)
        return call(type, f"anywarp::bits_as<{CPP[type]}>", a)

    # --- floats --------------------------------------------------------------------------------------------------------------
    def fadd(self, a: Value, b: Value, rounding: Rounding = "rn") -> Value:
        return self._arithmetic("fadd", "+", PLUS, a, b, rounding)

    def fsub(self, a: Value, b: Value, rounding: Rounding = "rn") -> Value:
        return self._arithmetic("fsub", "-", PLUS, a, b, rounding)

    def fmul(self, a: Value, b: Value, rounding: Rounding = "rn") -> Value:
        return self._arithmetic("fmul", "*", TIMES, a, b, rounding)

    def _arithmetic(self, name: str, operator: str, binds: int, a: Value, b: Value, rounding: Rounding) -> Value:
        """An operation with an explicit `.rn` must not be fused with another one; without it, it may (manual, `add.f32`)."""
        self._nearest(rounding)
        if a.type != "bf16" and a.type != "f16" and not self.instruction.has("rn"):
            return binary(a.type, operator, binds, a, b)
        return self._support(name, a.type, a, b)

    def fma(self, a: Value, b: Value, c: Value, rounding: Rounding = "rn") -> Value:
        self._nearest(rounding)
        names = {"f32": "fmaf", "f64": "fma"}
        if a.type in names:
            return call(a.type, names[a.type], a, b, c)
        return self._support("fma", a.type, a, b, c)

    def fdiv(self, a: Value, b: Value, rounding: Rounding = "rn") -> Value:
        self._nearest(rounding)
        return binary(a.type, "/", TIMES, a, b)

    def fsqrt(self, a: Value, rounding: Rounding = "rn") -> Value:
        self._nearest(rounding)
        return call(a.type, "sqrtf" if a.type == "f32" else "sqrt", a)

    def _nearest(self, rounding: Rounding) -> None:
        if rounding != "rn":
            raise Untranslatable(
                f"HIP has no arithmetic that rounds by .{rounding}",
                "use the rounding to nearest, or the functions of the device library",
            )

    def fneg(self, a: Value) -> Value:
        return Value(a.type, ("-", a), UNARY) if a.type in ("f32", "f64") else self._support("fneg", a.type, a)

    def fabs(self, a: Value) -> Value:
        names = {"f32": "fabsf", "f64": "fabs"}
        return call(a.type, names[a.type], a) if a.type in names else self._support("fabs", a.type, a)

    def fmin(self, a: Value, b: Value) -> Value:
        return self._support("fmin", a.type, a, b)

    def fmax(self, a: Value, b: Value) -> Value:
        return self._support("fmax", a.type, a, b)

    def fcmp(self, predicate: str, a: Value, b: Value) -> Value:
        if a.type == "bf16":
            a, b = (call("f32", "float", x) for x in (a, b))
        if predicate in ("ord", "uno"):
            unordered = call("i1", "isunordered" if a.type != "f16" else "anywarp::unordered", a, b)
            if a.type == "f16":
                self.needs.add(ARITHMETIC)
            return unordered if predicate == "uno" else self.not_(unordered)
        operators = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
        opposite = {"ult": ">=", "ule": ">", "ugt": "<=", "uge": "<"}
        if predicate in ("oeq", "une") or (predicate[0] == "o" and predicate != "one"):
            binds = EQUAL if predicate[1:] in ("eq", "ne") else RELATION
            return binary("i1", operators[predicate[1:]], binds, a, b)
        if predicate in opposite:
            return self.not_(binary("i1", opposite[predicate], RELATION, a, b))
        apart = self.or_(binary("i1", "<", RELATION, a, b), binary("i1", ">", RELATION, a, b))
        return apart if predicate == "one" else self.not_(apart)

    def fround(self, a: Value, rounding: str) -> Value:
        names = {"rn": "rint", "rz": "trunc", "rm": "floor", "rp": "ceil"}
        if a.type in ("f32", "f64"):
            return call(a.type, names[rounding] + ("f" if a.type == "f32" else ""), a)
        return self._support(names[rounding], a.type, a)

    def flush(self, a: Value) -> Value:
        return self._support("flush", a.type, a)

    def fconvert(self, a: Value, type: Type, rounding: Rounding = "rn") -> Value:
        if a.type == type:
            return a
        if BITS[type] > BITS[a.type]:
            return cast(type, a)
        self._nearest(rounding)
        if type == "bf16":
            return self._support("to_bf16", type, a)
        return cast(type, a)

    def int_to_float(self, a: Value, type: Type, signed: bool, rounding: Rounding = "rn") -> Value:
        exact = BITS[a.type] <= {"f64": 32, "f32": 16}.get(type, 8)
        if not exact:
            self._nearest(rounding)
        if type in ("f16", "bf16"):
            return self._support(f"int_to_{type}", type, *self._view(signed, a))
        return cast(type, self.signed(a) if signed else a)

    def float_to_int(self, a: Value, type: Type, signed: bool, rounding: Rounding) -> Value:
        spelled = SIGNED[type] if signed else CPP[type]
        a = a if a.type in ("f32", "f64") else cast("f32", a)
        inside = a if rounding == "rz" else self.fround(a, rounding)
        self.needs.add(ARITHMETIC)
        return self.unsigned(call(type, f"anywarp::to_int<{spelled}>", inside), signed)

    def approximate(self, function: Approximation, a: Value) -> Value:
        return self._support(f"{function}_approx", a.type, a)

    # --- memory --------------------------------------------------------------------------------------------------------------
    def load(
        self, space: AddressSpace, type: Type, address: Value, count: int = 1, *, volatile: bool = False, order: Order = "weak",
        scope: Scope = "sys",
    ) -> Sequence[Value]:  # fmt: skip
        volatile = volatile or self.instruction.has("cv")
        stored = _stored(type)
        name = f"v{len(self.loads)}"
        if count == 1 and order == "weak":
            spelled = f"const {'volatile ' if volatile else ''}{CPP[stored]}"
            value = Value(stored, ("*", self.pointer(space, spelled, address)), UNARY)
        elif order != "weak":
            value = self._atomic_load(space, stored, address, order, scope, count)
        else:
            if volatile:
                return [self._element(space, type, address, n) for n in range(count)]
            value = Value(stored, ("*", self.pointer(space, f"const {_vector(stored, count)}", address)), UNARY)
            self.loads.append((f"const {_vector(stored, count)} {name}", value))
            return [self._back(Value(stored, (f"{name}.{'xyzw'[n]}",)), type) for n in range(count)]
        self.loads.append((f"const {CPP[stored]} {name}", value))
        return [self._back(Value(stored, (name,)), type)]

    def _element(self, space: AddressSpace, type: Type, address: Value, n: int) -> Value:
        step = self.const(address.type, n * BITS[type] // 8)
        return self.load(space, type, self.add(address, step) if n else address, volatile=True)[0]

    def _back(self, value: Value, type: Type) -> Value:
        return value if value.type == type else self.bitcast(value, type)

    def _atomic_load(
        self, space: AddressSpace, type: Type, address: Value, order: Order, scope: Scope, count: int
    ) -> Value:
        if count != 1:
            raise Untranslatable("a vector is loaded in one piece with an order among threads")
        pointer = self.pointer(space, f"const {CPP[type]}", address)
        return call(type, "__hip_atomic_load", pointer, _ORDERS[order], _SCOPES[scope])

    def store(
        self, space: AddressSpace, address: Value, values: Sequence[Value], *, volatile: bool = False, order: Order = "weak",
        scope: Scope = "sys",
    ) -> None:  # fmt: skip
        values = [self._back(v, _stored(v.type)) for v in values]
        type = values[0].type
        if order != "weak":
            if len(values) != 1:
                raise Untranslatable("a vector is stored in one piece with an order among threads")
            pointer = self.pointer(space, CPP[type], address)
            self.effects.append(call(type, "__hip_atomic_store", pointer, values[0], _ORDERS[order], _SCOPES[scope]))
        elif len(values) == 1 or volatile:
            kind = f"{'volatile ' if volatile else ''}{CPP[type]}"
            for n, value in enumerate(values):
                at = self.add(address, self.const(address.type, n * BITS[type] // 8)) if n else address
                self.effects.append(Value(type, ("*", self.pointer(space, kind, at), " = ", value)))
        else:
            vector = _vector(type, len(values))
            parts: list[str | Value] = [f"make_{vector}("]
            for n, value in enumerate(values):
                parts += [", ", value] if n else [value]
            self.effects.append(Value(type, ("*", self.pointer(space, vector, address), " = ", *parts, ")")))

    def pointer(self, space: AddressSpace, spelled: str, address: Value) -> Value:
        """Return a pointer to `spelled` made of an address in a state space."""
        if space == "shared":
            self.needs.add(WARP)
            return call("i64", f"anywarp::shared_pointer<{spelled}>", address)
        if space not in ("global", "generic"):
            raise Untranslatable(f"addresses in .{space} have no form in HIP", "use a pointer to the variable")
        if address.raw is not None:
            return Value("i64", (f"({spelled} *)", *address.raw), UNARY)
        return cast("i64", address, f"{spelled} *")

    def atomic(
        self, op: AtomicOp, space: AddressSpace, address: Value, values: Sequence[Value], *, order: Order = "relaxed",
        scope: Scope = "gpu", returns: bool = True,
    ) -> Value | None:  # fmt: skip
        value = values[-1]
        if value.type not in ("i32", "i64", "f32", "f64") or op == "arrive":
            raise Untranslatable(
                "HIP's atomics have no such operation on this type",
                "use the functions of hip_fp16.h and hip_bf16.h, or a loop of atomicCAS",
            )
        signed = op in ("min", "max")
        spelled = SIGNED[value.type] if signed else CPP[value.type]
        pointer = self.pointer(space, spelled, address)
        given = [self.signed(v) if signed else v for v in values]
        if order == "relaxed" and scope == "gpu":
            made = call(value.type, _ATOMICS[op], pointer, *given)
        elif op == "cas":
            self.needs.add(WARP)
            made = call(value.type, f"anywarp::atomic_cas<{_ORDERS[order]}, {_SCOPES[scope]}>", pointer, *given)
        elif op in _FETCHES:
            made = call(value.type, _FETCHES[op], pointer, *given, _ORDERS[order], _SCOPES[scope])
        else:
            raise Untranslatable(
                f"HIP has no atomic {op} with an order or scope", "use the relaxed form between two fences"
            )
        if not returns:
            self.effects.append(made)
            return None
        made = self.unsigned(made, signed)
        name = f"v{len(self.loads)}"
        self.loads.append((f"const {CPP[value.type]} {name}", made))
        return Value(value.type, (name,))

    def fence(self, order: Order, scope: Scope) -> None:
        if self.instruction.has("proxy"):
            raise Untranslatable("a fence between proxies belongs to asynchronous copies, which have no form in HIP")
        name = {
            "cta": "__threadfence_block",
            "cluster": "__threadfence",
            "gpu": "__threadfence",
            "sys": "__threadfence_system",
        }[scope]
        self.effects.append(call("i32", name))

    def address_of(self, name: str, offset: int = 0) -> Value:
        raise Untranslatable(f"the address of `{name}` is taken by its name", "give the pointer as an operand")

    def element_size(self, name: str) -> int:
        raise Untranslatable(f"the address of `{name}` is taken by its name", "give the pointer as an operand")

    def space_of(self, name: str) -> AddressSpace:
        raise Untranslatable("the parameter space has no form in HIP")

    def to_generic(self, space: AddressSpace, address: Value) -> Value:
        if space == "global":
            return address
        if space != "shared":
            raise Untranslatable(f"addresses in .{space} have no form in HIP")
        return cast("i64", self.pointer(space, "char", cast("i32", address)))

    def from_generic(self, space: AddressSpace, address: Value) -> Value:
        if space == "global":
            return address
        if space != "shared":
            raise Untranslatable(f"addresses in .{space} have no form in HIP")
        self.needs.add(WARP)
        pointer = self.pointer("generic", "const void", address)
        return cast("i64", call("i32", "anywarp::shared_address", pointer))

    def is_space(self, space: AddressSpace, address: Value) -> Value:
        if space != "shared":
            raise Untranslatable(f"HIP does not tell whether an address is in .{space}")
        return call("i1", "__builtin_amdgcn_is_shared", self.pointer("generic", "const void", address))

    # --- the warp ------------------------------------------------------------------------------------------------------------
    def special(self, name: str) -> Value:
        plain = _SPECIAL.get(name)
        if plain is not None:
            return Value("i32", (plain,))
        if name in _SPECIAL_CALLS:
            text, type, need = _SPECIAL_CALLS[name]
            self.needs |= {need} if need else set()
            return Value(type, (text,), UNARY if text.startswith("(") else ATOM)
        raise Untranslatable(f"the special register %{name} has no equal on AMD GPUs")

    def guard(self) -> Value:
        held = self.instruction.guard
        if held is None:
            return self.const("i1", 1)
        value = self.read(held.register, "i1")
        return self.not_(value) if held.negated else value

    def shuffle(self, a: Value, lane: Value) -> Value:
        return call(a.type, "__shfl", a, cast("i32", lane, "int"), "32")

    def ballot(self, predicate: Value) -> Value:
        return self._warp("ballot", predicate)

    def match_any(self, a: Value) -> Value:
        return self._warp("match_any_sync", self._warp("activemask"), a)

    def reduce(self, op: str, a: Value, members: Value) -> Value:
        signed = op in ("min", "max")
        name = f"reduce_{op.removeprefix('u')}_sync"
        return self.unsigned(self._warp(name, members, self.signed(a) if signed else a), signed)

    def _warp(self, name: str, *arguments: Value) -> Value:
        self.needs.add(WARP)
        return call("i32", f"anywarp::{name}", *arguments)

    # --- what has no form --------------------------------------------------------------------------------------------------------
    def matrix(self, product: Product, registers: Sequence[Value]) -> NoReturn:
        raise Untranslatable(
            "matrix instructions of NVIDIA's have no equal", "use rocWMMA, or the MFMA builtins of the compiler"
        )

    def matrix_load(self, space: AddressSpace, address: Value, count: int, *, transposed: bool) -> NoReturn:
        raise Untranslatable(
            "matrix fragments are laid out for NVIDIA's matrix instructions",
            "use rocWMMA's load_matrix_sync, or load by lane",
        )

    def texture(self, form: int, objects: Sequence[Operand], words: Sequence[Value], results: int) -> NoReturn:
        raise Untranslatable("texture instructions are written as functions in HIP", "use tex2D and its like")

    def trap(self) -> None:
        name = "__builtin_debugtrap" if self.instruction.opcode == "brkpt" else "__builtin_trap"
        self.effects.append(call("i32", name))

    def host_call(self, name: str, arguments: Sequence[Value], returns: Type | None) -> None:
        if name != "nanosleep":
            raise Untranslatable(f"the service {name} has no form in HIP")
        self.needs.add(DEVICE)
        self.effects.append(call("i32", "anywarp::nanosleep", *arguments))

    # --- spelling ----------------------------------------------------------------------------------------------------------------
    def _support(self, name: str, type: Type, *arguments: Value) -> Value:
        self.needs.add(ARITHMETIC)
        return call(type, f"anywarp::{name}", *arguments)

    def signed(self, a: Value) -> Value:
        if a.simple and a.raw is not None:
            return Value(a.type, (f"({SIGNED[a.type]})", *a.raw), UNARY)
        return cast(a.type, a, SIGNED[a.type])

    def _view(self, signed: bool, *values: Value) -> tuple[Value, ...]:
        return tuple(self.signed(v) for v in values) if signed else values

    def unsigned(self, value: Value, signed: bool) -> Value:
        return cast(value.type, value) if signed and value.type in SIGNED else value


def _integer(bits: int) -> Type:
    found: dict[int, Type] = {1: "i1", 8: "i8", 16: "i16", 32: "i32", 64: "i64", 128: "i128"}
    return found[bits]


def _stored(type: Type) -> Type:
    """The type by which a value goes to memory: halves as their bits."""
    return "i16" if type in ("f16", "bf16") else type


def _vector(type: Type, count: int) -> str:
    names = {"i8": "uchar", "i16": "ushort", "i32": "uint", "i64": "ulonglong", "f32": "float", "f64": "double"}
    if type not in names or count > 4:
        raise Untranslatable(f"HIP has no vector of {count} such elements")
    return f"{names[type]}{count}"


def _literal(type: Type, bits: int) -> str:
    if type == "i1":
        return "true" if bits else "false"
    if type == "i128" and bits >> 64:
        return f"((unsigned __int128)0x{bits >> 64:x}ull << 64 | 0x{bits & ((1 << 64) - 1):x}ull)"
    if type in ("i8", "i16", "i128"):
        return f"({CPP[type]}){bits}" + ("ull" if bits >> 31 else "")
    if type in ("i32", "i64"):
        suffix = "u" if type == "i32" else "ull"
        return f"{bits}{suffix}" if bits < 4096 else f"0x{bits:x}{suffix}"
    if type == "f32":
        number = struct.unpack("<f", struct.pack("<I", bits))[0]
        return f"{number!r}f" if _plain(number) and bits != 1 << 31 else f"__uint_as_float(0x{bits:08x}u)"
    if type == "f64":
        number = struct.unpack("<d", struct.pack("<Q", bits))[0]
        return repr(number) if _plain(number) and bits != 1 << 63 else f"__longlong_as_double(0x{bits:016x}ll)"
    return f"anywarp::bits_as<{CPP[type]}>((unsigned short)0x{bits:04x})"


def _plain(number: float) -> bool:
    return number == 0 or 1e-5 < abs(number) < 1e6


_BITCASTS: dict[tuple[str, str], str] = {
    ("f32", "i32"): "__float_as_uint", ("i32", "f32"): "__uint_as_float", ("f64", "i64"): "__double_as_longlong",
}  # fmt: skip
_BACK: dict[tuple[str, str], tuple[str, ...]] = {
    ("f32", "i32"): ("__float_as_uint(",), ("i32", "f32"): ("__uint_as_float(",),
    ("f16", "i16"): ("anywarp::bits_as<unsigned short>(",), ("i16", "f16"): ("anywarp::bits_as<_Float16>(",),
}  # fmt: skip
_ORDERS: dict[str, str] = {
    "relaxed": "__ATOMIC_RELAXED", "acquire": "__ATOMIC_ACQUIRE", "release": "__ATOMIC_RELEASE", "acq_rel": "__ATOMIC_ACQ_REL",
    "sc": "__ATOMIC_SEQ_CST",
}  # fmt: skip
_SCOPES: dict[str, str] = {
    "cta": "__HIP_MEMORY_SCOPE_WORKGROUP", "cluster": "__HIP_MEMORY_SCOPE_AGENT", "gpu": "__HIP_MEMORY_SCOPE_AGENT",
    "sys": "__HIP_MEMORY_SCOPE_SYSTEM",
}  # fmt: skip
_ATOMICS: dict[str, str] = {
    "add": "atomicAdd", "fadd": "atomicAdd", "and": "atomicAnd", "or": "atomicOr", "xor": "atomicXor", "exch": "atomicExch",
    "cas": "atomicCAS", "min": "atomicMin", "umin": "atomicMin", "max": "atomicMax", "umax": "atomicMax", "inc": "atomicInc",
    "dec": "atomicDec", "fmin": "atomicMin", "fmax": "atomicMax",
}  # fmt: skip
_FETCHES: dict[str, str] = {
    **{op: f"__hip_atomic_fetch_{name}" for op, name in (
        ("add", "add"), ("fadd", "add"), ("and", "and"), ("or", "or"), ("xor", "xor"), ("min", "min"), ("umin", "min"),
        ("max", "max"), ("umax", "max"),
    )},
    "exch": "__hip_atomic_exchange",
}  # fmt: skip
_SPECIAL: dict[str, str] = {
    f"{ptx}.{axis}": f"{cpp}.{axis}"
    for ptx, cpp in (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"))
    for axis in "xyz"
}
_SPECIAL_CALLS: dict[str, tuple[str, Type, bytes]] = {
    "laneid": ("anywarp::lane_id()", "i32", WARP),
    "warpid": ("anywarp::warp_id()", "i32", WARP),
    "nwarpid": ("anywarp::warps_of_block()", "i32", WARP),
    **{f"lanemask_{which}": (f"anywarp::lanemask_{which}()", "i32", WARP) for which in ("eq", "lt", "le", "gt", "ge")},
    "smid": ("__smid()", "i32", b""),
    "clock": ("(unsigned int)clock64()", "i32", b""),
    "clock_hi": ("(unsigned int)(clock64() >> 32)", "i32", b""),
    "clock64": ("(unsigned long long)clock64()", "i64", b""),
    "globaltimer": ("anywarp::globaltimer()", "i64", DEVICE),
    "globaltimer_lo": ("(unsigned int)anywarp::globaltimer()", "i32", DEVICE),
    "globaltimer_hi": ("(unsigned int)(anywarp::globaltimer() >> 32)", "i32", DEVICE),
}

"""The instruction operations computed with plain whole numbers, one list of 32 bit patterns per value.

Slow and obvious on purpose: it is the yardstick for every other implementation of the same operations. What needs registers,
memory or the machine around a warp is left to the subclass that interprets kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anywarp.devices.reference import elementary, matrix
from anywarp.devices.reference import softfloat as sf
from anywarp.ptx.isa.matrix_forms import Product
from anywarp.ptx.isa.ops import BITS, AddressSpace, Approximation, AtomicOp, Order, Rounding, Scope, Type
from anywarp.ptx.tree import Operand

LANES = 32
UNDEFINED = 0xDEADBEEFCAFEF00D5555AAAA0BADF00D
"""What an undefined lane reads as: recognisable, so that use of it shows."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A value: its type and the bits of each lane."""

    type: Type
    lanes: tuple[int, ...]

    def signed(self) -> list[int]:
        """The lanes as two's complement numbers."""
        top = 1 << (BITS[self.type] - 1)
        return [(x ^ top) - top for x in self.lanes]


def plain(type: Type, lanes: Sequence[int]) -> Plain:
    """Make a value, wrapping each lane to the width of `type`."""
    mask = (1 << BITS[type]) - 1
    return Plain(type, tuple(x & mask for x in lanes))


def undefined(type: Type) -> int:
    """The bits that stand for an undefined value of `type`."""
    return UNDEFINED & ((1 << BITS[type]) - 1)


def _map1(type: Type, f: Callable[[int], int], a: Plain) -> Plain:
    return plain(type, [f(x) for x in a.lanes])


def _map2(type: Type, f: Callable[[int, int], int], a: Plain, b: Plain) -> Plain:
    return plain(type, [f(x, y) for x, y in zip(a.lanes, b.lanes, strict=True)])


def _map3(type: Type, f: Callable[[int, int, int], int], a: Plain, b: Plain, c: Plain) -> Plain:
    return plain(type, [f(x, y, z) for x, y, z in zip(a.lanes, b.lanes, c.lanes, strict=True)])


def _numbers(a: Plain, signed: bool) -> Sequence[int]:
    return a.signed() if signed else a.lanes


def _quotient(a: int, b: int) -> int:
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int:
    return a if b == 0 else a - b * _quotient(a, b)


_INTEGER: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}

_ORDERED: dict[str, tuple[int, ...]] = {
    "eq": (0,), "ne": (-1, 1), "lt": (-1,), "le": (-1, 0), "gt": (1,), "ge": (0, 1), "rd": (-1, 0, 1), "no": (),
}  # fmt: skip

_FOLD: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "min": min,
    "max": max,
}


class PlainOps(ABC):
    """The pure and warp operations of `anywarp.ptx.isa.ops.Ops` over `Plain` values.

    `active` is the mask of lanes that are at the instruction; `guarded` those whose guard predicate holds.
    """

    def __init__(self) -> None:
        self.active = (1 << LANES) - 1
        self.guarded = (1 << LANES) - 1

    @property
    def executing(self) -> int:
        """Mask of the lanes that run the instruction: active and guarded on."""
        return self.active & self.guarded

    # --- constants and integers ------------------------------------------------------------------------------------
    def const(self, type: Type, bits: int) -> Plain:
        return plain(type, [bits] * LANES)

    def add(self, a: Plain, b: Plain) -> Plain:
        return _map2(a.type, lambda x, y: x + y, a, b)

    def sub(self, a: Plain, b: Plain) -> Plain:
        return _map2(a.type, lambda x, y: x - y, a, b)

    def mul(self, a: Plain, b: Plain) -> Plain:
        return _map2(a.type, lambda x, y: x * y, a, b)

    def mulhi(self, a: Plain, b: Plain, signed: bool) -> Plain:
        width = BITS[a.type]
        pairs = zip(_numbers(a, signed), _numbers(b, signed), strict=True)
        return plain(a.type, [(x * y) >> width for x, y in pairs])

    def dot4(self, a: Plain, b: Plain, c: Plain, signed: tuple[bool, bool]) -> Plain:
        def bytes_of(x: int, signed: bool) -> list[int]:
            return [int.from_bytes([part], "little", signed=signed) for part in x.to_bytes(4, "little")]

        def sum_of(x: int, y: int, z: int) -> int:
            return z + sum(p * q for p, q in zip(bytes_of(x, signed[0]), bytes_of(y, signed[1]), strict=True))

        return _map3("i32", sum_of, a, b, c)

    def div(self, a: Plain, b: Plain, signed: bool) -> Plain:
        pairs = zip(_numbers(a, signed), _numbers(b, signed), strict=True)
        return plain(a.type, [_quotient(x, y) for x, y in pairs])

    def rem(self, a: Plain, b: Plain, signed: bool) -> Plain:
        pairs = zip(_numbers(a, signed), _numbers(b, signed), strict=True)
        return plain(a.type, [_remainder(x, y) for x, y in pairs])

    def and_(self, a: Plain, b: Plain) -> Plain:
        return _map2(a.type, lambda x, y: x & y, a, b)

    def or_(self, a: Plain, b: Plain) -> Plain:
        return _map2(a.type, lambda x, y: x | y, a, b)

    def xor(self, a: Plain, b: Plain) -> Plain:
        return _map2(a.type, lambda x, y: x ^ y, a, b)

    def not_(self, a: Plain) -> Plain:
        return _map1(a.type, lambda x: ~x, a)

    def shl(self, a: Plain, amount: Plain) -> Plain:
        width = BITS[a.type]
        return _map2(a.type, lambda x, n: x << n if n < width else 0, a, amount)

    def lshr(self, a: Plain, amount: Plain) -> Plain:
        width = BITS[a.type]
        return _map2(a.type, lambda x, n: x >> n if n < width else 0, a, amount)

    def ashr(self, a: Plain, amount: Plain) -> Plain:
        last = BITS[a.type] - 1
        return plain(a.type, [x >> min(n, last) for x, n in zip(a.signed(), amount.lanes, strict=True)])

    def min(self, a: Plain, b: Plain, signed: bool) -> Plain:
        return plain(a.type, [min(p) for p in zip(_numbers(a, signed), _numbers(b, signed), strict=True)])

    def max(self, a: Plain, b: Plain, signed: bool) -> Plain:
        return plain(a.type, [max(p) for p in zip(_numbers(a, signed), _numbers(b, signed), strict=True)])

    def ctpop(self, a: Plain) -> Plain:
        return _map1(a.type, lambda x: bin(x).count("1"), a)

    def ctlz(self, a: Plain) -> Plain:
        width = BITS[a.type]
        return _map1(a.type, lambda x: width - x.bit_length(), a)

    def cttz(self, a: Plain) -> Plain:
        width = BITS[a.type]
        return _map1(a.type, lambda x: (x & -x).bit_length() - 1 if x else width, a)

    def bitreverse(self, a: Plain) -> Plain:
        width = BITS[a.type]
        return _map1(a.type, lambda x: int(f"{x:0{width}b}"[::-1], 2), a)

    def icmp(self, predicate: str, a: Plain, b: Plain) -> Plain:
        signed = predicate[0] == "s"
        holds = _INTEGER[predicate[-2:]]
        pairs = zip(_numbers(a, signed), _numbers(b, signed), strict=True)
        return plain("i1", [int(holds(x, y)) for x, y in pairs])

    def select(self, condition: Plain, a: Plain, b: Plain) -> Plain:
        return _map3(a.type, lambda c, x, y: x if c else y, condition, a, b)

    def trunc(self, a: Plain, type: Type) -> Plain:
        return plain(type, a.lanes)

    def zext(self, a: Plain, type: Type) -> Plain:
        return plain(type, a.lanes)

    def sext(self, a: Plain, type: Type) -> Plain:
        return plain(type, a.signed())

    def bitcast(self, a: Plain, type: Type) -> Plain:
        assert BITS[a.type] == BITS[type], (a.type, type)
        return Plain(type, a.lanes)

    # --- floating point --------------------------------------------------------------------------------------------
    def fadd(self, a: Plain, b: Plain, rounding: Rounding = "rn") -> Plain:
        f = sf.FORMATS[a.type]
        return _map2(a.type, lambda x, y: sf.add(f, x, y, rounding), a, b)

    def fsub(self, a: Plain, b: Plain, rounding: Rounding = "rn") -> Plain:
        f = sf.FORMATS[a.type]
        return _map2(a.type, lambda x, y: sf.add(f, x, y ^ f.sign, rounding), a, b)

    def fmul(self, a: Plain, b: Plain, rounding: Rounding = "rn") -> Plain:
        f = sf.FORMATS[a.type]
        return _map2(a.type, lambda x, y: sf.multiply(f, x, y, rounding), a, b)

    def fma(self, a: Plain, b: Plain, c: Plain, rounding: Rounding = "rn") -> Plain:
        f = sf.FORMATS[a.type]
        return _map3(a.type, lambda x, y, z: sf.fused(f, x, y, z, rounding), a, b, c)

    def fdiv(self, a: Plain, b: Plain, rounding: Rounding = "rn") -> Plain:
        f = sf.FORMATS[a.type]
        return _map2(a.type, lambda x, y: sf.divide(f, x, y, rounding), a, b)

    def fsqrt(self, a: Plain, rounding: Rounding = "rn") -> Plain:
        f = sf.FORMATS[a.type]
        return _map1(a.type, lambda x: sf.root(f, x, rounding), a)

    def fneg(self, a: Plain) -> Plain:
        return _map1(a.type, lambda x: x ^ sf.FORMATS[a.type].sign, a)

    def fabs(self, a: Plain) -> Plain:
        return _map1(a.type, lambda x: x & ~sf.FORMATS[a.type].sign, a)

    def fmin(self, a: Plain, b: Plain) -> Plain:
        return _map2(a.type, lambda x, y: sf.minimum(sf.FORMATS[a.type], x, y), a, b)

    def fmax(self, a: Plain, b: Plain) -> Plain:
        return _map2(a.type, lambda x, y: sf.maximum(sf.FORMATS[a.type], x, y), a, b)

    def fcmp(self, predicate: str, a: Plain, b: Plain) -> Plain:
        f = sf.FORMATS[a.type]
        unordered = int(predicate[0] == "u")
        true_for = _ORDERED[predicate[1:]]

        def holds(x: int, y: int) -> int:
            c = sf.compare(f, x, y)
            return unordered if c is None else int(c in true_for)

        return _map2("i1", holds, a, b)

    def fround(self, a: Plain, rounding: Rounding) -> Plain:
        return _map1(a.type, lambda x: sf.to_integral(sf.FORMATS[a.type], x, rounding), a)

    def flush(self, a: Plain) -> Plain:
        f = sf.FORMATS[a.type]
        return _map1(a.type, lambda x: x & f.sign if sf.is_subnormal(f, x) else x, a)

    def fconvert(self, a: Plain, type: Type, rounding: Rounding = "rn") -> Plain:
        source, target = sf.FORMATS[a.type], sf.FORMATS[type]
        return _map1(type, lambda x: sf.convert(source, target, x, rounding), a)

    def int_to_float(self, a: Plain, type: Type, signed: bool, rounding: Rounding = "rn") -> Plain:
        return plain(type, [sf.from_integer(sf.FORMATS[type], x, rounding) for x in _numbers(a, signed)])

    def float_to_int(self, a: Plain, type: Type, signed: bool, rounding: Rounding) -> Plain:
        width = BITS[type]
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
        return _map1(type, lambda x: sf.to_integer(sf.FORMATS[a.type], x, low, high, rounding), a)

    def approximate(self, function: Approximation, a: Plain) -> Plain:
        return _map1(a.type, lambda x: elementary.evaluate(function, sf.FORMATS[a.type], x), a)

    # --- the warp --------------------------------------------------------------------------------------------------
    def guard(self) -> Plain:
        return plain("i1", [self.guarded >> lane & 1 for lane in range(LANES)])

    def shuffle(self, a: Plain, lane: Plain) -> Plain:
        on = self.executing
        return plain(a.type, [a.lanes[s & 31] if on >> (s & 31) & 1 else undefined(a.type) for s in lane.lanes])

    def ballot(self, predicate: Plain) -> Plain:
        mask = sum(bit << lane for lane, bit in enumerate(predicate.lanes))
        return plain("i32", [mask & self.executing] * LANES)

    def match_any(self, a: Plain) -> Plain:
        on = [lane for lane in range(LANES) if self.executing >> lane & 1]
        return plain("i32", [sum(1 << o for o in on if a.lanes[o] == x) for x in a.lanes])

    def reduce(self, op: str, a: Plain, members: Plain) -> Plain:
        numbers = _numbers(a, signed=op in ("min", "max"))
        fold = _FOLD[op.lstrip("u")]

        def over(mask: int) -> int:
            chosen = [numbers[lane] for lane in range(LANES) if mask & self.executing & (1 << lane)]
            if not chosen:
                return undefined(a.type)
            total = chosen[0]
            for x in chosen[1:]:
                total = fold(total, x)
            return total

        return plain(a.type, [over(mask) for mask in members.lanes])

    # --- matrices --------------------------------------------------------------------------------------------------
    def matrix(self, product: Product, registers: Sequence[Plain]) -> Sequence[Plain]:
        found = matrix.multiply(product, [r.lanes for r in registers])
        type: Type = "f32" if product.d == "f32" else "f64" if product.d == "f64" else "i32"
        return [plain(type, lanes) for lanes in found]

    def matrix_load(self, space: AddressSpace, address: Plain, count: int, *, transposed: bool) -> Sequence[Plain]:
        out: list[Plain] = []
        for j in range(count):
            halves: list[Plain] = []
            for half in (0, 1):
                places = [
                    (2 * (n % 4) + half, n // 4) if transposed else (n // 4, 2 * (n % 4) + half) for n in range(LANES)
                ]
                starts = plain(address.type, [address.lanes[8 * j + row] + 2 * column for row, column in places])
                halves.append(self.load(space, "i16", starts)[0])
            out.append(plain("i32", [low | high << 16 for low, high in zip(*(h.lanes for h in halves), strict=True)]))
        return out

    # --- left to the machine around the warp --------------------------------------------------------------------------
    @abstractmethod
    def read(self, operand: Operand, type: Type) -> Plain: ...
    @abstractmethod
    def write(self, operand: Operand, value: Plain) -> None: ...
    @abstractmethod
    def write_signed(self, operand: Operand, value: Plain) -> None: ...
    @abstractmethod
    def load(
        self, space: AddressSpace, type: Type, address: Plain, count: int = 1, *, volatile: bool = False,
        order: Order = "weak", scope: Scope = "sys",
    ) -> Sequence[Plain]: ...  # fmt: skip
    @abstractmethod
    def store(
        self, space: AddressSpace, address: Plain, values: Sequence[Plain], *, volatile: bool = False,
        order: Order = "weak", scope: Scope = "sys",
    ) -> None: ...  # fmt: skip
    @abstractmethod
    def atomic(
        self, op: AtomicOp, space: AddressSpace, address: Plain, values: Sequence[Plain], *,
        order: Order = "relaxed", scope: Scope = "gpu", returns: bool = True,
    ) -> Plain | None: ...  # fmt: skip
    @abstractmethod
    def fence(self, order: Order, scope: Scope) -> None: ...
    @abstractmethod
    def address_of(self, name: str, offset: int = 0) -> Plain: ...
    @abstractmethod
    def element_size(self, name: str) -> int: ...
    @abstractmethod
    def space_of(self, name: str) -> AddressSpace: ...
    @abstractmethod
    def to_generic(self, space: AddressSpace, address: Plain) -> Plain: ...
    @abstractmethod
    def from_generic(self, space: AddressSpace, address: Plain) -> Plain: ...
    @abstractmethod
    def is_space(self, space: AddressSpace, address: Plain) -> Plain: ...
    @abstractmethod
    def special(self, name: str) -> Plain: ...
    @abstractmethod
    def trap(self) -> None: ...
    @abstractmethod
    def host_call(self, name: str, arguments: Sequence[Plain], returns: Type | None) -> Plain | None: ...

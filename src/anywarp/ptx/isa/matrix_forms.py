"""What a matrix product of one warp is: shapes, element types, and which lane holds which element in which register.

The layouts follow the index formulas of the manual (section 9.7.15.5), written once for every target; those of `wmma`, which
the manual leaves open, are chosen so that a register holds whole rows of the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

WIDTH: dict[str, int] = {
    "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "u8": 8, "s8": 8, "u4": 4, "s4": 4, "b1": 1,
    "e4m3": 8, "e5m2": 8,
}  # fmt: skip
"""Bits of an element in a fragment."""

WARP = 32
Layout: TypeAlias = Literal["mma", "quad", "wmma"]
Place: TypeAlias = "tuple[int, int, int]"
"""Where an element is: register of the fragment, lane, position among the elements of the register (0: lowest bits)."""


@dataclass(frozen=True, slots=True)
class Product:
    """D = A B + C by one warp, A of `m` x `k`, B of `k` x `n`.

    `a`, `b`, `d`, `c` are the PTX types of the elements. `layout` says how fragments lie: "mma" (all shapes but m8n8k4 of f16),
    "quad" (that one: four products, one per quad pair, with A and B in `a_order` and `b_order`), "wmma". `combine` is what
    stands in for multiplication: "mul", or "and" | "xor" of bits that are then counted. `saturate` clamps integer sums.
    `sparse` is the number of adjacent elements of A of which half are given (0: all are); `selector` says which lanes of
    each four hold the indices of those.
    """

    m: int
    n: int
    k: int
    a: str
    b: str
    d: str
    c: str
    layout: Layout = "mma"
    a_order: str = "row"
    b_order: str = "col"
    combine: str = "mul"
    saturate: bool = False
    sparse: int = 0
    selector: int = 0

    @property
    def products(self) -> int:
        """How many products the warp computes at once."""
        return 4 if self.layout == "quad" else 1

    @property
    def stored_k(self) -> int:
        """Columns of A that its fragments hold."""
        return self.k // 2 if self.sparse else self.k

    @property
    def integer(self) -> bool:
        """Whether sums are whole numbers."""
        return self.d == "s32"

    def kind(self, which: str) -> str:
        """Return the element type of fragment "a", "b", "c" or "d"."""
        return {"a": self.a, "b": self.b, "c": self.c, "d": self.d}[which]

    def distinct(self, which: str) -> int:
        """Registers of a lane that hold fragment `which`."""
        kind = self.kind(which)
        size = {"a": self.m * self.stored_k, "b": self.k * self.n}.get(which, self.m * self.n)
        return self.products * size * WIDTH[kind] // (WARP * register_bits(kind))

    def registers(self, which: str) -> int:
        """Registers of a lane that stand for fragment `which`: those of f16 in `wmma` are eight for every shape."""
        if self.layout == "wmma" and which in ("a", "b") and self.kind(which) == "f16":
            return 8
        return self.distinct(which)


def register_bits(kind: str) -> int:
    """Width of the registers that hold elements of a type."""
    return 64 if kind == "f64" else 32


def per_register(kind: str) -> int:
    """How many elements of a type a register holds."""
    return register_bits(kind) // WIDTH[kind]


# --- where elements are ---------------------------------------------------------------------------------------------------


def place_a(p: Product, which: int, row: int, k: int) -> Place:
    """Where element (row, k) of the stored A of product `which` is."""
    if p.layout == "quad":
        along, across = (k, row) if p.a_order == "row" else (row % 4, k + row // 4 * 4)
        return along // 2, _quad_lane(which, across % 4, across // 4), along % 2
    unit, part = divmod(k, per_register(p.a))
    if p.layout == "wmma":
        register, lane = divmod(row * (p.k // per_register(p.a)) + unit, WARP)
        return register, lane, part
    span, place = divmod(unit, 4)
    half, group = divmod(row, 8)
    return half + span * (p.m // 8), 4 * group + place, part


def place_b(p: Product, which: int, k: int, column: int) -> Place:
    """Where element (k, column) of B of product `which` is."""
    if p.layout == "quad":
        along, across = (k, column) if p.b_order == "col" else (column % 4, k + column // 4 * 4)
        return along // 2, _quad_lane(which, across % 4, across // 4), along % 2
    unit, part = divmod(k, per_register(p.b))
    if p.layout == "wmma":
        register, lane = divmod(unit * p.n + column, WARP)
        return register, lane, part
    span, place = divmod(unit, 4)
    return span, 4 * column + place, part


def element(p: Product, kind: str, register: int, lane: int, part: int) -> tuple[int, int, int]:
    """Return (product, row, column) of what a lane holds of C or D, whose elements are of type `kind`."""
    packed = per_register(kind)
    i = packed * register + part
    if p.layout == "wmma":
        row, column = divmod(packed * (WARP * register + lane) + part, p.n)
        return 0, row, column
    if p.layout == "quad":
        which, upper = lane % 16 // 4, 4 * (lane // 16)
        if kind == "f16":
            return which, lane % 4 + upper, i
        return which, (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)
    return 0, lane // 4 + 8 * (i // 2), 2 * (lane % 4) + i % 2


def _quad_lane(which: int, place: int, upper: int) -> int:
    return 4 * which + place + 16 * upper


# --- sparse A -------------------------------------------------------------------------------------------------------------


def pair(kind: str) -> int:
    """How many adjacent stored elements share one index: those of 4 bits come in pairs."""
    return 2 if WIDTH[kind] == 4 else 1


def metadata_place(p: Product, row: int, index: int) -> tuple[int, int]:
    """Where the index number `index` of a row is: lane, lowest of its two bits.

    A lane serves 16 bits of its row and of the one 8 further on. Where that leaves lanes over, `selector` names those that
    count. The indices of tf32 are four bits, two for each half of the element: only the upper two matter.
    """
    bits = 4 if p.a == "tf32" else 2
    per_row = p.stored_k // pair(p.a) * bits
    lane, shift = divmod(bits * index, 16)
    first = p.selector * (per_row // 16)
    return 4 * (row % 8) + first + lane, 16 * (row // 8) + shift + (2 if p.a == "tf32" else 0)


def column_of(p: Product, k: int, index: int) -> int:
    """Return the column of A that stored column `k` stands for, given its index (two bits)."""
    share = pair(p.a)
    if p.a == "tf32":
        return 2 * k + (index >> 1)
    chunk = k // (p.sparse // 2)
    return chunk * p.sparse + share * index + k % share

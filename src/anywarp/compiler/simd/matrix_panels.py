"""Fragments made ready once for several products: A and B as f32, each vector where a product wants it.

A tile of a real kernel multiplies each fragment of A with many of B. What a product would rearrange and widen each time is then
done once and lies in memory, and the product is left with multiply-adds alone, at the processor's full rate. Measured on a
Xeon of 2023: `vdpbf16ps` runs at a quarter of the rate of `vfmadd231ps` and does twice the work, so bf16 gains too.
"""

from __future__ import annotations

from functools import cache

from anywarp.compiler.simd.known import Machine
from anywarp.compiler.simd.matrix_product import (
    Body,
    Frame,
    kinds_of,
    load_registers,
    store_result,
    write_function,
)
from anywarp.compiler.simd.text import vector_type
from anywarp.ptx.isa.matrix_forms import Place, Product, place_a, place_b

Entry = tuple[Place, ...]
"""The places of the elements that stand in the lanes of one vector."""

_KINDS = frozenset({"f16", "bf16", "tf32", "e4m3", "e5m2"})
_NARROW = 4
"""Lanes after which B's vectors repeat themselves: one for each pair of columns."""


def suits(p: Product) -> bool:
    """Tell whether a product can be computed from prepared fragments."""
    return p.layout == "mma" and not p.sparse and {p.a, p.b} <= _KINDS


@cache
def entries(p: Product, machine: Machine, side: str) -> list[Entry]:
    """Return the distinct vectors of A or B (four lanes each of B) in the order in which they lie."""
    where = Body(p, machine).where().values()
    found: dict[Entry, None] = {}
    for k in range(p.k):
        for places in where:
            if side == "a":
                found[tuple(place_a(p, w, row, k) for w, row, _ in places)] = None
            else:
                found[tuple(place_b(p, w, k, column) for w, _, column in places)[:_NARROW]] = None
    # of one register's same part next to each other: their elements come from one pair of vectors
    return sorted(found, key=lambda e: (e[0][0], e[0][2], e)) if side == "b" else list(found)


def panel_bytes(p: Product, machine: Machine, side: str) -> int:
    """Return the size of a prepared fragment."""
    lanes = machine.chunk if side == "a" else _NARROW
    return 4 * lanes * len(entries(p, machine, side))


def write_preparation(p: Product, frame: Frame, side: str, name: str) -> tuple[str, dict[str, str]]:
    """Return the text of a function that takes pointers to a warp's registers of A (B), and one to where they go prepared."""
    body, machine = Body(p, frame.machine), frame.machine
    t, n = body.t, machine.chunk
    first = 0 if side == "a" else p.distinct("a")
    registers = list(range(first, first + p.distinct(side)))
    found = entries(p, machine, side)
    step = 1 if side == "a" else n // _NARROW
    type = vector_type("float", n)
    for i in range(0, len(found), step):
        vector = body.elements(side, [place for entry in found[i : i + step] for place in entry])
        place = t.let(f"getelementptr {type}, ptr %d, i64 {i // step}")
        t.do(f"store {type} {vector}, ptr {place}")
    arguments = [f"ptr readonly %r{r}" for r in registers] + ["ptr noalias %d"]
    lines = [*load_registers(p, frame, registers), *t.lines]
    return write_function(name, arguments, lines, machine), t.declarations


def write_prepared_product(p: Product, frame: Frame, name: str) -> tuple[str, dict[str, str]]:
    """Return the text of a function that takes pointers to prepared A and B, to C's registers, and to where D goes."""
    body = _Prepared(p, frame.machine)
    first = p.distinct("a") + p.distinct("b")
    registers = list(range(first, len(kinds_of(p))))
    loads, stores = load_registers(p, frame, registers), store_result(p, frame, body)
    arguments = ["ptr readonly %a", "ptr readonly %b", *(f"ptr readonly %r{r}" for r in registers), "ptr %d"]
    return write_function(name, arguments, [*loads, *body.t.lines, *stores], frame.machine), body.t.declarations


class _Prepared(Body):
    """A product whose vectors of A and B are loaded."""

    def sums(
        self, where: dict[tuple[int, int, int], list[tuple[int, int, int]]], sums: dict[tuple[int, int, int], str]
    ) -> dict[tuple[int, int, int], str]:
        """Add the products to the vectors of sums."""
        p, machine = self.p, self.machine
        index = {side: {e: i for i, e in enumerate(entries(p, machine, side))} for side in "ab"}
        known: dict[tuple[str, Entry], str] = {}
        for k in range(p.k):
            for key, places in where.items():
                a = tuple(place_a(p, w, row, k) for w, row, _ in places)
                b = tuple(place_b(p, w, k, column) for w, _, column in places)
                for side, entry in (("a", a), ("b", b)):
                    if (side, entry) not in known:
                        known[side, entry] = self._load(side, index[side][entry if side == "a" else entry[:_NARROW]])
                sums[key] = self.step(sums[key], known["a", a], known["b", b])
        return sums

    def _load(self, side: str, number: int) -> str:
        t, n = self.t, self.n
        type = vector_type("float", n)
        if side == "a":
            return t.let(f"load {type}, ptr {t.let(f'getelementptr {type}, ptr %a, i64 {number}')}")
        part = vector_type("float", _NARROW)
        four = t.let(f"load {part}, ptr {t.let(f'getelementptr {part}, ptr %b, i64 {number}')}")
        index = ", ".join(f"i32 {i % _NARROW}" for i in range(n))
        return t.let(f"shufflevector {part} {four}, {part} poison, <{n} x i32> <{index}>")

"""Fragments made ready once for several products: A and B as f32, each vector where a product wants it.

A tile of a real kernel multiplies each fragment of A with many of B. What a product would rearrange and widen each time is then
done once and lies in memory, and the product is left with multiply-adds alone, at the processor's full rate.

bf16 stays as it is, in pairs, where `vdpbf16ps` is as quick as `vfmadd231ps` (Zen 4: a product takes 2.9 times as long as by oneDNN with f32, 1.7 times with pairs). On a Xeon
of 2023 it runs at a quarter of that rate and does twice the work, so there bf16 gains by becoming f32, too.

Bytes stay as they are, in fours, where there is `vpdpbusd`. It multiplies unsigned by signed bytes: signed ones of A are moved by 128, and 128 times
the sum of each column of B, which is made ready with B, is taken off again.
"""

from __future__ import annotations

from functools import cache

from anywarp.compiler.simd.integers import HIGH_BITS
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
from anywarp.ptx.isa.matrix_forms import Place, Product, per_register, place_a, place_b

Entry = tuple[Place, ...]
"""The places of the elements that stand in the lanes of one vector."""

_KINDS = frozenset({"f16", "bf16", "tf32", "e4m3", "e5m2"})
_BYTES = frozenset({("s8", "s8"), ("s8", "u8"), ("u8", "s8")})
_NARROW = 4
"""Lanes after which B's vectors repeat themselves: one for each pair of columns."""


def suits(p: Product, machine: Machine) -> bool:
    """Tell whether a product can be computed from prepared fragments."""
    bytes = machine.vnni and (p.a, p.b) in _BYTES
    return p.layout == "mma" and not p.sparse and (bytes or {p.a, p.b} <= _KINDS)


def _whole(p: Product, machine: Machine) -> bool:
    """Tell whether prepared fragments hold registers of several elements as they are, for sums of several products at once."""
    return p.integer or ({p.a, p.b} == {"bf16"} and machine.quick_bf16)


def _moved(p: Product) -> bool:
    return (p.a, p.b) == ("s8", "s8")


def _each(p: Product, machine: Machine) -> tuple[str, int]:
    """Return the LLVM type in the lanes of prepared vectors, and how many steps along k one stands for."""
    return ("i32", per_register(p.a)) if _whole(p, machine) else ("float", 1)


@cache
def entries(p: Product, machine: Machine, side: str) -> list[Entry]:
    """Return the distinct vectors of A or B (four lanes each of B) in the order in which they lie."""
    where = Body(p, machine).where().values()
    found: dict[Entry, None] = {}
    for k in range(0, p.k, _each(p, machine)[1]):
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
    excess = 4 * machine.chunk if side == "b" and _moved(p) else 0
    return 4 * lanes * len(entries(p, machine, side)) + excess


def _columns(p: Product, machine: Machine) -> list[tuple[int, ...]]:
    """Return the distinct columns of four neighbouring lanes of sums, the least first: each twice side by side fills a vector or less."""
    where = Body(p, machine).where().values()
    return sorted({tuple(column for _, _, column in places[:_NARROW]) for places in where})


def _excess(p: Product, body: Body) -> str:
    """Return what is to be added for the moving of A: -128 times the sums of B's columns, four lanes after the other."""
    t, columns = body.t, [column for four in _columns(p, body.machine) for column in four]
    type, total = vector_type("i32", body.n), "zeroinitializer"
    columns += columns[:1] * (body.n - len(columns))
    for k in range(0, p.k, per_register(p.b)):
        places = [place_b(p, 0, k, column) for column in columns]
        each = body.spread("i32", [body.at(body.fragments["b"][r], lane) for r, lane, _ in places])
        total = body.dot_bytes(total, HIGH_BITS, each)
    return t.two("sub", type, "zeroinitializer", total)


def write_preparation(p: Product, frame: Frame, side: str, name: str) -> tuple[str, dict[str, str]]:
    """Return the text of a function that takes pointers to a warp's registers of A (B), and one to where they go prepared."""
    body, machine = Body(p, frame.machine), frame.machine
    t, n = body.t, machine.chunk
    first = 0 if side == "a" else p.distinct("a")
    registers = list(range(first, first + p.distinct(side)))
    found = entries(p, machine, side)
    step = 1 if side == "a" else n // _NARROW
    scalar, _ = _each(p, machine)
    type = vector_type(scalar, n)
    for i in range(0, len(found), step):
        places = [place for entry in found[i : i + step] for place in entry]
        if _whole(p, machine):
            vector = body.spread(scalar, [body.at(body.fragments[side][r], lane) for r, lane, _ in places])
            if side == "a" and _moved(p):
                vector = t.two("xor", type, vector, HIGH_BITS)
        else:
            vector = body.elements(side, places)
        place = t.let(f"getelementptr {type}, ptr %d, i64 {i // step}")
        t.do(f"store {type} {vector}, ptr {place}")
    if side == "b" and _moved(p):
        place = t.let(f"getelementptr {type}, ptr %d, i64 {len(found) // step}")
        t.do(f"store {type} {_excess(p, body)}, ptr {place}")
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
        scalar, each = _each(p, machine)
        step = self._dot if _whole(p, machine) else self.step
        if _moved(p):
            sums = self._without_excess(where, sums, len(index["b"]))
        for k in range(0, p.k, each):
            for key, places in where.items():
                a = tuple(place_a(p, w, row, k) for w, row, _ in places)
                b = tuple(place_b(p, w, k, column) for w, _, column in places)
                for side, entry in (("a", a), ("b", b)):
                    if (side, entry) not in known:
                        number = index[side][entry if side == "a" else entry[:_NARROW]]
                        known[side, entry] = self._load(side, number, scalar)
                sums[key] = step(sums[key], known["a", a], known["b", b])
        return sums

    def _dot(self, total: str, a: str, b: str) -> str:
        if not self.p.integer:
            return self.dot_bf16(total, a, b)
        return self.dot_bytes(total, b, a) if (self.p.a, self.p.b) == ("s8", "u8") else self.dot_bytes(total, a, b)

    def _without_excess(
        self,
        where: dict[tuple[int, int, int], list[tuple[int, int, int]]],
        sums: dict[tuple[int, int, int], str],
        first: int,
    ) -> dict[tuple[int, int, int], str]:
        columns = _columns(self.p, self.machine)
        type = vector_type("i32", self.n)
        known = {four: self._load("b", first + i, "i32") for i, four in enumerate(columns)}
        fours = {key: tuple(column for _, _, column in places[:_NARROW]) for key, places in where.items()}
        return {key: self.t.two("add", type, x, known[fours[key]]) for key, x in sums.items()}

    def _load(self, side: str, number: int, scalar: str) -> str:
        t, n = self.t, self.n
        type = vector_type(scalar, n)
        if side == "a":
            return t.let(f"load {type}, ptr {t.let(f'getelementptr {type}, ptr %a, i64 {number}')}")
        part = vector_type(scalar, _NARROW)
        four = t.let(f"load {part}, ptr {t.let(f'getelementptr {part}, ptr %b, i64 {number}')}")
        return t.shuffle(part, four, [i % _NARROW for i in range(n)])

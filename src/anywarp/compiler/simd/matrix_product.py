"""A matrix product of one warp as one LLVM function, however many of its kind a kernel has.

Each vector of sums needs, for each step along k, what stands in its lanes' rows of A and columns of B: constant rearrangements
of the fragments' registers, which are shared between the sums and kept out of the kernel's own code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from anywarp.compiler.attributes import Rounded
from anywarp.compiler.ir import Op, Undefined
from anywarp.compiler.simd.floats import Floats
from anywarp.compiler.simd.integers import HIGH_BITS, dot_bytes, dot_half_words, half_words
from anywarp.compiler.simd.known import Machine
from anywarp.compiler.simd.text import Text, splat, vector_type
from anywarp.ptx.isa.matrix_forms import (
    WARP,
    WIDTH,
    Place,
    Product,
    column_of,
    element,
    metadata_place,
    per_register,
    place_a,
    place_b,
)
from anywarp.ptx.isa.ops import Type

Chunks: TypeAlias = "list[str]"
Step: TypeAlias = Callable[[str, str, str], str]
Source: TypeAlias = "tuple[str, int]"
"""A vector and one of its lanes."""


def llvm_register(kind: str, n: int) -> str:
    """Return the LLVM type of `n` lanes of such a register."""
    return vector_type({"f32": "float", "f64": "double"}.get(kind, "i32"), n)


@dataclass(frozen=True, slots=True)
class Frame:
    """How values lie: for a machine, with `chunks` chunks to a register of all lanes of a gang."""

    machine: Machine
    chunks: int

    @property
    def per_warp(self) -> int:
        """Chunks that hold one warp's lanes."""
        return WARP // self.machine.chunk


def write_product(p: Product, frame: Frame, name: str) -> tuple[str, dict[str, str]]:
    """Return the text of the function of a product and the declarations that it needs.

    It takes a pointer to the warp's chunks of each register of A, B, C (and the indices of a sparse A), and one to where the
    first register of D goes; the others follow `frame.chunks` chunks apart.
    """
    body = Body(p, frame.machine)
    registers = list(range(len(kinds_of(p))))
    loads, stores = load_registers(p, frame, registers), store_result(p, frame, body)
    arguments = [f"ptr readonly %r{r}" for r in registers] + ["ptr %d"]
    return write_function(name, arguments, [*loads, *body.t.lines, *stores], frame.machine), body.t.declarations


def kinds_of(p: Product) -> list[str]:
    """Return the types of the elements in the registers of A, B, C and, of a sparse product, the indices."""
    return [kind for which in "abc" for kind in [p.kind(which)] * p.distinct(which)] + ["b32"] * int(p.sparse > 0)


def load_registers(p: Product, frame: Frame, registers: Sequence[int]) -> list[str]:
    """Return the lines that load registers, by number, from where %r0, %r1 ... point."""
    kinds, n, lines = kinds_of(p), frame.machine.chunk, list[str]()
    for r in registers:
        type = llvm_register(kinds[r], n)
        for c in range(frame.per_warp):
            lines.append(f"  %at.{r}.{c} = getelementptr {type}, ptr %r{r}, i64 {c}")
            lines.append(f"  %p{r * frame.per_warp + c} = load {type}, ptr %at.{r}.{c}")
    return lines


def store_result(p: Product, frame: Frame, body: Body) -> list[str]:
    """Write `body` and return the lines that store D behind %d."""
    type, lines = llvm_register(p.d, frame.machine.chunk), list[str]()
    for i, out in enumerate(body.write()):
        register, chunk = divmod(i, frame.per_warp)
        lines.append(f"  %to.{i} = getelementptr {type}, ptr %d, i64 {register * frame.chunks + chunk}")
        lines.append(f"  store {type} {out}, ptr %to.{i}")
    return lines


Steps: TypeAlias = "tuple[int, ...] | None"
"""Where rows lie, in bytes from the first; None: anywhere."""


def write_loader(count: int, transposed: bool, steps: Steps, frame: Frame, name: str) -> tuple[str, dict[str, str]]:
    """Return the text of a function that loads `count` 8x8 matrices of 16-bit elements for a warp.

    It takes a pointer to the first row (to the addresses of all, if they may lie anywhere), and one to where the first register
    goes; the others follow `frame.chunks` chunks apart.
    """
    t, n = Text("m"), frame.machine.chunk
    word = vector_type("i32", n)
    for j in range(count):
        rows = [load_row(t, "<4 x i32>", r, steps) for r in range(8 * j, 8 * j + 8)]
        for c, chunk in enumerate(_transposed(t, rows, n) if transposed else t.join("i32", 4, rows, n)):
            place = t.let(f"getelementptr {word}, ptr %d, i64 {j * frame.chunks + c}")
            t.do(f"store {word} {chunk}, ptr {place}")
    return write_function(name, ["ptr readonly %rows", "ptr noalias %d"], t.lines, frame.machine), t.declarations


def load_row(t: Text, type: str, row: int, steps: Steps) -> str:
    """Load the 16 bytes of a row, as `write_loader` is told of rows."""
    if steps is not None:
        return t.let(f"load {type}, ptr {t.let(f'getelementptr i8, ptr %rows, i64 {steps[row]}')}, align 4")
    place = t.let(f"getelementptr ptr, ptr %rows, i64 {row}")
    return t.let(f"load {type}, ptr {t.let(f'load ptr, ptr {place}')}, align 4")


def write_function(
    name: str, arguments: Sequence[str], lines: Sequence[str], machine: Machine, result: str = "void"
) -> str:
    """Return the text of a function of a kernel's module; where it returns something, `lines` do."""
    bits = machine.vector_bits
    attributes = f'noinline nounwind "prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
    body = "\n".join([*lines, *(["  ret void"] if result == "void" else [])])
    return f"define internal fastcc {result} @{name}({', '.join(arguments)}) {attributes} {{\n{body}\n}}"


def _transposed(t: Text, rows: Sequence[str], n: int) -> list[str]:
    """Lane 4g + i gets elements g of rows 2i and 2i + 1."""
    whole = t.cast("bitcast", "<32 x i32>", t.join("i32", 4, rows, WARP)[0], "<64 x i16>")
    out: list[str] = []
    for first in range(0, WARP, n):
        index = [8 * (2 * (lane % 4) + half) + lane // 4 for lane in range(first, first + n) for half in (0, 1)]
        picked = t.shuffle("<64 x i16>", whole, index)
        out.append(t.cast("bitcast", f"<{2 * n} x i16>", picked, f"<{n} x i32>"))
    return out


class Body:
    """The body of a product's function under construction; its arguments' chunks are %p0, %p1 ..."""

    def __init__(self, p: Product, machine: Machine) -> None:
        self.p, self.machine = p, machine
        self.t = Text("m")
        self.n = machine.chunk
        self.floats = Floats(self.t, self.n, machine.avx512, machine.fp16, machine.f16c)
        self.fragments: dict[str, list[Chunks]] = {}
        chunks, at = WARP // self.n, 0
        for which, count in (*((w, p.distinct(w)) for w in "abc"), ("e", int(p.sparse > 0))):
            self.fragments[which] = [[f"%p{at + r * chunks + c}" for c in range(chunks)] for r in range(count)]
            at += count * chunks
        self._spread: dict[tuple[str, tuple[Source, ...]], str] = {}
        self._planes: dict[tuple[str, int], list[Chunks]] = {}

    # --- rearranging ----------------------------------------------------------------------------------------------

    def spread(self, scalar: str, sources: Sequence[Source]) -> str:
        """Return a vector whose lanes come from the given places."""
        key = (scalar, tuple(sources))
        if key not in self._spread:
            self._spread[key] = self._gather(vector_type(scalar, self.n), sources)
        return self._spread[key]

    def _gather(self, type: str, sources: Sequence[Source]) -> str:
        names = list(dict.fromkeys(name for name, _ in sources))
        if len(names) == 1 and [lane for _, lane in sources] == list(range(self.n)):
            return names[0]
        parts: list[tuple[str, frozenset[int]]] = []
        for x, y in zip(names[::2], [*names[1::2], "poison"], strict=False):
            index = [lane if name == x else lane + self.n if name == y else None for name, lane in sources]
            covers = frozenset(i for i, one in enumerate(index) if one is not None)
            parts.append((self.t.shuffle(type, x, index, y), covers))
        while len(parts) > 1:
            merged: list[tuple[str, frozenset[int]]] = []
            for (x, in_x), (y, in_y) in zip(parts[::2], parts[1::2], strict=False):
                index = [i if i in in_x else i + self.n if i in in_y else None for i in range(self.n)]
                merged.append((self.t.shuffle(type, x, index, y), in_x | in_y))
            parts = merged + ([parts[-1]] if len(parts) % 2 else [])
        return parts[0][0]

    def at(self, chunks: Chunks, lane: int) -> Source:
        """Return the place of a lane of a register."""
        return chunks[lane // self.n], lane % self.n

    # --- the whole --------------------------------------------------------------------------------------------------

    def write(self) -> list[str]:
        """Write the body; returns D's registers in chunks."""
        p, where = self.p, self.where()
        first = self._addends(where)
        zero = dict.fromkeys(where, "zeroinitializer")
        sums = self.sums(where, zero if p.saturate and p.integer else first)
        if p.saturate and p.integer:
            word = vector_type("i32", self.n)
            clamp = f"llvm.sadd.sat.v{self.n}i32"
            sums = {key: self.t.call(word, clamp, (word, first[key]), (word, x)) for key, x in sums.items()}
        return [self._result(sums, r, c) for r in range(p.distinct("d")) for c in range(WARP // self.n)]

    def where(self) -> dict[tuple[int, int, int], list[tuple[int, int, int]]]:
        """Map each vector of sums (register, part, chunk) to the elements (product, row, column) of its lanes."""
        p = self.p
        keys = [(r, part) for r in range(p.distinct("d")) for part in range(per_register(p.d))]
        return {
            (r, part, c): [element(p, p.d, r, lane, part) for lane in range(c * self.n, (c + 1) * self.n)]
            for r, part in keys
            for c in range(WARP // self.n)
        }

    def _addends(
        self, where: dict[tuple[int, int, int], list[tuple[int, int, int]]]
    ) -> dict[tuple[int, int, int], str]:
        """C in the places of D's sums: as f32, f64 or i32."""
        p = self.p
        home: dict[tuple[int, int, int], Place] = {}
        for r in range(p.distinct("c")):
            for lane in range(WARP):
                for part in range(per_register(p.c)):
                    home[element(p, p.c, r, lane, part)] = (r, lane, part)
        out: dict[tuple[int, int, int], str] = {}
        for key, places in where.items():
            found = [home[place] for place in places]
            sources = [self.at(self.plane("c", r, part), lane) for r, lane, part in found]
            out[key] = self.spread(self.scalar(p.c), sources)
        return out

    def _result(self, sums: dict[tuple[int, int, int], str], register: int, chunk: int) -> str:
        if self.p.d != "f16":
            return sums[register, 0, chunk]
        n, t = self.n, self.t
        word, half = vector_type("i32", n), vector_type("i16", n)
        low, high = (
            t.cast("zext", half, self.convert("f32", "f16", sums[register, part, chunk]), word) for part in (0, 1)
        )
        return t.two("or", word, low, t.two("shl", word, high, splat("i32", 16, n)))

    def sums(
        self, where: dict[tuple[int, int, int], list[tuple[int, int, int]]], sums: dict[tuple[int, int, int], str]
    ) -> dict[tuple[int, int, int], str]:
        """Add the products to the vectors of sums."""
        p, machine = self.p, self.machine
        if p.sparse:
            return self._sparse(where, sums)
        if p.a == "b1":
            return self._units(where, sums, self._raw, self._raw, self._count_bits)
        if p.a == "bf16" and machine.bf16:
            return self._units(where, sums, self._raw, self._raw, self.dot_bf16)
        if WIDTH[p.a] < 16 and p.integer and machine.vnni:
            return self._units_of_bytes(where, sums)
        if WIDTH[p.a] < 16 and p.integer and machine.avx2:
            return self._units(where, sums, self._halves, self._halves, self._dot_halves)
        for k in range(p.k):
            for key, places in where.items():
                a = self.elements("a", [place_a(p, w, row, k) for w, row, _ in places])
                b = self.elements("b", [place_b(p, w, k, column) for w, _, column in places])
                sums[key] = self.step(sums[key], a, b)
        return sums

    # --- element by element -------------------------------------------------------------------------------------------

    def elements(self, which: str, places: Sequence[Place]) -> str:
        """Return a vector of elements of A or B, as they are computed with."""
        sources = [self.at(self.plane(which, r, part), lane) for r, lane, part in places]
        return self.spread(self.scalar(self.p.kind(which)), sources)

    def scalar(self, kind: str) -> str:
        """Return the LLVM type in which elements of a type are computed with."""
        return "double" if kind == "f64" else "i32" if kind in ("s32", "u8", "s8", "u4", "s4") else "float"

    def step(self, total: str, a: str, b: str) -> str:
        """Return total + a * b; products of floats narrower than f32 are exact in f32."""
        scalar = self.scalar(self.p.d)
        type = vector_type(scalar, self.n)
        if scalar == "i32":
            return self.t.two("add", type, total, self.t.two("mul", type, a, b))
        name = f"llvm.fma.v{self.n}f64" if scalar == "double" else f"llvm.fmuladd.v{self.n}f32"
        return self.t.call(type, name, (type, a), (type, b), (type, total))

    def plane(self, which: str, register: int, part: int) -> Chunks:
        """Return one element of each lane of a register, as f32, f64 or i32."""
        key = (which, register)
        if key not in self._planes:
            columns = [self._take_apart(self.p.kind(which), chunk) for chunk in self.fragments[which][register]]
            self._planes[key] = [list(column) for column in zip(*columns, strict=True)]
        return self._planes[key][part]

    def _take_apart(self, kind: str, chunk: str) -> list[str]:
        t, n = self.t, self.n
        word, real = vector_type("i32", n), vector_type("float", n)
        if kind in ("f32", "f64", "s32"):
            return [chunk]
        if kind == "tf32":  # the low 13 bits are ignored (section 9.7.15.5.8: undefined unless zero)
            return [t.cast("bitcast", word, t.two("and", word, chunk, splat("i32", 0xFFFFE000, n)), real)]
        if kind == "bf16":
            low = t.two("shl", word, chunk, splat("i32", 16, n))
            high = t.two("and", word, chunk, splat("i32", 0xFFFF0000, n))
            return [t.cast("bitcast", word, x, real) for x in (low, high)]
        width = WIDTH[kind]
        parts = [self._field(chunk, width, i, signed=kind[0] == "s") for i in range(32 // width)]
        if kind == "f16":
            return [self._from_half(x) for x in parts]
        return [self._from_byte(kind, x) for x in parts] if kind in ("e4m3", "e5m2") else parts

    def _field(self, chunk: str, width: int, i: int, *, signed: bool) -> str:
        t, n, word = self.t, self.n, vector_type("i32", self.n)
        if signed:
            up = t.two("shl", word, chunk, splat("i32", 32 - width * (i + 1), n))
            return t.two("ashr", word, up, splat("i32", 32 - width, n))
        down = t.two("lshr", word, chunk, splat("i32", width * i, n))
        return t.two("and", word, down, splat("i32", (1 << width) - 1, n))

    def _from_half(self, bits: str) -> str:
        word, half = vector_type("i32", self.n), vector_type("i16", self.n)
        return self.convert("f16", "f32", self.t.cast("trunc", word, bits, half))

    def _from_byte(self, kind: str, bits: str) -> str:
        """Read an e5m2 as the upper byte of an f16; an e4m3 as an f16 with a bias of 15 for its own of 7."""
        t, n, word, real = self.t, self.n, vector_type("i32", self.n), vector_type("float", self.n)
        if kind == "e5m2":
            return self._from_half(t.two("shl", word, bits, splat("i32", 8, n)))
        sign = t.two("shl", word, t.two("and", word, bits, splat("i32", 0x80, n)), splat("i32", 8, n))
        size = t.two("and", word, bits, splat("i32", 0x7F, n))
        half = t.two("or", word, sign, t.two("shl", word, size, splat("i32", 7, n)))
        value = t.two("fmul", real, self._from_half(half), splat("f32", 0x43800000, n))
        nan = t.two("icmp eq", word, size, splat("i32", 0x7F, n))
        return t.pick(n, nan, real, splat("f32", 0x7FFFFFFF, n), value)

    def convert(self, source: Type, target: Type, value: str) -> str:
        """Convert a chunk between float types, to nearest even."""
        return self.floats.convert(Op("fconvert", target, [Undefined(source)], Rounded()), self.n, value)

    # --- a register at a time -------------------------------------------------------------------------------------------

    def _units(
        self,
        where: dict[tuple[int, int, int], list[tuple[int, int, int]]],
        sums: dict[tuple[int, int, int], str],
        layers_a: Callable[[str, str], list[str]],
        layers_b: Callable[[str, str], list[str]],
        step: Step,
    ) -> dict[tuple[int, int, int], str]:
        """Add up products of whole registers, whose elements follow each other along k in both A and B."""
        p = self.p
        count = per_register(p.a)
        left = [list(zip(*(layers_a("a", c) for c in r), strict=True)) for r in self.fragments["a"]]
        right = [list(zip(*(layers_b("b", c) for c in r), strict=True)) for r in self.fragments["b"]]
        for k in range(0, p.k, count):
            for layer in range(len(left[0])):
                for key, places in where.items():
                    rows = [place_a(p, w, row, k) for w, row, _ in places]
                    columns = [place_b(p, w, k, column) for w, _, column in places]
                    a = self.spread("i32", [self.at(list(left[r][layer]), lane) for r, lane, _ in rows])
                    b = self.spread("i32", [self.at(list(right[r][layer]), lane) for r, lane, _ in columns])
                    sums[key] = step(sums[key], a, b)
        return sums

    def _raw(self, which: str, chunk: str) -> list[str]:
        return [chunk]

    def _count_bits(self, total: str, a: str, b: str) -> str:
        t, word = self.t, vector_type("i32", self.n)
        both = t.two(self.p.combine, word, a, b)
        return t.two("add", word, total, t.call(word, f"llvm.ctpop.v{self.n}i32", (word, both)))

    def dot_bf16(self, total: str, a: str, b: str) -> str:
        """vdpbf16ps: exact products, sums in f32 rounded to nearest even, subnormals taken as zero.

        The manual leaves order, rounding and the treatment of subnormals in these sums open.
        """
        t, real, pairs = self.t, "<16 x float>", "<32 x bfloat>"
        a, b = (t.cast("bitcast", "<16 x i32>", x, pairs) for x in (a, b))
        return t.call(real, "llvm.x86.avx512bf16.dpbf16ps.512", (real, total), (pairs, a), (pairs, b))

    def _bytes(self, which: str, chunk: str) -> list[str]:
        """Return a register of 8-bit elements as it is, one of 4-bit elements as two of 8 bits."""
        kind, t, n = self.p.kind(which), self.t, self.n
        if WIDTH[kind] == 8:
            return [chunk]
        word, bytes = vector_type("i32", n), vector_type("i8", 4 * n)
        low = splat("i32", 0x0F0F0F0F, n)
        parts = [
            t.two("and", word, chunk, low),
            t.two("and", word, t.two("lshr", word, chunk, splat("i32", 4, n)), low),
        ]
        if kind == "u4":
            return parts
        eight = splat("i8", 8, n)
        out: list[str] = []
        for part in parts:
            x = t.two("xor", bytes, t.cast("bitcast", word, part, bytes), eight)
            out.append(t.cast("bitcast", bytes, t.two("sub", bytes, x, eight), word))
        return out

    def _halves(self, which: str, chunk: str) -> list[str]:
        """Return even and odd 8-bit elements as 16-bit ones."""
        t, n, signed = self.t, self.n, self.p.kind(which)[0] == "s"
        word, pairs = vector_type("i32", n), vector_type("i16", 2 * n)
        halves = (half for part in self._bytes(which, chunk) for half in half_words(t, n, part, signed))
        return [t.cast("bitcast", pairs, half, word) for half in halves]

    def _dot_halves(self, total: str, a: str, b: str) -> str:
        t, n = self.t, self.n
        word, pairs = vector_type("i32", n), vector_type("i16", 2 * n)
        a, b = (t.cast("bitcast", word, x, pairs) for x in (a, b))
        return t.two("add", word, total, dot_half_words(t, n, a, b))

    def _units_of_bytes(
        self, where: dict[tuple[int, int, int], list[tuple[int, int, int]]], sums: dict[tuple[int, int, int], str]
    ) -> dict[tuple[int, int, int], str]:
        """vpdpbusd multiplies unsigned by signed bytes: where signs are equal, one side is moved by 128 and that taken off again."""
        p = self.p
        signs = p.a[0] == "s", p.b[0] == "s"
        if signs == (False, True):
            return self._units(where, sums, self._bytes, self._bytes, self.dot_bytes)
        if signs == (True, False):
            return self._units(where, sums, self._bytes, self._bytes, lambda total, a, b: self.dot_bytes(total, b, a))
        excess: dict[tuple[int, int, int], str] = dict.fromkeys(where, "zeroinitializer")
        known: dict[tuple[str, str], str] = {}

        def surplus(total: str, a: str, b: str) -> str:
            pair = (HIGH_BITS, b) if signs[0] else (a, HIGH_BITS)
            key = (total, b if signs[0] else a)
            if key not in known:
                known[key] = self.dot_bytes(total, *pair)
            return known[key]

        plain, moved = self._bytes, self._moved
        layers = (moved, plain) if signs[0] else (plain, moved)
        sums = self._units(where, sums, *layers, self.dot_bytes)
        excess = self._units(where, excess, plain, plain, surplus)
        word = vector_type("i32", self.n)
        return {key: self.t.two("sub", word, x, excess[key]) for key, x in sums.items()}

    def _moved(self, which: str, chunk: str) -> list[str]:
        word = vector_type("i32", self.n)
        return [self.t.two("xor", word, x, HIGH_BITS) for x in self._bytes(which, chunk)]

    def dot_bytes(self, total: str, unsigned: str, signed: str) -> str:
        """vpdpbusd: sums of four products, modulo 2^32."""
        return dot_bytes(self.t, self.n, total, unsigned, signed)

    # --- sparse A -------------------------------------------------------------------------------------------------------

    def _sparse(
        self, where: dict[tuple[int, int, int], list[tuple[int, int, int]]], sums: dict[tuple[int, int, int], str]
    ) -> dict[tuple[int, int, int], str]:
        """Multiply each stored element of A by the element of B that its index chooses."""
        p, t, n = self.p, self.t, self.n
        type = vector_type(self.scalar(p.b), n)
        for k in range(p.stored_k):
            for key, places in where.items():
                a = self.elements("a", [place_a(p, w, row, k) for w, row, _ in places])
                index = self._indices(k, [row for _, row, _ in places])
                chosen = ""
                for value in range(4):
                    column_k = column_of(p, k, value)
                    b = self.elements("b", [place_b(p, w, column_k, column) for w, _, column in places])
                    if chosen:
                        here = t.two("icmp eq", vector_type("i32", n), index, splat("i32", value, n))
                        b = t.pick(n, here, type, b, chosen)
                    chosen = b
                sums[key] = self.step(sums[key], a, chosen)
        return sums

    def _indices(self, k: int, rows: Sequence[int]) -> str:
        p, t, n = self.p, self.t, self.n
        each = 2 if WIDTH[p.a] == 4 else 1
        found = [metadata_place(p, row, k // each) for row in rows]
        word = vector_type("i32", n)
        held = self.spread("i32", [self.at(self.fragments["e"][0], lane) for lane, _ in found])
        shifts = "<" + ", ".join(f"i32 {shift}" for _, shift in found) + ">"
        return t.two("and", word, t.two("lshr", word, held, shifts), splat("i32", 3, n))

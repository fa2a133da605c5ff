"""Matrix operations at their places in a kernel: products as calls of one function per kind, loads of 8x8 matrices by rows."""

from __future__ import annotations

from anywarp.compiler.ir import Op
from anywarp.compiler.simd.addresses import Address
from anywarp.compiler.simd.matrix_product import argument_types, llvm_register, result_type, write_function
from anywarp.compiler.simd.memory import Memory
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.matrix_forms import WARP, Product


class Matrix:
    """Emits matrix operations through `values`; `memory` finds addresses."""

    def __init__(self, values: Values, memory: Memory) -> None:
        self.v = values
        self.t = values.t
        self.memory = memory
        self._functions: dict[Product, str] = {}

    @property
    def _per_warp(self) -> int:
        """Chunks that hold one warp's lanes."""
        return WARP // self.v.chunk

    def _define(self, op: Op, registers: list[list[str]]) -> None:
        """Give an operation and the `element` operations of its other results their chunks."""
        self.v.define(op, None, registers[0])
        for other in self.memory.elements.get(op, ()):
            self.v.define(other, None, registers[int(other.attrs["index"])])

    # --- products -------------------------------------------------------------------------------------------------------

    def product(self, op: Op) -> None:
        """Emit a product: the same call for each warp, whatever lanes are on (section 9.7.15: else undefined)."""
        v, t, p = self.v, self.t, op.attrs["product"]
        name = self._function(p)
        types, result = argument_types(p, v.chunk), result_type(p, v.chunk)
        chunks = [v.vector(a) for a in op.args]
        registers: list[list[str]] = [[] for _ in range(p.registers("d"))]
        for first in range(0, v.chunks, self._per_warp):
            mine = [x for value in chunks for x in value[first : first + self._per_warp]]
            arguments = ", ".join(f"{type} {x}" for type, x in zip(types, mine, strict=True))
            found = t.let(f"call fastcc {result} @{name}({arguments})")
            for i in range(p.registers("d") * self._per_warp):
                registers[i // self._per_warp].append(t.let(f"extractvalue {result} {found}, {i}"))
        assert llvm_register(p.d, v.chunk) in result
        self._define(op, registers)

    def _function(self, p: Product) -> str:
        if p not in self._functions:
            name = self._functions[p] = f"aw.matrix.{len(self._functions)}"
            text, declarations = write_function(p, self.v.machine, name)
            self.t.declarations.update(declarations)
            self.t.declarations[name] = text
        return self._functions[p]

    # --- loads ----------------------------------------------------------------------------------------------------------

    def load(self, op: Op) -> None:
        """Emit `matrix_load`: rows of 16 bytes, made into lanes; nothing where not all lanes of a warp are on."""
        v = self.v
        count = int(op.attrs["count"])
        address = self.memory.resolve(op.attrs["space"], op.args[0])
        room = "" if address.offsets is not None else self.memory.spill("i64", address.vectors)
        bits = v.active_bits(op.guard)
        words = [None] * (v.chunks // self._per_warp) if bits is None else v.warp_words(bits)
        registers: list[list[str]] = [[] for _ in range(count)]
        for warp, word in enumerate(words):
            place = (address, room, warp)
            found = self._rows(op, *place) if word is None else self._if_all(op, word, *place)
            for j, chunks in enumerate(found):
                registers[j] += chunks
        self._define(op, registers)

    def _if_all(self, op: Op, word: str, address: Address, room: str, warp: int) -> list[list[str]]:
        t, v = self.t, self.v
        before, inside, after = t.label, t.fresh("all"), t.fresh("after")
        t.do(f"br i1 {t.two('icmp eq', 'i32', word, '-1')}, label %{inside}, label %{after}")
        t.start(inside)
        found = self._rows(op, address, room, warp)
        inside = t.label
        t.do(f"br label %{after}")
        t.start(after)
        type = f"<{v.chunk} x i32>"
        return [
            [t.let(f"phi {type} [ zeroinitializer, %{before} ], [ {x}, %{inside} ]") for x in chunks]
            for chunks in found
        ]

    def _rows(self, op: Op, address: Address, room: str, warp: int) -> list[list[str]]:
        out: list[list[str]] = []
        for j in range(int(op.attrs["count"])):
            rows = [self._row(address, room, WARP * warp + 8 * j + r) for r in range(8)]
            out.append(self._transposed(rows) if op.attrs["transposed"] else self._joined(rows))
        return out

    def _row(self, address: Address, room: str, lane: int) -> str:
        """Load the 16 bytes that a lane names."""
        t = self.t
        if address.offsets is not None:
            pointer = self.memory.lane_pointer(address, lane)
        else:
            place = t.let(f"getelementptr i64, ptr {room}, i32 {lane}") if lane else room
            pointer = t.let(f"load ptr, ptr {place}")
        return t.let(f"load <4 x i32>, ptr {pointer}, align 4")

    def _joined(self, rows: list[str]) -> list[str]:
        per = self.v.chunk // 4
        return [self.v.join("i32", 4, rows[i : i + per]) for i in range(0, 8, per)]

    def _transposed(self, rows: list[str]) -> list[str]:
        """Lane 4g + i gets elements g of rows 2i and 2i + 1."""
        t, n = self.t, self.v.chunk
        whole = t.cast("bitcast", "<32 x i32>", self.v.join("i32", 4, rows), "<64 x i16>")
        out: list[str] = []
        for first in range(0, WARP, n):
            index = [8 * (2 * (lane % 4) + half) + lane // 4 for lane in range(first, first + n) for half in (0, 1)]
            mask = ", ".join(f"i32 {i}" for i in index)
            picked = t.let(f"shufflevector <64 x i16> {whole}, <64 x i16> poison, <{2 * n} x i32> <{mask}>")
            out.append(t.cast("bitcast", f"<{2 * n} x i16>", picked, f"<{n} x i32>"))
        return out

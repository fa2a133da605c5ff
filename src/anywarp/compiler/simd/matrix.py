"""Matrix operations at their places in a kernel: calls of one function per kind, on fragments that stay in memory.

The sums of a real product are many times what the processor's registers hold. So what matrix operations make and take lies in
variables that they read and write where it is, and a product costs the kernel's own code a few addresses and a call.
"""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.ir import Op, Phi, Value
from anywarp.compiler.simd.matrix_product import Frame, write_loader, write_product
from anywarp.compiler.simd.memory import Memory
from anywarp.compiler.simd.text import vector_type
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.matrix_forms import WARP

_MADE = ("matrix", "matrix_load")


class Matrix:
    """Emits matrix operations through `values`; `memory` finds addresses."""

    def __init__(self, values: Values, memory: Memory) -> None:
        self.v = values
        self.t = values.t
        self.memory = memory
        self.frame = Frame(values.machine, values.chunks)
        self._functions: dict[object, str] = {}
        self._results: dict[Op, list[str]] = {}
        self._copies: dict[Value, list[str]] = {}
        self._find_resident()

    def _find_resident(self) -> None:
        """Keep in memory what matrix operations make, and what loops carry to them."""
        resident = self.v.resident
        for block in self.v.kernel.blocks:
            for op in block.ops:
                if op.name in _MADE:
                    resident.update(value for value, _ in self._made(op))
                    self._reserve(op)
                if op.name == "matrix":
                    resident.update(a for a in op.args if isinstance(a, Phi) and self.v.varies(a))

    # --- where fragments are --------------------------------------------------------------------------------------------

    def _reserve(self, op: Op) -> None:
        """Give an operation's results their variables, register after register, before anything else names them."""
        v = self.v
        count = op.attrs["product"].registers("d") if op.name == "matrix" else int(op.attrs["count"])
        places = self._results[op] = v.array(v.type(op, True), count * v.chunks)
        for value, index in self._made(op):
            v.keep_at(value, places[index * v.chunks : (index + 1) * v.chunks])

    def _made(self, op: Op) -> list[tuple[Value, int]]:
        return [(op, 0), *((e, int(e.attrs["index"])) for e in self.memory.elements.get(op, ()))]

    def _read(self, op: Op) -> None:
        """Take the results of an operation from their variables; LLVM drops what nobody reads."""
        for value, _ in self._made(op):
            self.v.vectors[value] = self.v.load_chunks(value, "main")

    def _place(self, value: Value) -> str:
        """Return where the chunks of a register lie, after writing them somewhere if need be."""
        v, t = self.v, self.t
        chunks = v.vector(value)
        if chunks[0] not in v.lying:
            type = v.type(value, True)
            if value not in self._copies:
                self._copies[value] = v.array(type, v.chunks)
            for chunk, place in zip(chunks, self._copies[value], strict=True):
                t.do(f"store {type} {chunk}, ptr {place}")
            if not chunks[0].startswith("%"):
                return self._copies[value][0]
            v.lying[chunks[0]] = self._copies[value][0]
        return v.lying[chunks[0]]

    def _of_warp(self, place: str, type: str, warp: int) -> str:
        """Step from a register's first chunk to the first of a warp."""
        first = warp * self.frame.per_warp
        return self.t.let(f"getelementptr {type}, ptr {place}, i64 {first}") if first else place

    # --- products -------------------------------------------------------------------------------------------------------

    def product(self, op: Op) -> None:
        """Emit a product: the same call for each warp, whatever lanes are on (section 9.7.15: else undefined)."""
        v, t, p = self.v, self.t, op.attrs["product"]
        name = self._function(p, lambda n: write_product(p, self.frame, n))
        results = self._results[op]
        sources = [(self._place(a), v.type(a, True)) for a in op.args]
        for warp in range(v.warps):
            places = [self._of_warp(place, type, warp) for place, type in sources]
            places.append(self._of_warp(results[0], v.type(op, True), warp))
            t.do(f"call fastcc void @{name}({', '.join(f'ptr {x}' for x in places)})")
        self._read(op)

    def _function(self, kind: object, write: Callable[[str], tuple[str, dict[str, str]]]) -> str:
        if kind not in self._functions:
            name = self._functions[kind] = f"aw.matrix.{len(self._functions)}"
            text, declarations = write(name)
            self.t.declarations.update(declarations)
            self.t.declarations[name] = text
        return self._functions[kind]

    # --- loads ----------------------------------------------------------------------------------------------------------

    def load(self, op: Op) -> None:
        """Emit `matrix_load`: rows of 16 bytes, made into lanes; nothing where not all lanes of a warp are on."""
        v, t = self.v, self.t
        count, transposed = int(op.attrs["count"]), bool(op.attrs["transposed"])
        name = self._function((count, transposed), lambda n: write_loader(count, transposed, self.frame, n))
        results = self._results[op]
        address = self.memory.resolve(op.attrs["space"], op.args[0])
        type = vector_type("ptr", v.chunk)
        room = self.memory.room("i64")
        for i in range(v.chunks):
            place = t.let(f"getelementptr i64, ptr {room}, i32 {i * v.chunk}") if i else room
            t.do(f"store {type} {self.memory.pointers(address, i)}, ptr {place}, align 16")
        bits = v.active_bits(op.guard)
        words = [None] * v.warps if bits is None else v.warp_words(bits)
        for warp, word in enumerate(words):
            rows = t.let(f"getelementptr i64, ptr {room}, i32 {WARP * warp}") if warp else room
            call = f"call fastcc void @{name}(ptr {rows}, ptr {self._of_warp(results[0], v.type(op, True), warp)})"
            if word is None:
                t.do(call)
                continue
            inside, after = t.fresh("all"), t.fresh("after")
            t.do(f"br i1 {t.two('icmp eq', 'i32', word, '-1')}, label %{inside}, label %{after}")
            t.start(inside)
            t.do(call)
            t.do(f"br label %{after}")
            t.start(after)
        self._read(op)

"""Matrix operations at their places in a kernel: calls of one function per kind, on fragments that stay in memory.

The sums of a real product are many times what the processor's registers hold. So what matrix operations make and take lies in
variables that they read and write where it is, and a product costs the kernel's own code a few addresses and a call.
"""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.ir import Op, Phi, Value
from anywarp.compiler.simd.matrix_places import Group, find_groups
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
        self._groups: dict[Op, Group] = {}
        self._places: dict[int, list[str]] = {}
        self._carried: list[Group] = []
        self._copies: dict[Value, list[str]] = {}
        self._find_resident()

    def _find_resident(self) -> None:
        """Keep in memory what matrix operations make, and what loops carry to them."""
        v = self.v
        resident = v.resident
        found = [op for block in v.kernel.blocks for op in block.ops if op.name in _MADE]
        made = {op: self._made(op) for op in found}
        resident.update(value for values in made.values() for value, _ in values)
        self._groups = find_groups(v, made)
        for op in found:
            if op.name == "matrix":
                resident.update(a for a in op.args if isinstance(a, Phi) and v.varies(a))
        for group in dict.fromkeys(map(id, self._groups.values())):
            self._reserve(next(g for g in self._groups.values() if id(g) == group))

    def _reserve(self, group: Group) -> None:
        """Give a group's values their variables, register after register, before anything else names them."""
        v, t = self.v, self.t
        count = group.registers * v.chunks
        if group.carried:  # declared when it is known where
            self._carried.append(group)
            places = ["%" + t.fresh("sums") for _ in range(count)]
        else:
            places = v.array(group.type, count)
        self._places[id(group)] = places
        for value, index in group.members:
            mine = places[index * v.chunks : (index + 1) * v.chunks]
            v.keep_at(value, mine, "main")
            if isinstance(value, Phi):
                v.keep_at(value, mine, "phi")

    def carried_bytes(self) -> int:
        """Return the memory that a gang needs for what loops carry, in multiples of 64 bytes."""
        return sum(64 * -(-self._bytes(group) // 64) for group in self._carried)

    def _bytes(self, group: Group) -> int:
        size = 8 if "double" in group.type else 4
        return group.registers * self.v.lanes * size

    def place_carried(self, start: str) -> None:
        """Say where sums that loops carry lie: from `start`, memory of the gang's own; "" for variables of the function."""
        v, t, offset = self.v, self.t, 0
        for group in self._carried:
            names = self._places[id(group)]
            if start:
                v.framed.update(value for value, _ in group.members)
                base = t.let(f"getelementptr i8, ptr {start}, i64 {offset}")
                offset += 64 * -(-self._bytes(group) // 64)
            else:
                base = t.alloca(f"[{len(names)} x {group.type}]", 64)
            for i, name in enumerate(names):
                line = f"  {name} = getelementptr {group.type}, ptr {base}, i64 {i}"
                (t.lines if start else t.allocas).append(line)

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
        results = self._places[id(self._groups[op])]
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
        results = self._places[id(self._groups[op])]
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

"""Matrix operations at their places in a kernel: calls of one function per kind, on fragments that stay in memory.

The sums of a real product are many times what the processor's registers hold. So what matrix operations make and take lies in
variables that they read and write where it is, and a product costs the kernel's own code a few addresses and a call.
"""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.attributes import Element, InSpace, MatrixLoad, MatrixProduct
from anywarp.compiler.ir import Block, Op, Phi, Value
from anywarp.compiler.simd.addresses import Address
from anywarp.compiler.simd.matrix_panels import panel_bytes, suits, write_preparation, write_prepared_product
from anywarp.compiler.simd.matrix_places import Group, count_uses, find_groups
from anywarp.compiler.simd.matrix_product import Frame, Steps, write_loader, write_product
from anywarp.compiler.simd.matrix_tile_plan import plan_tiles
from anywarp.compiler.simd.matrix_tiles import Tiles, write_tile_loader
from anywarp.compiler.simd.memory import Memory
from anywarp.compiler.simd.text import vector_type
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.matrix_forms import WARP, Product

_MADE = ("matrix", "matrix_load")
_PATTERNS = 16
"""Ways in which rows of matrices lie apart for which functions of their own are written, at most."""
_WORTH = 4
"""Products with one fragment of A from which it pays to prepare it."""


class Matrix:
    """Emits matrix operations through `values`; `memory` finds addresses."""

    def __init__(self, values: Values, memory: Memory) -> None:
        self.v = values
        self.t = values.t
        self.memory = memory
        self.frame = Frame(values.machine, values.chunks)
        self._functions: dict[object, str] = {}
        self._steps: set[Steps] = set()
        self._groups: dict[Op, Group] = {}
        self._places: dict[int, list[str]] = {}
        self._carried: list[Group] = []
        self._arrays: dict[tuple[str, int], list[list[str]]] = {}
        self._taken: dict[tuple[str, int, Block], list[list[str]]] = {}
        self._copies: dict[Value, list[str]] = {}
        self.tiles = self._find_resident()
        self._panels = _Panels(self)

    def _find_resident(self) -> Tiles:
        """Keep in memory what matrix operations make, and what loops carry to them; return what goes through tiles."""
        v = self.v
        found = [op for block in v.kernel.blocks for op in block.ops if op.name in _MADE]
        made = {op: self._made(op) for op in found}
        v.variables.reside(value for values in made.values() for value, _ in values)
        uses = count_uses(v)
        self._groups = find_groups(v, made, uses)
        plan = plan_tiles(v, made, self._groups, uses, _WORTH)
        for op in found:
            if op.name == "matrix":
                v.variables.reside(a for a in op.args if isinstance(a, Phi) and v.varies(a))
        for number, group in {id(group): group for group in self._groups.values()}.items():
            if number not in plan.homes:
                self._reserve(group)
        return Tiles(self, plan)

    def group(self, op: Op) -> Group:
        """Return the group in which the results of a matrix operation lie."""
        return self._groups[op]

    def _reserve(self, group: Group) -> None:
        """Give a group's values their variables, register after register, before anything else names them."""
        v, t = self.v, self.t
        count = group.registers * v.chunks
        if group.carried:  # declared when it is known where
            self._carried.append(group)
            places = ["%" + t.fresh("sums") for _ in range(count)]
        else:
            places = self._array(group, count)
        self._places[id(group)] = places
        for value, index in group.members:
            mine = places[index * v.chunks : (index + 1) * v.chunks]
            v.variables.keep_at(value, mine, "main")
            if isinstance(value, Phi):
                v.variables.keep_at(value, mine, "phi")

    def _array(self, group: Group, count: int) -> list[str]:
        """Return variables: what one block makes and uses up may lie where another block's does."""
        v = self.v
        homes = {v.home[value] for value, _ in group.members}
        if len(homes) != 1 or any(value in v.crossing for value, _ in group.members):
            return v.variables.array(group.type, count)
        kind = (group.type, count)
        taken = self._taken.setdefault((*kind, homes.pop()), [])
        known = self._arrays.setdefault(kind, [])
        if len(taken) == len(known):
            known.append(v.variables.array(group.type, count))
        taken.append(known[len(taken)])
        return taken[-1]

    def carried_bytes(self) -> int:
        """Return the memory that a gang needs for what loops carry, in multiples of 64 bytes."""
        of_groups = sum(64 * -(-self._bytes(group) // 64) for group in self._carried)
        return of_groups + self.tiles.bytes * len(self.tiles.carried)

    def _bytes(self, group: Group) -> int:
        size = 8 if "double" in group.type else 4
        return group.registers * self.v.lanes * size

    def place_carried(self, start: str) -> None:
        """Say where sums that loops carry lie: from `start`, memory of the gang's own; "" for variables of the function."""
        v, t, offset = self.v, self.t, 0
        for group in self._carried:
            names = self._places[id(group)]
            if start:
                v.variables.frame(value for value, _ in group.members)
                base = t.let(f"getelementptr i8, ptr {start}, i64 {offset}")
                offset += 64 * -(-self._bytes(group) // 64)
            else:
                base = t.alloca(f"[{len(names)} x {group.type}]", 64)
            for i, name in enumerate(names):
                line = f"  {name} = getelementptr {group.type}, ptr {base}, i64 {i}"
                (t.lines if start else t.allocas).append(line)
        self.tiles.place_carried(start, offset)

    def _made(self, op: Op) -> list[tuple[Value, int]]:
        return [(op, 0), *((e, Element.of(e).index) for e in self.memory.elements.get(op, ()))]

    def _read(self, op: Op) -> None:
        """Take the results of an operation from their variables; LLVM drops what nobody reads."""
        for value, _ in self._made(op):
            self.v.hold_chunks(value, self.v.variables.load_chunks(value, "main"))

    def place(self, value: Value) -> str:
        """Return where the chunks of a register lie, after writing them somewhere if need be."""
        v, t = self.v, self.t
        chunks = v.vector(value)
        known = v.variables.place_of(chunks[0])
        in_rows = known is not None and v.variables.is_in_rows(known)
        if known is None or in_rows:
            type = v.type(value, True)
            if value not in self._copies:
                self._copies[value] = v.variables.array(type, v.chunks)
            for chunk, place in zip(chunks, self._copies[value], strict=True):
                t.do(f"store {type} {chunk}, ptr {place}")
            known = self._copies[value][0]
            if chunks[0].startswith("%") and not in_rows:
                v.variables.lie_at(chunks[0], known)
        return known

    def of_warp(self, place: str, type: str, warp: int) -> str:
        """Step from a register's first chunk to the first of a warp."""
        first = warp * self.frame.per_warp
        return self.t.let(f"getelementptr {type}, ptr {place}, i64 {first}") if first else place

    # --- products -------------------------------------------------------------------------------------------------------

    def product(self, op: Op) -> None:
        """Emit a product: the same call for each warp, whatever lanes are on (section 9.7.15: else undefined)."""
        if op in self.tiles.plan.products:
            self.tiles.product(op)
            return
        v, p = self.v, MatrixProduct.of(op).product
        into = self._places[id(self._groups[op])][0]
        first = self._panels.ready(op) if suits(p, v.machine) else []
        taken = p.distinct("a") + p.distinct("b") if first else 0
        kind = (p, bool(first))
        name = self.function(kind, lambda n: (write_prepared_product if first else write_product)(p, self.frame, n))
        rest = [self.place(a) for a in op.args[taken:]]
        types = [v.type(a, True) for a in op.args[taken:]]
        for warp in range(v.warps):
            places = [self.of_warp(x, type, warp) for x, type in zip(rest, types, strict=True)]
            self.call(name, [*(x[warp] for x in first), *places, self.of_warp(into, v.type(op, True), warp)])
        self._read(op)

    def call(self, name: str, places: list[str]) -> None:
        """Call a function on pointers."""
        self.t.do(f"call fastcc void @{name}({', '.join(f'ptr {x}' for x in places)})")

    def function(self, kind: object, write: Callable[[str], tuple[str, dict[str, str]]]) -> str:
        """Return the name of a function of the module, written when first asked for."""
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
        sources = self._rows(self.memory.resolve(InSpace.of(op).space, op.args[0]), 8 * MatrixLoad.of(op).count)
        bits = v.active_bits(op.guard)
        words = [None] * v.warps if bits is None else v.warp_words(bits)
        for warp, (word, (rows, steps)) in enumerate(zip(words, sources, strict=True)):
            if word is None:
                self._load(op, warp, rows, steps)
                continue
            inside, after = t.fresh("all"), t.fresh("after")
            t.do(f"br i1 {t.two('icmp eq', 'i32', word, '-1')}, label %{inside}, label %{after}")
            t.start(inside)
            self._load(op, warp, rows, steps)
            t.do(f"br label %{after}")
            t.start(after)
        if op not in self.tiles.plan.direct:
            self._read(op)

    def _rows(self, address: Address, count: int) -> list[tuple[str, Steps]]:
        """Return for each warp where rows lie, as `write_loader` takes it."""
        v, t = self.v, self.t
        out: list[tuple[str, Steps]] = []
        if address.offsets is not None and not address.symbols:
            for first in range(0, v.lanes, WARP):
                start = address.offsets[first]
                steps = tuple(offset - start for offset in address.offsets[first : first + count])
                out.append((self.memory.lane_pointer(address, first), steps))
            if len(self._steps | {steps for _, steps in out}) <= _PATTERNS:
                self._steps |= {steps for _, steps in out}
                return out
        type = vector_type("ptr", v.chunk)
        room = self.memory.room("i64")
        for i in range(v.chunks):
            place = t.let(f"getelementptr i64, ptr {room}, i32 {i * v.chunk}") if i else room
            t.do(f"store {type} {self.memory.pointers(address, i)}, ptr {place}, align 16")
        return [
            (t.let(f"getelementptr i64, ptr {room}, i32 {WARP * warp}") if warp else room, None)
            for warp in range(v.warps)
        ]

    def _load(self, op: Op, warp: int, rows: str, steps: Steps) -> None:
        """Call the function that loads one warp's matrices."""
        what, machine, tiles = MatrixLoad.of(op), self.v.machine, self.tiles
        if op in tiles.plan.direct:
            panels, targets = tiles.targets(op)
            kind = (what, panels[0].side, targets, steps)
            name = self.function(kind, lambda n: write_tile_loader(what, panels[0].side, targets, steps, machine, n))
            self.call(name, [rows, *(tiles.place(panel, warp) for panel in panels)])
            return
        name = self.function((what, steps), lambda n: write_loader(what.count, what.transposed, steps, self.frame, n))
        first = self._places[id(self._groups[op])][0]
        self.call(name, [rows, self.of_warp(first, self.v.type(op, True), warp)])


class _Panels:
    """Prepared fragments: made where several products of a block take the same A, and forgotten after the last of them."""

    def __init__(self, matrix: Matrix) -> None:
        self.m = matrix
        self.v, self.t = matrix.v, matrix.t
        self._often: set[tuple[Block, tuple[Value, ...]]] = set()
        self._known: dict[tuple[str, ...], list[str]] = {}
        self._free: dict[int, list[list[str]]] = {}
        self._last: dict[tuple[Block, tuple[Value, ...]], Op] = {}
        for block in self.v.kernel.blocks:
            self._count(block)

    def _count(self, block: Block) -> None:
        """Find the fragments of A that several products of a block take, and who takes a fragment last."""
        counts: dict[tuple[Value, ...], int] = {}
        for op in block.ops:
            if op in self.m.tiles.plan.products:
                continue
            if op.name == "matrix" and suits(MatrixProduct.of(op).product, self.v.machine):
                for side in _sides(op):
                    counts[side] = counts.get(side, 0) + 1
                    self._last[block, side] = op
                left, _ = _sides(op)
                if counts[left] >= _WORTH:
                    self._often.add((block, left))

    def ready(self, op: Op) -> list[list[str]]:
        """Return where A and B of a product lie prepared for each warp; nothing if that does not pay."""
        left, right = _sides(op)
        home, found = self.v.home[op], list[list[str]]()
        if (home, left) in self._often and all(self.v.varies(a) for a in (*left, *right)):
            found = [self._prepared(op, side, values) for side, values in (("a", left), ("b", right))]
        for values in (left, right):
            if self._last[home, values] is op:
                self._release(op, values)
        return found

    def _key(self, op: Op, values: tuple[Value, ...]) -> tuple[str, ...]:
        return (str(MatrixProduct.of(op).product), *(self.v.vector(a)[0] for a in values))

    def _prepared(self, op: Op, side: str, values: tuple[Value, ...]) -> list[str]:
        m, v, p = self.m, self.v, MatrixProduct.of(op).product
        key = (side, *self._key(op, values))
        if key not in self._known:
            size = panel_bytes(p, v.machine, side)
            free = self._free.setdefault(size, [])
            places = free.pop() if free else [self.t.alloca(f"[{size} x i8]", 64) for _ in range(v.warps)]
            self._known[key] = places
            name = m.function((p, side), lambda n: write_preparation(p, m.frame, side, n))
            sources = [(m.place(a), v.type(a, True)) for a in values]
            for warp in range(v.warps):
                m.call(name, [*(m.of_warp(x, type, warp) for x, type in sources), places[warp]])
        return self._known[key]

    def _release(self, op: Op, values: tuple[Value, ...]) -> None:
        """After its last product a fragment's memory may serve another."""
        p = MatrixProduct.of(op).product
        for side in "ab":
            places = self._known.pop((side, *self._key(op, values)), None)
            if places is not None:
                self._free[panel_bytes(p, self.v.machine, side)].append(places)


def _sides(op: Op) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    p: Product = MatrixProduct.of(op).product
    a, b = p.distinct("a"), p.distinct("b")
    return tuple(op.args[:a]), tuple(op.args[a : a + b])

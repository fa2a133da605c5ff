"""Products through the processor's tiles (AMX): what `matrix_tile_plan` put together, as loads of tiles, one instruction each, and a store.

Sums live as tiles in memory, rows of 64 bytes, in the order of columns in which lanes hold them: a register's four lanes of one row are
16 bytes side by side. Rows of A are a tile as they are; of B each row holds what stands below each other in a register of the fragment.
Tiles are configured when the kernel is entered and released where it returns; nothing else is in them between two batches.

TDPBF16PS takes subnormal numbers as zero, in its sums, too, and rounds to nearest even; the manual leaves that and the order open (9.7.15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from anywarp.compiler.attributes import MatrixLoad, MatrixProduct
from anywarp.compiler.ir import Op, Value
from anywarp.compiler.simd.known import Machine
from anywarp.compiler.simd.matrix_places import Group
from anywarp.compiler.simd.matrix_product import Frame, Steps, load_row, write_function
from anywarp.compiler.simd.matrix_tile_plan import ROW, ROWS, TILE, Batch, Home, Panel, TilePlan
from anywarp.compiler.simd.text import Text, vector_type
from anywarp.compiler.simd.values import Values

_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
"""Columns of an m16n8 product in the order in which they lie in a tile."""
_SUMS, _LEFT, _RIGHT = (0, 1), (2, 3), (4, 5)
_HALF_LEFT, _HALF_RIGHT = 6, 7
"""Numbers of tiles; the halves are for one step along k."""
_BY_TYPE = {
    "bf16": {"bf16": "tdpbf16ps"},
    "s8": {"s8": "tdpbssd", "u8": "tdpbsud"},
    "u8": {"s8": "tdpbusd", "u8": "tdpbuud"},
}


def configuration() -> str:
    """Return the LLVM constant that `ldtilecfg` takes: palette 1, and rows and bytes of each tile."""
    data = bytearray(64)
    data[0] = 1
    for tile in range(8):
        data[16 + 2 * tile] = ROW // 2 if tile == _HALF_LEFT else ROW
        data[48 + tile] = ROWS // 2 if tile == _HALF_RIGHT else ROWS
    return "<64 x i8> <" + ", ".join(f"i8 {x}" for x in data) + ">"


def sum_offsets(register: int, chunk: int, column: int, per_warp: int) -> int:
    """Return where the first row of a chunk of a register of sums lies in the tiles of a gang; the others follow by rows."""
    warp, half = divmod(chunk, per_warp)
    row = 4 * half + 8 * (register // 2)
    return warp * TILE + row * ROW + column * 32 + register % 2 * 16


class TileRegisters:
    """What is in the tiles for A and B while a block is emitted, so that it is not loaded again."""

    def __init__(self, t: Text) -> None:
        self.t = t
        self._held: dict[int, object] = {}
        self._next: dict[tuple[int, ...], int] = dict.fromkeys((_SUMS, _LEFT, _RIGHT), 0)

    def load(self, tiles: tuple[int, ...], place: str, key: object) -> int:
        """Return the tile that holds what lies at a place (`key` tells one from another; None: never the same)."""
        for tile in tiles:
            if key is not None and self._held.get(tile) == key:
                return tile
        at = self._next.get(tiles, 0)
        if tiles in self._next:
            self._next[tiles] = (at + 1) % len(tiles)
        self._held[tiles[at]] = key
        self.t.call("void", "llvm.x86.tileloadd64", ("i8", str(tiles[at])), ("ptr", place), ("i64", str(ROW)))
        return tiles[at]

    def multiply(
        self, batch: Batch, tile: int, left: tuple[str, object], right: tuple[str, object], whole: bool
    ) -> None:
        """Add a product to a tile of sums."""
        a = self.load(_LEFT if whole else (_HALF_LEFT,), *left)
        b = self.load(_RIGHT if whole else (_HALF_RIGHT,), *right)
        name = f"llvm.x86.{_BY_TYPE[batch.product.a][batch.product.b]}"
        self.t.call("void", name, ("i8", str(tile)), ("i8", str(a)), ("i8", str(b)))

    def start(self, place: str) -> int:
        """Load sums."""
        return self.load(_SUMS, place, None)

    def end(self, tile: int, place: str) -> None:
        """Store sums."""
        self.t.call("void", "llvm.x86.tilestored64", ("i8", str(tile)), ("ptr", place), ("i64", str(ROW)))


def write_panel_part(side: str, registers: int, frame: Frame, name: str) -> tuple[str, dict[str, str]]:
    """Return the text of a function that copies a fragment into its tile: pointers to its registers, and to where each of them goes."""
    t, n = Text("m"), frame.machine.chunk
    word = vector_type("i32", n)
    for r in range(registers):
        places = [t.let(f"getelementptr {word}, ptr %r{r}, i64 {c}") for c in range(frame.per_warp)]
        chunks = [t.let(f"load {word}, ptr {place}") for place in places]
        (_store_rows if side == "a" else _store_columns)(t, chunks, n, f"%d{r}")
    arguments = [f"ptr readonly %r{r}" for r in range(registers)] + [f"ptr %d{r}" for r in range(registers)]
    return write_function(name, arguments, t.lines, frame.machine), t.declarations


def _store_rows(t: Text, chunks: list[str], n: int, to: str) -> None:
    for row in range(8):
        chunk, first = divmod(4 * row, n)
        _store(t, _pick(t, chunks[chunk : chunk + 1], n, range(first, first + 4)), 4, to, row)


def _store_columns(t: Text, chunks: list[str], n: int, to: str) -> None:
    for row in range(4):
        _store(t, _pick(t, chunks, n, [4 * column + row for column in _ORDER]), 8, to, row)


def _pick(t: Text, chunks: list[str], n: int, lanes: range | list[int]) -> str:
    return t.shuffle(vector_type("i32", n), chunks[0], lanes, chunks[1] if len(chunks) > 1 else "poison")


def _store(t: Text, value: str, words: int, to: str, row: int) -> None:
    place = t.let(f"getelementptr i8, ptr {to}, i64 {row * ROW}")
    t.do(f"store {vector_type('i32', words)} {value}, ptr {place}, align {4 * words}")


Targets: TypeAlias = "tuple[tuple[int, int], ...]"
"""Where matrices go: the number of a panel among a function's arguments, and the offset of the first row there."""
_Piece: TypeAlias = "tuple[int, int, int, str]"
"""Of a row: panel, offset, words and value."""


def write_tile_loader(
    load: MatrixLoad, side: str, targets: Targets, steps: Steps, machine: Machine, name: str
) -> tuple[str, dict[str, str]]:
    """Return the text of a function that loads 8x8 matrices of 16-bit elements into panels: rows as `write_loader` is told of, then the panels."""
    t, pieces = Text("m"), list[_Piece]()
    for j, (panel, offset) in enumerate(targets):
        rows = [load_row(t, "<8 x i16>", r, steps) for r in range(8 * j, 8 * j + 8)]
        found = _rows(t, rows, load.transposed, side)
        pieces += [(panel, offset + ROW * i, *piece) for i, piece in enumerate(found)]
    for panel, offset, words, value in _joined(t, pieces):
        place = t.let(f"getelementptr i8, ptr %d{panel}, i64 {offset}")
        t.do(f"store {vector_type('i32', words)} {value}, ptr {place}, align {4 * words}")
    arguments = ["ptr readonly %rows", *(f"ptr %d{j}" for j in range(1 + max(panel for panel, _ in targets)))]
    return write_function(name, arguments, t.lines, machine), t.declarations


def _joined(t: Text, pieces: list[_Piece]) -> list[_Piece]:
    """Put pieces together that lie side by side: fewer stores, which loads of tiles wait for less."""
    for words in (4, 8):
        found = {(panel, offset): (n, value) for panel, offset, n, value in pieces}
        out: list[_Piece] = []
        while found:
            (panel, offset), (n, value) = min(found.items())
            del found[panel, offset]
            other = found.get((panel, offset + 4 * words))
            if n == words and offset % (8 * words) == 0 and other is not None and other[0] == words:
                del found[panel, offset + 4 * words]
                n, value = 2 * words, t.shuffle(vector_type("i32", words), value, range(2 * words), other[1])
            out.append((panel, offset, n, value))
        pieces = out
    return pieces


def _rows(t: Text, rows: list[str], transposed: bool, side: str) -> list[tuple[int, str]]:
    """Return the rows of a tile that a matrix becomes: how many words, and the value."""
    if side == "a" and not transposed:
        return [(4, t.cast("bitcast", "<8 x i16>", value, "<4 x i32>")) for value in rows]
    if side == "b" and transposed:  # a row of the tile is two of memory, element by element
        index = [8 * half + column for column in _ORDER for half in (0, 1)]
        found = [t.shuffle("<8 x i16>", a, index, b) for a, b in zip(rows[::2], rows[1::2], strict=True)]
        return [(8, t.cast("bitcast", "<16 x i16>", value, "<8 x i32>")) for value in found]
    whole = t.join("i16", 8, rows)[0]

    def element(row: int, place: int) -> int:
        return 8 * place + row if transposed else 8 * row + place

    out: list[tuple[int, str]] = []
    for row in range(8 if side == "a" else 4):
        if side == "a":
            index = [element(row, place) for place in range(8)]
        else:
            index = [element(column, 2 * row + half) for column in _ORDER for half in (0, 1)]
        n, value = len(index), t.shuffle("<64 x i16>", whole, index)
        out.append((n // 2, t.cast("bitcast", f"<{n} x i16>", value, f"<{n // 2} x i32>")))
    return out


def write_row_access(type: str, machine: Machine, store: bool, name: str) -> str:
    """Return the text of a function that loads, or stores, a chunk whose quarters lie in four rows of a tile."""
    t, n = Text("m"), machine.chunk
    element = type.split(" x ")[1].rstrip(">")
    quarter = vector_type(element, n // 4)
    places = [t.let(f"getelementptr i8, ptr %p, i64 {ROW * i}") for i in range(4)]
    bits = machine.vector_bits
    attributes = f'noinline nounwind willreturn "prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
    if store:
        for i, place in enumerate(places):
            part = t.shuffle(type, "%x", range(n // 4 * i, n // 4 * (i + 1)))
            t.do(f"store {quarter} {part}, ptr {place}, align 16")
        body = "\n".join(t.lines)
        return f"define internal fastcc void @{name}(ptr %p, {type} %x) {attributes} {{\n{body}\n  ret void\n}}"
    quarters = [t.let(f"load {quarter}, ptr {place}, align 16") for place in places]
    whole = t.join(element, n // 4, quarters)[0]
    body = "\n".join(t.lines)
    attributes += " memory(argmem: read)"
    return f"define internal fastcc {type} @{name}(ptr %p) {attributes} {{\n{body}\n  ret {type} {whole}\n}}"


class Fragments(Protocol):
    """Who knows where fragments lie (`Matrix`)."""

    v: Values
    frame: Frame

    def group(self, op: Op) -> Group:
        """Return the group in which the results of a matrix operation lie."""
        ...

    def place(self, value: Value) -> str:
        """Return where the chunks of a register lie."""
        ...

    def of_warp(self, place: str, type: str, warp: int) -> str:
        """Step from a register's first chunk to the first of a warp."""
        ...

    def function(self, kind: object, write: Callable[[str], tuple[str, dict[str, str]]]) -> str:
        """Return the name of a function of the module, written when first asked for."""
        ...

    def call(self, name: str, places: list[str]) -> None:
        """Call a function on pointers."""
        ...


class Tiles:
    """Emits what a plan has chosen; `matrix` knows where fragments lie."""

    def __init__(self, matrix: Fragments, plan: TilePlan) -> None:
        self.m, self.v, self.t = matrix, matrix.v, matrix.v.t
        self.plan = plan
        self.registers = TileRegisters(self.t)
        self._ready: set[tuple[int, int]] = set()
        self._direct = {(panel, offset) for targets in plan.direct.values() for panel, offset in targets}
        self._rooms: list[str] = []
        self.carried: list[Home] = []
        for home in dict.fromkeys(home for home, _ in plan.homes.values()):
            self._reserve(home)
        if self.used:
            self._configure()

    @property
    def used(self) -> bool:
        """Whether anything goes through tiles."""
        return bool(self.plan.products)

    def _configure(self) -> None:
        """Configure the tiles where the kernel begins."""
        t = self.t
        self._rooms = [t.alloca(f"[{self.bytes} x i8]", ROW) for _ in range(self.plan.panels)]
        t.declare("void", "llvm.x86.ldtilecfg", ["ptr"])
        t.declare("void", "llvm.x86.tilerelease", [])
        place = t.alloca("<64 x i8>", ROW)
        t.allocas += [f"  store {configuration()}, ptr {place}", f"  call void @llvm.x86.ldtilecfg(ptr {place})"]

    @property
    def bytes(self) -> int:
        """Bytes of a tile for each warp of a gang."""
        return TILE * self.v.warps

    def _reserve(self, home: Home) -> None:
        """Give sums their places: in the frame of the gang, which is known later, where a loop carries them."""
        v = self.v
        if any(group.carried for group in home.groups):
            home.base = "%" + self.t.fresh("sums")
            self.carried.append(home)
        else:
            home.base = self.t.alloca(f"[{self.bytes} x i8]", ROW)
        for column, group in enumerate(home.groups):
            element = group.type.split(" x ")[1].rstrip(">")
            load, store = (self._accessor(element, which) for which in (False, True))
            for value, register in group.members:
                offsets = [sum_offsets(register, c, column, self.m.frame.per_warp) for c in range(v.chunks)]
                v.variables.lie_in_rows(value, home.base, offsets, (load, store))

    def _accessor(self, element: str, store: bool) -> str:
        name = f"aw.rows.{'store' if store else 'load'}.{element}"
        if name not in self.t.declarations:
            type = vector_type(element, self.v.chunk)
            self.t.declarations[name] = write_row_access(type, self.v.machine, store, name)
        return name

    def place_carried(self, start: str, offset: int) -> None:
        """Say where sums that loops carry lie: from `offset` behind `start`; "" for variables of the function."""
        t = self.t
        for home in self.carried:
            if start:
                self.v.variables.frame(value for group in home.groups for value, _ in group.members)
                t.lines.append(f"  {home.base} = getelementptr i8, ptr {start}, i64 {offset}")
                offset += self.bytes
            else:
                t.allocas.append(f"  {home.base} = alloca [{self.bytes} x i8], align {ROW}")

    def product(self, op: Op) -> None:
        """Emit the batch that a product ends; nothing at the others."""
        batch = self.plan.last.get(op)
        if batch is None:
            return
        for chain in batch.chains:
            self._start(chain[0])
        for panel in (one for pair in batch.panels for one in pair):
            self._fill(panel)
        for warp in range(self.v.warps):
            sums = self._of_warp(batch.home.base, warp)
            tile = self.registers.start(sums)
            for left, right in batch.panels:
                a, b = ((self.place(one, warp), (self.v.copies, one, warp)) for one in (left, right))
                self.registers.multiply(batch, tile, a, b, left.whole)
            self.registers.end(tile, sums)

    def _start(self, op: Op) -> None:
        """Bring what the first product adds to where its sums lie, if it is not there."""
        v, p = self.v, MatrixProduct.of(op).product
        first = p.distinct("a") + p.distinct("b")
        group = self.m.group(op)
        home = {register: value for value, register in group.members}
        mine = {value for value, _ in group.members}
        for register, value in enumerate(op.args[first : first + p.distinct("c")]):
            if value not in mine:
                v.assign(home[register], "main", v.vector(value))

    def _fill(self, panel: Panel) -> None:
        """Copy fragments into a panel, once in each copy of a block, unless loads have put them there."""
        m, v = self.m, self.v
        if (v.copies, panel.number) in self._ready:
            return
        self._ready.add((v.copies, panel.number))
        places = iter(panel.places())
        for values in panel.parts.values():
            offsets = [offset for _, offset in (next(places) for _ in values)]
            if (panel, offsets[0]) in self._direct:
                continue
            count = len(values)
            name = m.function((panel.side, count), lambda n, c=count: write_panel_part(panel.side, c, m.frame, n))
            sources = [(m.place(a), v.type(a, True)) for a in values]
            for warp in range(v.warps):
                into = [self._at(panel, warp, offset) for offset in offsets]
                m.call(name, [*(m.of_warp(x, type, warp) for x, type in sources), *into])

    def targets(self, op: Op) -> tuple[list[Panel], Targets]:
        """Return into which panels a load writes, and where each matrix goes."""
        found = self.plan.direct[op]
        panels = list(dict.fromkeys(panel for panel, _ in found))
        return panels, tuple((panels.index(panel), offset) for panel, offset in found)

    def place(self, panel: Panel, warp: int) -> str:
        """Return where a warp's tile of a panel lies."""
        return self._of_warp(self._rooms[panel.number], warp)

    def _of_warp(self, base: str, warp: int) -> str:
        return self.t.let(f"getelementptr i8, ptr {base}, i64 {TILE * warp}") if warp else base

    def _at(self, panel: Panel, warp: int, offset: int) -> str:
        return self.t.let(f"getelementptr i8, ptr {self._rooms[panel.number]}, i64 {TILE * warp + offset}")

"""`wmma.load`, `wmma.store`, `wmma.mma`: matrices in fragments whose layout the manual leaves open (section 9.7.15.4).

A is held row by row, B by groups of rows, C and D row by row, 32 registers' worth at a time, whatever their layout in memory: so
fragments of one shape and type agree element by element.
"""

from __future__ import annotations

from anywarp.ptx.isa.data_movement import location
from anywarp.ptx.isa.matrix import elements, kinds, multiply, order, read_fragment, shape, write_fragment
from anywarp.ptx.isa.matrix_forms import WARP, WIDTH, Product, per_register
from anywarp.ptx.isa.operands import bits_type, malformed, read, resize, take
from anywarp.ptx.isa.ops import AddressSpace, Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction

_SHAPES = "m16n16k16/m8n32k16/m32n8k16"
_SPACE = "{.global/shared/shared::cta/shared::cluster}"


class _Tile:
    """A fragment in memory: how many units (registers' contents) there are, and where the elements of each are."""

    def __init__(self, ops: Ops, i: Instruction, which: str, kind: str) -> None:
        m, n, k = shape(i)
        self.ops, self.which, self.kind = ops, which, kind
        self.count = per_register(kind)
        self.rows, self.columns = {"a": (m, k), "b": (k, n)}.get(which, (m, n))
        self.by_row = "row" in i.modifiers
        self.along_rows = which != "b"  # whether a register's elements follow each other in a row
        self.registers = self.rows * self.columns // self.count // WARP

    def place(self, register: int) -> tuple[V, V]:
        """Return (row, column) of the first element that each lane holds in a register."""
        ops = self.ops
        unit = ops.add(ops.special("laneid"), ops.const("i32", WARP * register))
        width = self.columns // self.count if self.along_rows else self.columns
        major = ops.lshr(unit, ops.const("i32", width.bit_length() - 1))
        minor = ops.and_(unit, ops.const("i32", width - 1))
        scale = ops.const("i32", self.count)
        return (major, ops.mul(minor, scale)) if self.along_rows else (ops.mul(major, scale), minor)

    @property
    def whole(self) -> bool:
        """Whether a register's elements are adjacent in memory."""
        return self.count == 1 or self.by_row == self.along_rows

    def stride(self) -> int:
        """Elements from one row (column) to the next if none are said to lie between (section 9.7.15.4.3)."""
        return self.columns if self.by_row else self.rows

    def addresses(self, start: V, stride: V, register: int) -> list[V]:
        """Return the addresses of a register's contents: one, or one per element."""
        ops = self.ops
        row, column = self.place(register)
        if not self.by_row:
            row, column = column, row
        outer, inner = (resize(ops, v, start.type) for v in (row, column))
        width = WIDTH[self.kind]
        whole = self.whole or width < 8
        out: list[V] = []
        for n in range(1 if whole else self.count):
            line = outer if not n else ops.add(outer, ops.const(start.type, n))
            bits = ops.mul(ops.add(ops.mul(line, stride), inner), ops.const(start.type, width))
            out.append(ops.add(start, ops.lshr(bits, ops.const(start.type, 3))))
        return out


def _stride(ops: Ops, i: Instruction, tile: _Tile, start: V, at: int) -> V:
    if len(i.operands) <= at:
        return ops.const(start.type, tile.stride())
    return resize(ops, read(ops, i.operands[at], "i32"), start.type)


@meaning(
    f"wmma.load.a/b.sync{{.aligned}}.row/col.{_SHAPES}{_SPACE}.f16/bf16/u8/s8",
    f"wmma.load.a/b.sync{{.aligned}}.row/col.m16n16k8{_SPACE}.tf32",
    f"wmma.load.a/b.sync{{.aligned}}.row/col.m8n8k4{_SPACE}.f64",
    f"wmma.load.a/b.sync{{.aligned}}.row/col.m8n8k32{_SPACE}.u4/s4",
    f"wmma.load.a/b.sync{{.aligned}}.row/col.m8n8k128{_SPACE}.b1",
    f"wmma.load.c.sync{{.aligned}}.row/col.{_SHAPES}{_SPACE}.f16/f32/s32",
    f"wmma.load.c.sync{{.aligned}}.row/col.m16n16k8{_SPACE}.f32",
    f"wmma.load.c.sync{{.aligned}}.row/col.m8n8k4{_SPACE}.f64",
    f"wmma.load.c.sync{{.aligned}}.row/col.m8n8k32/m8n8k128{_SPACE}.s32",
)
def load(ops: Ops, i: Instruction) -> None:
    """`wmma.load`: from rows or columns that lie `stride` elements apart."""
    operands = take(i, 2, 3)
    which = next(w for w in ("a", "b", "c") if w in i.modifiers)
    tile = _Tile(ops, i, which, kinds(i)[0])
    _check_order(i, tile)
    space, start = location(ops, i, operands[1])
    stride = _stride(ops, i, tile, start, 2)
    values = [_fetch(ops, tile, space, tile.addresses(start, stride, r)) for r in range(tile.registers)]
    wanted = len(elements(operands[0]))
    if tile.kind == "f16" and which != "c":  # of one length for every shape: what is left over repeats the rest
        values = [values[r % len(values)] for r in range(8)]
    if wanted != len(values):
        raise malformed(i, f"a fragment of {wanted} registers, not {len(values)}")
    write_fragment(ops, i, operands[0], values)


def _check_order(i: Instruction, tile: _Tile) -> None:
    if WIDTH[tile.kind] < 8 and tile.by_row != tile.along_rows:
        raise malformed(i, "A is stored by rows and B by columns where elements are smaller than a byte")


def _fetch(ops: Ops, tile: _Tile, space: AddressSpace, places: list[V]) -> V:
    width = 64 if tile.kind == "f64" else 32
    if len(places) == 1:
        return ops.load(space, bits_type(width), places[0])[0]
    out: V = None
    for n, place in enumerate(places):
        part = ops.zext(ops.load(space, bits_type(WIDTH[tile.kind]), place)[0], "i32")
        out = part if not n else ops.or_(out, ops.shl(part, ops.const("i32", n * WIDTH[tile.kind])))
    return out


@meaning(
    f"wmma.store.d.sync{{.aligned}}.row/col.{_SHAPES}{_SPACE}.f16/f32/s32",
    f"wmma.store.d.sync{{.aligned}}.row/col.m16n16k8{_SPACE}.f32",
    f"wmma.store.d.sync{{.aligned}}.row/col.m8n8k4{_SPACE}.f64",
    f"wmma.store.d.sync{{.aligned}}.row/col.m8n8k32/m8n8k128{_SPACE}.s32",
)
def store(ops: Ops, i: Instruction) -> None:
    """`wmma.store`: the reverse of `wmma.load` of C."""
    operands = take(i, 2, 3)
    tile = _Tile(ops, i, "d", kinds(i)[0])
    space, start = location(ops, i, operands[0])
    stride = _stride(ops, i, tile, start, 2)
    values = read_fragment(ops, i, operands[1], tile.kind, tile.registers)
    for register, value in enumerate(values):
        places = tile.addresses(start, stride, register)
        if len(places) == 1:
            ops.store(space, places[0], [value])
            continue
        for n, place in enumerate(places):
            part = ops.lshr(value, ops.const("i32", n * WIDTH[tile.kind])) if n else value
            ops.store(space, place, [ops.trunc(part, bits_type(WIDTH[tile.kind]))])


@meaning(
    f"wmma.mma.sync{{.aligned}}.row/col.row/col.{_SHAPES}.f32/f16.f32/f16",
    f"wmma.mma.sync{{.aligned}}.row/col.row/col.{_SHAPES}.f32.bf16.bf16.f32",
    "wmma.mma.sync{.aligned}.row/col.row/col.m16n16k8.f32.tf32.tf32.f32",
    "wmma.mma.sync{.aligned}.row/col.row/col.m8n8k4{.rn}.f64.f64.f64.f64",
    f"wmma.mma.sync{{.aligned}}.row/col.row/col.{_SHAPES}{{.satfinite}}.s32.u8/s8.u8/s8.s32",
    "wmma.mma.sync{.aligned}.row.col.m8n8k32{.satfinite}.s32.u4/s4.u4/s4.s32",
)
def mma(ops: Ops, i: Instruction) -> None:
    """`wmma.mma`: D = A B + C, of fragments that `wmma.load` made."""
    types = kinds(i)
    d, a, b, c = (types[0], "f16", "f16", types[1]) if len(types) == 2 else types
    product = Product(*shape(i), a, b, d, c, layout="wmma", saturate=i.has("satfinite"))
    multiply(ops, i, product, take(i, 4))


@meaning("wmma.mma.xor/and.popc.sync{.aligned}.row.col.m8n8k128.s32.b1.b1.s32")
def mma_bits(ops: Ops, i: Instruction) -> None:
    """`wmma.mma` of single bits."""
    order(i)
    combine = "and" if i.has("and") else "xor"
    product = Product(*shape(i), "b1", "b1", "s32", "s32", layout="wmma", combine=combine)
    multiply(ops, i, product, take(i, 4))

"""Warp-level matrix instructions for the 8x8 and 16x8 fragments: `mma.sync`, `ldmatrix`, `stmatrix`, `movmatrix`.

Each is written as shuffles and fused multiply-adds, which says what the fragments mean (section 9.7.15); a target with matrix
hardware may recognise them. Products are exact in f32 and the order of additions is the target's to choose by the manual.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.ptx.isa.data_movement import location
from anywarp.ptx.isa.operands import join, malformed, read, split, take, write
from anywarp.ptx.isa.ops import AddressSpace, Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction, Operand, Vector


@dataclass(frozen=True, slots=True)
class Shape:
    """A 16 x 8 x k product: its depth, and how many of a row's (column's) elements one register holds."""

    depth: int
    packed: int

    @property
    def step(self) -> int:
        """How much of the depth one register spans across the four lanes of a group."""
        return 4 * self.packed


def _elements(operand: Operand) -> tuple[Operand, ...]:
    return operand.elements if isinstance(operand, Vector) else (operand,)


def _registers(ops: Ops, i: Instruction, operand: Operand, count: int) -> list[V]:
    found = _elements(operand)
    if len(found) != count:
        raise malformed(i, f"a fragment of {len(found)} registers, not {count}")
    return [read(ops, r, "i32") for r in found]


def _place(ops: Ops) -> tuple[V, V]:
    """Return each lane's group (its row) and its place in the group."""
    lane = ops.special("laneid")
    return ops.lshr(lane, ops.const("i32", 2)), ops.and_(lane, ops.const("i32", 3))


def _widen(ops: Ops, register: V, kind: str) -> list[V]:
    """Take a fragment register apart into f32 values."""
    if kind == "tf32":  # the low 13 bits are ignored (section 9.7.15.5.8: undefined unless zero)
        return [ops.bitcast(ops.and_(register, ops.const("i32", 0xFFFFE000)), "f32")]
    return [ops.fconvert(v, "f32") for v in split(ops, register, "f16" if kind == "f16" else "bf16")]


def _rows(ops: Ops, registers: list[V], lanes: V, shape: Shape, kind: str) -> list[V]:
    """Collect the `depth` elements of one row or column: register r holds elements r*step .. of four adjacent lanes."""
    out: list[V] = []
    for register in registers:
        for place in range(4):
            lane = ops.add(lanes, ops.const("i32", place))
            out += _widen(ops, ops.shuffle(register, lane), kind)
    if len(out) != shape.depth:
        raise AssertionError(f"{len(out)} elements of a row of {shape.depth}")
    return out


@meaning(
    "mma.sync{.aligned}.m16n8k8/m16n8k16.row.col.f32/f16.f16.f16.f32/f16",
    "mma.sync{.aligned}.m16n8k8/m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync{.aligned}.m16n8k4/m16n8k8.row.col.f32.tf32.tf32.f32",
)
def mma(ops: Ops, i: Instruction) -> None:
    """`mma.sync` of 16-bit and tf32 inputs with f32 or f16 accumulators: D = A B + C."""
    d, a, b, c = take(i, 4)
    kind, result, addend = i.types[1], i.types[0], i.types[3]
    depth = next(n for n in (4, 8, 16) if i.has(f"m16n8k{n}"))
    shape = Shape(depth, 1 if kind == "tf32" else 2)
    spans = depth // shape.step
    left = _registers(ops, i, a, 2 * spans)
    right = _registers(ops, i, b, spans)
    group, place = _place(ops)
    row = ops.shl(group, ops.const("i32", 2))  # the first lane of this lane's group
    column = ops.shl(place, ops.const("i32", 3))  # the first lane of the group numbered 2 * place
    rows = [_rows(ops, left[half::2], row, shape, kind) for half in (0, 1)]
    columns = [_rows(ops, right, ops.add(column, ops.const("i32", 4 * n)), shape, kind) for n in (0, 1)]
    sums = _accumulators(ops, i, c, addend)
    for k in range(depth):
        sums = [ops.fma(rows[n // 2][k], columns[n % 2][k], s) for n, s in enumerate(sums)]
    _write_result(ops, i, d, result, sums)


def _accumulators(ops: Ops, i: Instruction, operand: Operand, kind: str) -> list[V]:
    if kind == "f32":
        return [ops.bitcast(r, "f32") for r in _registers(ops, i, operand, 4)]
    return [ops.fconvert(v, "f32") for r in _registers(ops, i, operand, 2) for v in split(ops, r, "f16")]


def _write_result(ops: Ops, i: Instruction, operand: Operand, kind: str, sums: list[V]) -> None:
    if kind == "f32":
        values = sums
    else:
        halves = [ops.fconvert(s, "f16") for s in sums]
        values = [join(ops, halves[0], halves[1]), join(ops, halves[2], halves[3])]
    targets = _elements(operand)
    if len(targets) != len(values):
        raise malformed(i, f"a fragment of {len(targets)} registers, not {len(values)}")
    for target, value in zip(targets, values, strict=True):
        write(ops, target, value)


@meaning("ldmatrix.sync{.aligned}.m8n8.x1/x2/x4{.trans}{.shared/shared::cta}.b16")
def ldmatrix(ops: Ops, i: Instruction) -> None:
    """`ldmatrix`: lane 8j+r names row r of matrix j; each lane receives two adjacent elements of a row (or column)."""
    destination, address = take(i, 2)
    targets = _elements(destination)
    if len(targets) != _matrices(i):
        raise malformed(i, f"{len(targets)} destinations for {_matrices(i)} matrices")
    space, start = location(ops, i, address)
    group, place = _place(ops)
    values = [_fetch(ops, i, space, start, ops.const("i32", 8 * j), group, place) for j in range(len(targets))]
    for target, value in zip(targets, values, strict=True):
        write(ops, target, value)


def _matrices(i: Instruction) -> int:
    return next(n for n in (1, 2, 4) if i.has(f"x{n}"))


def _bytes(ops: Ops, like: V, count: V, shift: int) -> V:
    """A byte offset of `count << shift` in the type of an address."""
    scaled = ops.shl(count, ops.const("i32", shift))
    return scaled if like.type == "i32" else ops.zext(scaled, "i64")


def _row_address(ops: Ops, start: V, lane: V) -> V:
    """The address that `lane` passed in; a 64-bit one travels in two halves."""
    if start.type == "i32":
        return ops.shuffle(start, lane)
    low, high = (ops.shuffle(v, lane) for v in split(ops, start, "i32"))
    return join(ops, low, high)


def _fetch(ops: Ops, i: Instruction, space: AddressSpace, start: V, first: V, group: V, place: V) -> V:
    if not i.has("trans"):
        row = _row_address(ops, start, ops.add(first, group))
        return ops.load(space, "i32", ops.add(row, _bytes(ops, row, place, 2)))[0]
    rows = [ops.add(first, ops.add(ops.shl(place, ops.const("i32", 1)), ops.const("i32", n))) for n in (0, 1)]
    starts = [_row_address(ops, start, row) for row in rows]
    low, high = (ops.load(space, "i16", ops.add(s, _bytes(ops, s, group, 1)))[0] for s in starts)
    return join(ops, low, high)


@meaning("stmatrix.sync{.aligned}.m8n8.x1/x2/x4{.trans}{.shared/shared::cta}.b16")
def stmatrix(ops: Ops, i: Instruction) -> None:
    """`stmatrix`: the reverse of `ldmatrix`."""
    address, source = take(i, 2)
    sources = _elements(source)
    if len(sources) != _matrices(i):
        raise malformed(i, f"{len(sources)} sources for {_matrices(i)} matrices")
    space, start = location(ops, i, address)
    group, place = _place(ops)
    for j, register in enumerate(sources):
        value, first = read(ops, register, "i32"), ops.const("i32", 8 * j)
        if not i.has("trans"):
            row = _row_address(ops, start, ops.add(first, group))
            ops.store(space, ops.add(row, _bytes(ops, row, place, 2)), [value])
            continue
        for n, half in enumerate(split(ops, value, "i16")):
            lane = ops.add(first, ops.add(ops.shl(place, ops.const("i32", 1)), ops.const("i32", n)))
            row = _row_address(ops, start, lane)
            ops.store(space, ops.add(row, _bytes(ops, row, group, 1)), [half])


@meaning("movmatrix.sync{.aligned}.m8n8.trans.b16")
def movmatrix(ops: Ops, i: Instruction) -> None:
    """`movmatrix`: transpose one 8x8 matrix held across the warp."""
    d, a = take(i, 2)
    source = read(ops, a, "i32")
    group, place = _place(ops)
    odd = ops.icmp("ne", ops.and_(group, ops.const("i32", 1)), ops.const("i32", 0))
    halves: list[V] = []
    for n in (0, 1):  # element (row 2*place+n, column group) lives in lane 4*row + column/2, half column%2
        row = ops.add(ops.shl(place, ops.const("i32", 1)), ops.const("i32", n))
        lane = ops.add(ops.shl(row, ops.const("i32", 2)), ops.lshr(group, ops.const("i32", 1)))
        low, high = split(ops, ops.shuffle(source, lane), "i16")
        halves.append(ops.select(odd, high, low))
    write(ops, d, join(ops, halves[0], halves[1]))

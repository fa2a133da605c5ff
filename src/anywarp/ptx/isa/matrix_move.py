"""Moving 8x8 matrices between memory and the lanes: `ldmatrix`, `stmatrix`, `movmatrix`."""

from __future__ import annotations

from anywarp.ptx.isa.data_movement import location
from anywarp.ptx.isa.matrix import elements
from anywarp.ptx.isa.operands import join, malformed, read, split, take, write
from anywarp.ptx.isa.ops import Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction


def _place(ops: Ops) -> tuple[V, V]:
    """Return each lane's group (its row) and its place in the group."""
    lane = ops.special("laneid")
    return ops.lshr(lane, ops.const("i32", 2)), ops.and_(lane, ops.const("i32", 3))


@meaning("ldmatrix.sync{.aligned}.m8n8.x1/x2/x4{.trans}{.shared/shared::cta}.b16")
def ldmatrix(ops: Ops, i: Instruction) -> None:
    """`ldmatrix`: lane 8j+r names row r of matrix j; each lane receives two adjacent elements of a row (or column)."""
    destination, address = take(i, 2)
    targets = elements(destination)
    if len(targets) != _matrices(i):
        raise malformed(i, f"{len(targets)} destinations for {_matrices(i)} matrices")
    space, start = location(ops, i, address)
    values = ops.matrix_load(space, start, len(targets), transposed=i.has("trans"))
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


@meaning("stmatrix.sync{.aligned}.m8n8.x1/x2/x4{.trans}{.shared/shared::cta}.b16")
def stmatrix(ops: Ops, i: Instruction) -> None:
    """`stmatrix`: the reverse of `ldmatrix`."""
    address, source = take(i, 2)
    sources = elements(source)
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

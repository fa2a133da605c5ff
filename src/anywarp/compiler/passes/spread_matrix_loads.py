"""Take loads of matrices apart into loads by each lane, for compilations whose accesses are checked.

A check watches one access per lane with its own address; `matrix_load` has an address per row of a matrix.
"""

from __future__ import annotations

from anywarp.compiler.attributes import NONE, Attributes, Element, MatrixLoad, MemoryAccess, Special
from anywarp.compiler.ir import Block, Const, Kernel, Op, Specialisation, Value
from anywarp.compiler.uses import substitute
from anywarp.ptx.isa.ops import Type


def spread_matrix_loads(kernel: Kernel, specialisation: Specialisation) -> None:
    """Replace each `matrix_load` where accesses are checked.

    Legality: lane 4r+c gets elements 2c and 2c+1 of row (transposed: column) r, from the address that lane 8j+row names for matrix j.
    """
    if not specialisation.checks:
        return
    replaced: dict[Value, Value] = {}
    for block in kernel.blocks:
        if any(op.name == "matrix_load" for op in block.ops):
            _block(block, replaced)
    substitute(kernel, replaced)


def _block(block: Block, replaced: dict[Value, Value]) -> None:
    out: list[Op] = []
    results: dict[Op, list[Value]] = {}
    for op in block.ops:
        source = op.args[0] if op.name == "element" else None
        if op.name == "matrix_load":
            results[op] = _Loads(op, out).all()
            replaced[op] = results[op][0]
        elif isinstance(source, Op) and source in results:
            replaced[op] = results[source][Element.of(op).index]
        else:
            out.append(op)
    block.ops = out


class _Loads:
    """The loads that stand for one `matrix_load`, appended to `out`."""

    def __init__(self, op: Op, out: list[Op]) -> None:
        self.op, self.out = op, out
        lane = self._make("special", "i32", [], Special("laneid"))
        self.group = self._make("lshr", "i32", [lane, Const("i32", 2)])
        self.place = self._make("and", "i32", [lane, Const("i32", 3)])

    def all(self) -> list[Value]:
        """Return the register of each matrix."""
        one = self._column if MatrixLoad.of(self.op).transposed else self._row
        return [one(j) for j in range(MatrixLoad.of(self.op).count)]

    def _make(self, name: str, type: Type, args: list[Value], attrs: Attributes = NONE) -> Op:
        guard = self.op.guard if name == "load" else None
        made = Op(name, type, args, attrs, guard, self.op.span)
        self.out.append(made)
        return made

    def _load(self, type: Type, row: Value, column: Value, shift: int) -> Value:
        """Load element `column` << `shift` bytes into the row that lane `row` names."""
        address = self.op.args[0]
        start = self._make("shuffle", address.type, [address, row])
        offset: Value = self._make("shl", "i32", [column, Const("i32", shift)])
        if address.type == "i64":
            offset = self._make("zext", "i64", [offset])
        where = self._make("add", address.type, [start, offset])
        return self._make("load", type, [where], MemoryAccess(MatrixLoad.of(self.op).space))

    def _row(self, j: int) -> Value:
        return self._load("i32", self._make("add", "i32", [self.group, Const("i32", 8 * j)]), self.place, 2)

    def _column(self, j: int) -> Value:
        twice = self._make("shl", "i32", [self.place, Const("i32", 1)])
        low, high = (
            self._make(
                "zext",
                "i32",
                [self._load("i16", self._make("add", "i32", [twice, Const("i32", 8 * j + n)]), self.group, 1)],
            )
            for n in (0, 1)
        )
        return self._make("or", "i32", [low, self._make("shl", "i32", [high, Const("i32", 16)])])

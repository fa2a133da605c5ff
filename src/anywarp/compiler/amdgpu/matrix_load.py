"""`matrix_load` (ldmatrix): each lane reads its elements itself, from the row whose address another lane of the warp has."""

from __future__ import annotations

from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.amdgpu.places import Places
from anywarp.compiler.amdgpu.warp import read_lane_of
from anywarp.compiler.attributes import InSpace, MatrixLoad
from anywarp.compiler.ir import Op
from anywarp.compiler.simd.text import LLVM_TYPE


class MatrixLoads:
    """Emits loads of matrices through `places`."""

    def __init__(self, e: Emitter, places: Places) -> None:
        self.e, self.t, self.places = e, e.t, places

    def load(self, op: Op) -> None:
        """Emit a load: lane 4r + c gets elements 2c and 2c + 1 of row (transposed: column) r of each matrix."""
        e, count = self.e, MatrixLoad.of(op).count
        one = self._column if MatrixLoad.of(op).transposed else self._row
        e.define_all(op, e.guarded(op, lambda: [("i32", one(op, j)) for j in range(count)]))

    def _row(self, op: Op, j: int) -> str:
        t, lane = self.t, self.e.lane
        row = t.two("add", "i32", t.two("lshr", "i32", lane, "2"), str(8 * j))
        offset = t.two("shl", "i32", t.two("and", "i32", lane, "3"), "2")
        return self._read(op, row, offset, "i32", 4)

    def _column(self, op: Op, j: int) -> str:
        t, lane = self.t, self.e.lane
        first = t.two("shl", "i32", t.two("and", "i32", lane, "3"), "1")
        offset = t.two("shl", "i32", t.two("lshr", "i32", lane, "2"), "1")
        parts: list[str] = []
        for n in (0, 1):
            half = self._read(op, t.two("add", "i32", first, str(8 * j + n)), offset, "i16", 2)
            parts.append(t.cast("zext", "i16", half, "i32"))
        return t.two("or", "i32", parts[0], t.two("shl", "i32", parts[1], "16"))

    def _read(self, op: Op, row: str, offset: str, type: str, align: int) -> str:
        """Read what lies `offset` bytes behind the address that lane `row` has."""
        e, t, address = self.e, self.t, op.args[0]
        held = LLVM_TYPE[address.type]
        start = read_lane_of(e, held, e.value(address), row)
        if held == "i64":
            offset = t.cast("zext", "i32", offset, "i64")
        place = Op("add", address.type, [])
        e.define(place, t.two("add", held, start, offset))
        space = self.places.space(InSpace.of(op).space, address)
        pointer_type, pointer = self.places.pointer(space, place)
        return t.let(f"load {type}, {pointer_type} {pointer}, align {align}")

"""Which function emits which operation of the kernel IR; an operation without one is named in a diagnostic."""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.amdgpu import approximate, barriers, floats, integers, matrix, pairs, texture, warp
from anywarp.compiler.amdgpu.atomics import Atomics
from anywarp.compiler.amdgpu.bulk import Bulk
from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.amdgpu.matrix_load import MatrixLoads
from anywarp.compiler.amdgpu.memory import Memory
from anywarp.compiler.amdgpu.places import Places
from anywarp.compiler.amdgpu.services import emit_host_call
from anywarp.compiler.amdgpu.special import emit_special
from anywarp.compiler.attributes import Element, Service
from anywarp.compiler.ir import Op

Handler = Callable[[Emitter, Op], None]
"""Emits one operation: reads `e.value(arg)`, appends to `e.t`, ends with `e.define` or `e.define_all`."""

HANDLERS: dict[str, Handler] = {
    **integers.OPERATIONS,
    **floats.OPERATIONS,
    **pairs.OPERATIONS,
    **warp.OPERATIONS,
    **matrix.OPERATIONS,
    **approximate.OPERATIONS,
    **texture.OPERATIONS,
    **barriers.OPERATIONS,
    "special": emit_special,
}
"""What needs nothing but the emitter."""


class Operations:
    """Emits operations of one kernel."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.places = places = Places(e)
        memory, atomics = Memory(e, places), Atomics(e, places)
        self._bulk = Bulk(e, places, atomics)
        self._own: dict[str, Callable[[Op], None]] = {
            "param": memory.param,
            "symbol": places.symbol,
            "load": memory.load,
            "store": memory.store,
            "fence": memory.fence,
            "matrix_load": MatrixLoads(e, places).load,
            "atomic": atomics.atomic,
            "to_generic": places.to_generic,
            "from_generic": places.from_generic,
            "is_space": places.is_space,
            "element": self._element,
            "host_call": self._host_call,
        }

    def emit(self, op: Op) -> None:
        """Emit one operation. Raises NotImplementedError naming what there is no code for."""
        if self.places.pointers.emit(op):
            return
        self._emit(op)
        self.places.pointers.after(op)

    def _emit(self, op: Op) -> None:
        own = self._own.get(op.name)
        if own is not None:
            own(op)
            return
        handler = HANDLERS.get(op.name)
        if handler is None:
            raise NotImplementedError(f"operation {op.name}")
        handler(self.e, op)

    def _host_call(self, op: Op) -> None:
        if Service.of(op).name.startswith("bulk_"):
            self._bulk.emit(op)
        else:
            emit_host_call(self.e, op)

    def _element(self, op: Op) -> None:
        self.e.define(op, self.e.elements[op.args[0]][Element.of(op).index])

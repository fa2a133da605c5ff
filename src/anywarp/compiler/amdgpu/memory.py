"""Loads, stores and fences, ordered and scoped as LLVM's memory model for AMDGPU has it.

PTX's scopes are LLVM's: cta a workgroup, cluster and gpu an agent, sys the system.
"""

from __future__ import annotations

from anywarp.compiler.amdgpu.alignment import alignments
from anywarp.compiler.amdgpu.emitter import INVARIANT, SIZE, Emitter
from anywarp.compiler.amdgpu.places import Places
from anywarp.compiler.attributes import Access, Fence, InSpace, MemoryAccess, Parameter
from anywarp.compiler.ir import Op
from anywarp.compiler.simd.text import LLVM_TYPE

SCOPE = {"cta": ' syncscope("workgroup")', "cluster": ' syncscope("agent")', "gpu": ' syncscope("agent")', "sys": ""}
ORDER = {
    "weak": "monotonic", "relaxed": "monotonic", "acquire": "acquire", "release": "release", "acq_rel": "acq_rel", "sc": "seq_cst",
}  # fmt: skip
_LOAD_ORDER = {"release": "monotonic", "acq_rel": "acquire"}
_STORE_ORDER = {"acquire": "monotonic", "acq_rel": "release"}


class Memory:
    """Emits accesses through `places`."""

    def __init__(self, e: Emitter, places: Places) -> None:
        self.e = e
        self.places = places
        self.divides = alignments(e.kernel)

    def _align(self, op: Op, bytes: int) -> int:
        """Return how an access of so many bytes, which PTX wants aligned to them, is aligned."""
        return max(bytes, self.divides.get(op.args[0], 1))

    def param(self, op: Op) -> None:
        """Emit a kernel's parameter."""
        if op.type == "i1":
            raise NotImplementedError("a parameter of type i1")
        self.e.define(op, self.e.argument(Parameter.of(op).offset, LLVM_TYPE[op.type]))

    def load(self, op: Op) -> None:
        """Emit a load of one or more adjacent elements."""
        e, t = self.e, self.e.t
        element, size, count = LLVM_TYPE[op.type], SIZE[op.type], MemoryAccess.of(op).count

        def one_by_one() -> list[tuple[str, str]]:
            return [(element, self._atomic_load(op, i * size, element, size)) for i in range(count)]

        def whole() -> list[tuple[str, str]]:
            type, pointer = self.places.pointer(InSpace.of(op).space, op.args[0])
            volatile = "volatile " if MemoryAccess.of(op).volatile else ""
            align = self._align(op, size * count)
            known = INVARIANT if type == "ptr addrspace(4)" and not volatile else ""
            if count == 1:
                return [(element, t.let(f"load {volatile}{element}, {type} {pointer}, align {align}{known}"))]
            vector = f"<{count} x {element}>"
            found = t.let(f"load {volatile}{vector}, {type} {pointer}, align {align}{known}")
            return [(element, t.let(f"extractelement {vector} {found}, i32 {i}")) for i in range(count)]

        ordered = Access.of(op).order != "weak"
        e.define_all(op, e.guarded(op, one_by_one if ordered else whole))

    def _atomic_load(self, op: Op, offset: int, element: str, size: int) -> str:
        t = self.e.t
        type, pointer = self.places.pointer(InSpace.of(op).space, op.args[0], offset)
        if size > 8:  # one instruction of 128 bits, which LLVM does not call atomic
            wide = t.let(f"load volatile i128, {type} {pointer}, align {size}")
            if Access.of(op).order in ("acquire", "acq_rel", "sc"):
                t.do(f"fence{SCOPE[Access.of(op).scope]} acquire")
            return wide
        given = str(Access.of(op).order)
        order = ORDER[_LOAD_ORDER.get(given, given)]
        scope = SCOPE[Access.of(op).scope]
        volatile = "volatile " if MemoryAccess.of(op).volatile else ""
        word = f"i{8 * size}"
        bits = t.let(f"load atomic {volatile}{word}, {type} {pointer}{scope} {order}, align {size}")
        return bits if element == word else t.cast("bitcast", word, bits, element)

    def store(self, op: Op) -> None:
        """Emit a store of one or more adjacent elements."""
        self.e.guarded(op, lambda: self._store(op))

    def _store(self, op: Op) -> list[tuple[str, str]]:
        e, t, values = self.e, self.e.t, op.args[1:]
        element, size, count = LLVM_TYPE[values[0].type], SIZE[values[0].type], len(op.args) - 1
        order = str(Access.of(op).order)
        volatile = "volatile " if MemoryAccess.of(op).volatile else ""
        if order == "weak":
            type, pointer = self.places.pointer(InSpace.of(op).space, op.args[0])
            vector, whole = element, e.value(values[0])
            if count > 1:
                vector, whole = f"<{count} x {element}>", "poison"
                for i, value in enumerate(values):
                    whole = t.let(f"insertelement {vector} {whole}, {element} {e.value(value)}, i32 {i}")
            t.do(f"store {volatile}{vector} {whole}, {type} {pointer}, align {self._align(op, size * count)}")
            return []
        if size > 8:
            if order in ("release", "acq_rel", "sc"):
                t.do(f"fence{SCOPE[Access.of(op).scope]} release")
            for i, value in enumerate(values):
                type, pointer = self.places.pointer(InSpace.of(op).space, op.args[0], i * size)
                t.do(f"store volatile i128 {e.value(value)}, {type} {pointer}, align {size}")
            return []
        how, word = ORDER[_STORE_ORDER.get(order, order)], f"i{8 * size}"
        for i, value in enumerate(values):
            type, pointer = self.places.pointer(InSpace.of(op).space, op.args[0], i * size)
            name = e.value(value)
            bits = name if element == word else t.cast("bitcast", element, name, word)
            scope = SCOPE[Access.of(op).scope]
            t.do(f"store atomic {volatile}{word} {bits}, {type} {pointer}{scope} {how}, align {size}")
        return []

    def fence(self, op: Op) -> None:
        """Emit a fence."""
        order = Fence.of(op).order
        name = "acq_rel" if order in ("weak", "relaxed") else ORDER[order]
        self.e.t.do(f"fence{SCOPE[Fence.of(op).scope]} {name}")

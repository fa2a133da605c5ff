"""Atomic read-modify-writes of one lane: instructions where they are right on every kind of memory, else exchange loops.

Float operations carry no promise about the memory, so LLVM uses the hardware's only where it is right on fine-grained memory too.
"""

from __future__ import annotations

from anywarp.compiler.amdgpu.emitter import SIZE, Emitter
from anywarp.compiler.amdgpu.floats import GpuFloats
from anywarp.compiler.amdgpu.memory import ORDER, SCOPE
from anywarp.compiler.amdgpu.places import Places
from anywarp.compiler.amdgpu.wide_atomics import emit_wide
from anywarp.compiler.attributes import Access, AtomicAccess, InSpace
from anywarp.compiler.ir import Op
from anywarp.compiler.operation_table import OPERATIONS
from anywarp.compiler.simd.text import LLVM_TYPE
from anywarp.ptx.isa.mbarriers import COUNTED, EXPECTED, PARITY
from anywarp.ptx.isa.ops import Type

_RMW = {
    "add": "add", "and": "and", "or": "or", "xor": "xor", "exch": "xchg", "min": "min", "max": "max", "umin": "umin",
    "umax": "umax", "inc": "uinc_wrap", "dec": "udec_wrap",
}  # fmt: skip
_FAILURE = {"release": "monotonic", "acq_rel": "acquire"}


class Atomics:
    """Emits atomics through `places`."""

    def __init__(self, e: Emitter, places: Places) -> None:
        self.e = e
        self.places = places

    def atomic(self, op: Op) -> None:
        """Emit an atomic operation of the lanes whose guard holds."""
        type = LLVM_TYPE[op.args[1].type]
        self.e.define(op, self.e.guarded(op, lambda: [(type, self._one(op, type))])[0])

    def _one(self, op: Op, element: str) -> str:
        e, t, size = self.e, self.e.t, SIZE[op.args[1].type]
        order, scope = ORDER[Access.of(op).order], SCOPE[Access.of(op).scope]
        type, pointer = self.places.pointer(InSpace.of(op).space, op.args[0])
        if size > 8:
            return emit_wide(e, op, type, pointer)
        values = [e.value(a) for a in op.args[1:]]
        if AtomicAccess.of(op).op == "cas":
            word = f"i{8 * size}"
            old, new = (v if element == word else t.cast("bitcast", element, v, word) for v in values)
            found = self._exchange(type, pointer, word, old, new, order, scope)[0]
            return found if element == word else t.cast("bitcast", word, found, element)
        return self._update(AtomicAccess.of(op).op, op.args[1].type, (type, pointer), values[0], order, scope)

    def update(self, name: str, held: Type, place: tuple[str, str], value: str) -> str:
        """Emit a relaxed update of one element at a pointer (its type and name), for all of the device; returns the old value."""
        return self._update(name, held, place, value, "monotonic", SCOPE["gpu"])

    def _update(self, name: str, held: Type, place: tuple[str, str], value: str, order: str, scope: str) -> str:
        element, size = LLVM_TYPE[held], SIZE[held]
        how = _RMW.get(name) if (element.startswith("i") and size >= 4) or name == "exch" else None
        if name == "fadd" and element in ("float", "double"):
            how = "fadd"
        if how is None:
            return self._by_exchange(name, held, place, value, order, scope)
        return self.e.t.let(f"atomicrmw {how} {place[0]} {place[1]}, {element} {value}{scope} {order}, align {size}")

    def _exchange(
        self, type: str, pointer: str, word: str, old: str, new: str, order: str, scope: str
    ) -> tuple[str, str]:
        t, size = self.e.t, int(word[1:]) // 8
        failure = _FAILURE.get(order, order)
        pair = t.let(f"cmpxchg {type} {pointer}, {word} {old}, {word} {new}{scope} {order} {failure}, align {size}")
        return t.let(f"extractvalue {{ {word}, i1 }} {pair}, 0"), t.let(f"extractvalue {{ {word}, i1 }} {pair}, 1")

    def _by_exchange(self, name: str, held: Type, place: tuple[str, str], value: str, order: str, scope: str) -> str:
        """Compute the new value and try to exchange until nobody interfered; a lane that succeeds waits for no other."""
        e, t, size, element = self.e, self.e.t, SIZE[held], LLVM_TYPE[held]
        type, pointer = place
        word = f"i{8 * size}"
        first = t.let(f"load atomic {word}, {type} {pointer}{scope} monotonic, align {size}")

        def trip(carried: list[str]) -> tuple[str, list[str]]:
            seen = carried[0]
            old = seen if element == word else t.cast("bitcast", word, seen, element)
            new = self._new(name, held, old, value)
            bits = new if element == word else t.cast("bitcast", element, new, word)
            found, done = self._exchange(type, pointer, word, seen, bits, order, scope)
            return t.two("xor", "i1", done, "true"), [found]

        found = e.loop([(word, first)], trip)[0]
        return found if element == word else t.cast("bitcast", word, found, element)

    def _new(self, name: str, held: Type, old: str, b: str) -> str:
        t = self.e.t
        if name == "arrive":
            return self._arrived(t.two("add", "i64", old, b))
        if name in ("fadd", "fmin", "fmax"):
            floats, made = GpuFloats(t), Op(name, held, [], OPERATIONS[name].attributes())
            return floats.arithmetic(made, 0, old, b) if name == "fadd" else floats.extreme(made, 0, old, b)
        raise NotImplementedError(f"atom.{name} of {held}")

    def _arrived(self, word: str) -> str:
        """An mbarrier's word after a change: in its next phase where nothing is pending (see `ptx.isa.mbarriers`)."""
        t = self.e.t
        expected = t.two("and", "i64", t.two("lshr", "i64", word, str(EXPECTED)), str((1 << EXPECTED) - 1))
        following = t.two("or", "i64", t.two("xor", "i64", word, str(1 << PARITY)), expected)
        counted = t.two("and", "i64", word, str(COUNTED - (1 << 64)))
        return t.pick(0, t.two("icmp eq", "i64", counted, "0"), "i64", following, word)

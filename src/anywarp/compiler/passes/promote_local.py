"""Turn local variables that are only loaded and stored at constant offsets into SSA values.

Parameters of device functions and what compilers spill (`__local_depot`) come as local memory; as values they cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anywarp.compiler.attributes import Element, InSpace, MemoryAccess, Symbol
from anywarp.compiler.cfg import control_flow, dominance_frontiers
from anywarp.compiler.ir import Block, Const, Kernel, Op, Phi, Specialisation, Undefined, Value
from anywarp.compiler.place_phis import place_phis
from anywarp.compiler.uses import resolve, substitute
from anywarp.compiler.variables import Place
from anywarp.ptx.isa.ops import BITS, Type


@dataclass(eq=False, slots=True)
class _Slot:
    """Some bytes of a variable that are always accessed as one element: an SSA variable."""

    type: Type


@dataclass(eq=False, slots=True)
class _Accesses:
    """How a variable is used: elements (offset, size) with the type that came first."""

    elements: dict[tuple[int, int], Type] = field(default_factory=dict[tuple[int, int], Type])
    vectors: list[list[tuple[int, int]]] = field(default_factory=list[list[tuple[int, int]]])
    escapes: bool = False


def promote_local(kernel: Kernel, specialisation: Specialisation) -> None:
    """Replace loads by the value that the last store left there.

    Legality: local memory is a lane's own. A slot is promoted when every access to its bytes is a plain load or store of
    exactly these bytes at a known offset, and the variable's address is used for nothing else. A load of bytes never stored
    gives an undefined value, as PTX has it.
    """
    slots = _slots(kernel)
    if slots:
        _Promotion(kernel, slots).run()


def _slots(kernel: Kernel) -> dict[tuple[Place, int, int], _Slot]:
    """Find what can be promoted, by variable, offset and size in bytes."""
    found: dict[Place, _Accesses] = {}
    for block in kernel.blocks:
        for phi in block.phis:
            for value in phi.incoming.values():
                _escape(value, found)
        for op in block.ops:
            _note(op, found)
        for value in block.terminator.args:
            _escape(value, found)
    out: dict[tuple[Place, int, int], _Slot] = {}
    for place, accesses in found.items():
        if accesses.escapes or place.pinned:
            continue
        separate = set(_separate(sorted(accesses.elements)))
        _spoil(separate, accesses.vectors)
        for offset, size in separate:
            out[place, offset, size] = _Slot(accesses.elements[offset, size])
    return out


def _spoil(separate: set[tuple[int, int]], vectors: list[list[tuple[int, int]]]) -> None:
    """Drop the elements of vector accesses that cannot be promoted whole."""
    changed = True
    while changed:
        changed = False
        for vector in vectors:
            kept = [e for e in vector if e in separate]
            if kept and len(kept) < len(vector):
                separate.difference_update(kept)
                changed = True


def _local_place(value: Value | None) -> Place | None:
    if isinstance(value, Op) and value.name == "symbol" and InSpace.of(value).space == "local":
        return Symbol.of(value).variable
    return None


def _escape(value: Value | None, found: dict[Place, _Accesses]) -> None:
    place = _local_place(value)
    if place is not None:
        found.setdefault(place, _Accesses()).escapes = True


def _note(op: Op, found: dict[Place, _Accesses]) -> None:
    place = _local_place(op.args[0]) if op.args else None
    rest = op.args[1:]
    if place is not None:
        plain = op.name in ("load", "store") and InSpace.of(op).space == "local" and not MemoryAccess.of(op).volatile
        accesses = found.setdefault(place, _Accesses())
        if not plain:
            accesses.escapes = True
        else:
            if MemoryAccess.of(op).count > 1:
                accesses.vectors.append(_elements(op))
            for offset, size in _elements(op):
                if offset < 0 or offset + size > place.size:
                    accesses.escapes = True
                accesses.elements.setdefault((offset, size), op.type)
    for value in (*rest, op.guard):
        _escape(value, found)


def _elements(op: Op) -> list[tuple[int, int]]:
    """Offsets and sizes of the elements that a load or store of a symbol touches."""
    symbol = op.args[0]
    assert isinstance(symbol, Op)
    size = BITS[op.type] // 8
    return [(Symbol.of(symbol).offset + i * size, size) for i in range(MemoryAccess.of(op).count)]


def _separate(elements: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep the elements that overlap no other; the list is sorted."""
    out: list[tuple[int, int]] = []
    group: list[tuple[int, int]] = []
    end = -1
    for offset, size in elements:
        if offset >= end and group:
            out += group if len(group) == 1 else []
            group = []
        group.append((offset, size))
        end = max(end, offset + size)
    return out + (group if len(group) == 1 else [])


class _Promotion:
    def __init__(self, kernel: Kernel, slots: dict[tuple[Place, int, int], _Slot]) -> None:
        self.kernel = kernel
        self.slots = slots
        self.mapping: dict[Value, Value] = {}
        self.elements: dict[Op, list[Value]] = {}
        self.flow = control_flow(kernel)
        self.idom = self.flow.dominance.idom
        self.values: list[dict[_Slot, Value]] = [{} for _ in kernel.blocks]

    def run(self) -> None:
        written, exposed = self._references()
        frontiers = dominance_frontiers(self.flow.succ, self.idom)
        phis = place_phis(self.flow.pred, frontiers, self.flow.nest, written, exposed)
        made: list[tuple[int, _Slot, Phi]] = []
        for number, block in enumerate(self.kernel.blocks):
            for slot in phis[number]:
                phi = Phi(slot.type)
                block.phis.append(phi)
                self.values[number][slot] = phi
                made.append((number, slot, phi))
            self._block(number, block)
        for number, slot, phi in made:
            for p in self.flow.pred[number]:
                phi.incoming[self.flow.blocks[p]] = self._at_end(p, slot)
        substitute(self.kernel, self.mapping)

    def _slots_of(self, op: Op) -> list[_Slot | None]:
        """The promoted slots that a load or store touches, by element."""
        if op.name not in ("load", "store") or not op.args:
            return []
        place = _local_place(op.args[0])
        if place is None:
            return []
        return [self.slots.get((place, offset, size)) for offset, size in _elements(op)]

    def _references(self) -> tuple[dict[_Slot, set[int]], dict[_Slot, set[int]]]:
        written: dict[_Slot, set[int]] = {}
        exposed: dict[_Slot, set[int]] = {}
        for number, block in enumerate(self.kernel.blocks):
            mine: set[_Slot] = set()
            for op in block.ops:
                for slot in self._slots_of(op):
                    if slot is None:
                        continue
                    if slot not in mine and (op.name == "load" or op.guard is not None):
                        exposed.setdefault(slot, set()).add(number)
                    if op.name == "store":
                        mine.add(slot)
                        written.setdefault(slot, set()).add(number)
        return written, exposed

    def _at_end(self, number: int, slot: _Slot) -> Value:
        path: list[int] = []
        while (found := self.values[number].get(slot)) is None:
            path.append(number)
            if number == 0:
                found = Undefined(slot.type)
                break
            number = self.idom[number]
        for one in path:
            self.values[one][slot] = found
        return found

    def _block(self, number: int, block: Block) -> None:
        ops: list[Op] = []
        for op in block.ops:
            slots = self._slots_of(op)
            if op.name == "element" and isinstance(op.args[0], Op):
                inner = self._slots_of(op.args[0])
                if inner and all(s is not None for s in inner):
                    self.mapping[op] = self.elements[op.args[0]][Element.of(op).index]
                    continue
            if not slots or any(s is None for s in slots):
                ops.append(op)
                continue
            known = [s for s in slots if s is not None]
            if op.name == "load":
                self._load(number, op, known, ops)
            else:
                self._store(number, op, known, ops)
        block.ops = ops

    def _load(self, number: int, op: Op, slots: list[_Slot], ops: list[Op]) -> None:
        values = [self._cast(self._at_end(number, slot), op.type, ops) for slot in slots]
        self.mapping[op] = values[0]
        self.elements[op] = values

    def _store(self, number: int, op: Op, slots: list[_Slot], ops: list[Op]) -> None:
        for slot, value in zip(slots, op.args[1:], strict=True):
            new = self._cast(resolve(value, self.mapping), slot.type, ops)
            if op.guard is not None:
                old = self._at_end(number, slot)
                if not isinstance(old, Undefined):
                    choice = Op("select", slot.type, [op.guard, new, old], span=op.span)
                    ops.append(choice)
                    new = choice
            self.values[number][slot] = new

    def _cast(self, value: Value, type: Type, ops: list[Op]) -> Value:
        if value.type == type:
            return value
        if isinstance(value, Undefined):
            return Undefined(type)
        if isinstance(value, Const):
            return Const(type, value.bits)
        cast = Op("bitcast", type, [value])
        ops.append(cast)
        return cast

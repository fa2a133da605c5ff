"""Copies from memory to shared memory lane by lane: a load whose elements all go straight into one store.

`cp.async` is made of these. Loaded into lanes and stored from there, 16 bytes of each lane would be taken apart and put together
again; as a call of a function that moves them whole, a copy costs the kernel's own code next to nothing.
"""

from __future__ import annotations

from itertools import pairwise

from anywarp.compiler.attributes import Access, Element, InSpace, MemoryAccess
from anywarp.compiler.ir import Block, Op, Value
from anywarp.compiler.simd.addresses import SIZE, Address
from anywarp.compiler.simd.known import LANES
from anywarp.compiler.simd.matrix_product import write_function
from anywarp.compiler.simd.memory import Memory
from anywarp.compiler.simd.text import vector_type
from anywarp.compiler.simd.values import Values

_SPACES = frozenset({"global", "generic", "const"})


class Copies:
    """Emits such pairs through `values`; `memory` finds addresses."""

    def __init__(self, values: Values, memory: Memory) -> None:
        self.v, self.t = values, values.t
        self.memory = memory
        self.loads: set[Op] = set()
        self.stores: dict[Op, Op] = {}
        uses = _uses(values)
        for block in [] if values.single else values.kernel.blocks:
            self._find(block, uses)

    def _find(self, block: Block, uses: dict[Value, int]) -> None:
        for at, load in enumerate(block.ops):
            if load.name != "load" or InSpace.of(load).space not in _SPACES or not _plain(load):
                continue
            count = MemoryAccess.of(load).count
            behind = block.ops[at + 1 : at + 1 + count]
            if count * SIZE[load.type] not in (8, 16) or count < 2 or len(behind) < count:
                continue
            *parts, store = behind
            whole = all(
                e.name == "element" and e.args == [load] and Element.of(e).index == i for i, e in enumerate(parts, 1)
            )
            if not whole or store.name != "store" or store.args[1:] != [load, *parts] or not _plain(store):
                continue
            once = all(uses.get(x) == 1 for x in (load, *parts))
            if (
                once
                and InSpace.of(store).space == "shared"
                and store.guard is load.guard
                and not self._regular(load, store)
            ):
                self.loads.add(load)
                self.stores[store] = load

    def _regular(self, load: Op, store: Op) -> bool:
        """Tell whether lanes lie one behind the other on both sides: then vectors do better."""
        size = SIZE[load.type] * MemoryAccess.of(load).count
        for op in (load, store):
            offsets = self.v.shape(op.args[0]).offsets
            if offsets is None or any(b - a != size for a, b in pairwise(offsets)):
                return False
        return True

    def emit(self, store: Op) -> None:
        """Emit the copy that a store ends."""
        v, t, load = self.v, self.t, self.stores[store]
        size = SIZE[load.type] * MemoryAccess.of(load).count
        name = f"aw.copy.{size}"
        source = self.memory.resolve(InSpace.of(load).space, load.args[0])
        self.memory.record(InSpace.of(load).space, source, load.guard)
        target, bits = self.memory.resolve("shared", store.args[0]), v.active_bits(store.guard)
        if bits is None and source.offsets is not None:
            self._move(source, target, size) if target.offsets is not None else self._scatter(source, target, size)
            return
        if name not in t.declarations:
            t.declarations[name] = _write(name, size, v)
        rooms = [self._spread(source), self._spread(target)]
        for warp, word in enumerate(["-1"] * v.warps if bits is None else v.warp_words(bits)):
            places = [t.let(f"getelementptr i64, ptr {x}, i32 {LANES * warp}") if warp else x for x in rooms]
            t.do(f"call fastcc void @{name}(ptr {places[0]}, ptr {places[1]}, i32 {word})")

    def _move(self, source: Address, target: Address, size: int) -> None:
        """Emit the copy of every lane where it is known how lanes lie: neighbours together, in whatever order they arrive."""
        v, t = self.v, self.t
        word = vector_type("i32", size // 4)
        for lanes in _together(source, target, size, v.machine.vector_bits // 8):
            count = len(lanes)
            whole = vector_type("i32", count * size // 4)
            value = t.let(f"load {whole}, ptr {self.memory.lane_pointer(source, lanes[0])}, align 4")
            arrived = sorted(lanes, key=lambda lane: (target.offsets or [])[lane])
            if arrived != lanes:
                index = [size // 4 * lanes.index(lane) + i for lane in arrived for i in range(size // 4)]
                value = t.shuffle(whole, value, index)
            place = self.memory.lane_pointer(target, arrived[0])
            t.do(f"store {whole if count > 1 else word} {value}, ptr {place}, align 4")

    def _scatter(self, source: Address, target: Address, size: int) -> None:
        """Emit the copy of every lane where it is known how lanes lie at their source alone."""
        v, t = self.v, self.t
        type, room = vector_type("i32", size // 4), self._spread(target)
        for lane in range(v.lanes):
            value = t.let(f"load {type}, ptr {self.memory.lane_pointer(source, lane)}, align 4")
            to = t.let(f"load ptr, ptr {t.let(f'getelementptr ptr, ptr {room}, i64 {lane}')}")
            t.do(f"store {type} {value}, ptr {to}, align 4")

    def _spread(self, address: Address) -> str:
        """Write each lane's pointer to the stack and return where."""
        v, t = self.v, self.t
        room = self.memory.room("i64")
        for i in range(v.chunks):
            place = t.let(f"getelementptr i64, ptr {room}, i32 {i * v.chunk}") if i else room
            t.do(f"store {vector_type('ptr', v.chunk)} {self.memory.pointers(address, i)}, ptr {place}, align 16")
        return room


def _plain(op: Op) -> bool:
    return not Access.of(op).strong


def _uses(v: Values) -> dict[Value, int]:
    """Count what takes each value, elements of it left out."""
    uses: dict[Value, int] = {}
    for block in v.kernel.blocks:
        found = [x for op in block.ops if op.name != "element" for x in op.operands()]
        found += [x for phi in block.phis for x in phi.incoming.values()]
        found += [x for x in block.terminator.args if x is not None]
        for value in found:
            uses[value] = uses.get(value, 0) + 1
    return uses


def _together(source: Address, target: Address, size: int, most: int) -> list[list[int]]:
    """Return lanes in groups that lie side by side, in the order of the source, and also arrive side by side, in any order."""

    def apart(address: Address, lane: int) -> tuple[int, ...]:
        return tuple(factors[lane] for _, factors in address.symbols)

    come, go = source.offsets or [], target.offsets or []
    rows: dict[object, list[int]] = {}
    for lane in range(len(come)):
        rows.setdefault((apart(source, lane), apart(target, lane)), []).append(lane)
    out: list[list[int]] = []
    for row in rows.values():
        left = sorted(row, key=lambda lane: (come[lane], lane))
        while left:
            count = most // size
            while count > 1 and not all(_follow(offsets, left[:count], count, size) for offsets in (come, go)):
                count //= 2
            out.append(left[:count])
            left = left[count:]
    return out


def _follow(offsets: list[int], lanes: list[int], count: int, size: int) -> bool:
    """Tell whether so many lanes lie side by side, in some order."""
    found = sorted(offsets[lane] for lane in lanes)
    return len(found) == count and all(b - a == size for a, b in pairwise(found))


def _write(name: str, size: int, v: Values) -> str:
    """Write the function: pointers from and to of 32 lanes, and which of them are on."""
    type = f"<{size // 4} x i32>"

    def move(n: str, lane: str) -> list[str]:
        return [
            f"  %from{n} = getelementptr ptr, ptr %source, i64 {lane}",
            f"  %to{n} = getelementptr ptr, ptr %target, i64 {lane}",
            f"  %f{n} = load ptr, ptr %from{n}",
            f"  %t{n} = load ptr, ptr %to{n}",
            f"  %x{n} = load {type}, ptr %f{n}, align 4",
            f"  store {type} %x{n}, ptr %t{n}, align 4",
        ]

    lines = ["  %every = icmp eq i32 %mask, -1", "  br i1 %every, label %all, label %test", "all:"]
    for lane in range(LANES):
        lines += move(str(lane), str(lane))
    lines += [
        "  ret void",
        "test:",
        "  %left = phi i32 [ %mask, %0 ], [ %rest, %some ]",
        "  %none = icmp eq i32 %left, 0",
        "  br i1 %none, label %done, label %some",
        "some:",
        "  %which = call i32 @llvm.cttz.i32(i32 %left, i1 true)",
        "  %lane = zext i32 %which to i64",
        *move(".", "%lane"),
        "  %less = sub i32 %left, 1",
        "  %rest = and i32 %left, %less",
        "  br label %test",
        "done:",
    ]
    v.t.declare("i32", "llvm.cttz.i32", ["i32", "i1"])
    return write_function(name, ["ptr readonly %source", "ptr readonly %target", "i32 %mask"], lines, v.machine)

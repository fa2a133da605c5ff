"""The variables through which values are read in other blocks, and where they lie; LLVM turns most of them into registers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anywarp.compiler.cfg import Loop
from anywarp.compiler.ir import Op, Phi, Value
from anywarp.compiler.simd.known import Known
from anywarp.compiler.simd.text import LLVM_TYPE, Text, vector_type
from anywarp.ptx.isa.ops import BITS

_ROOM, _LINE = 4096, 64
"""Bytes in each piece of the memory of variables that stay there, and to which multiple of bytes at most they are aligned.

In pieces, because LLVM's instruction combiner goes through all uses of a piece whenever one of them is gone: a minute for 16,000 of them.
"""


class Variables:
    """The variables of a kernel's values, made when they are first asked for."""

    def __init__(self, known: Known, t: Text) -> None:
        self.known = known
        self.t = t
        self._places: dict[tuple[Value, str], list[str]] = {}
        self._flags: dict[Op, str] = {}
        self._forgotten: list[tuple[int, Loop | None]] = []
        self._resident: set[Value] = set()
        self._framed: set[Value] = set()
        self._lying: dict[str, str] = {}
        self._masked: set[Value] = set()
        self._in_memory = False
        self._room = 0  # bytes, of variables that stay in memory
        self._room_line = 0
        self._offsets: dict[str, tuple[str, int]] = {}
        self._in_rows: dict[str, tuple[str, str]] = {}

    # --- how they are kept --------------------------------------------------------------------------------------------

    def keep_in_memory(self) -> None:
        """Keep all variables in memory, before any is made: as registers, all of them would be alive at every block."""
        if not self._in_memory:
            self._in_memory, self._room_line = True, len(self.t.allocas)
            self.t.allocas.append("")  # written by `finish`

    def set_under_mask(self, values: Iterable[Value]) -> None:
        """Have values set only in active lanes: lanes that wait need what others make again meanwhile."""
        self._masked.update(values)

    def reside(self, values: Iterable[Value]) -> None:
        """Have the variables of values stay in memory, chunk after chunk."""
        self._resident.update(values)

    def frame_at(self, value: Value, base: str, offsets: Sequence[int]) -> None:
        """Have the chunks of a value lie in memory of the gang's own, at these offsets from a pointer: barriers do not save them."""
        self.keep_at(value, self._at(base, offsets), "main")
        self.frame([value])

    def lie_in_rows(self, value: Value, base: str, offsets: Sequence[int], functions: tuple[str, str]) -> None:
        """Have the chunks of a value that resides lie in pieces, from these offsets of a pointer: functions load and store a chunk there."""
        names = self._at(base, offsets)
        self._in_rows |= dict.fromkeys(names, functions)
        for kind in ("main", "phi") if isinstance(value, Phi) else ("main",):
            self.keep_at(value, names, kind)

    def is_in_rows(self, name: str) -> bool:
        """Tell whether a variable lies in pieces."""
        return name in self._in_rows

    def read(self, type: str, name: str) -> str:
        """Load a variable."""
        where = self.place(name)
        if name not in self._in_rows:
            return self.t.let(f"load {type}, ptr {where}")
        return self.t.let(f"call fastcc {type} @{self._in_rows[name][0]}(ptr {where.partition(',')[0]})")

    def write(self, type: str, part: str, name: str) -> None:
        """Store to a variable."""
        where = self.place(name)
        if name not in self._in_rows:
            self.t.do(f"store {type} {part}, ptr {where}")
        else:
            self.t.do(f"call fastcc void @{self._in_rows[name][1]}(ptr {where.partition(',')[0]}, {type} {part})")

    def _at(self, base: str, offsets: Sequence[int]) -> list[str]:
        """Return names for what lies at offsets from a pointer to a multiple of 64."""
        names = [f"{base}+{offset}" for offset in offsets]
        self._offsets |= {name: (base, offset) for name, offset in zip(names, offsets, strict=True)}
        return names

    def _in_room(self, type: str, wide: bool) -> list[str]:
        """Return variables in the memory of those that stay there."""
        count, lanes = (self.known.chunks, self.known.chunk) if wide else (1, 1)
        size = max(8, BITS[type] * lanes // 8)
        first = -(-self._room // size) * size  # sizes are powers of two: no chunk is in two pieces
        self._room = first + size * count
        offsets = [first + i * size for i in range(count)]
        return [name for o in offsets for name in self._at(f"%room{o // _ROOM}", [o % _ROOM])]

    def place(self, name: str) -> str:
        """Return a variable as the operand, and the alignment, of an access that follows at once."""
        if name not in self._offsets:
            return name
        base, offset = self._offsets[name]
        align = min(_LINE, offset & -offset or _LINE)
        return f"{self.t.let(f'getelementptr i8, ptr {base}, i64 {offset}')}, align {align}"

    def chunk_at(self, name: str, wide: bool, chunk: int) -> int:
        """Return of which chunk's lanes an access to a variable is, as `Text.chunk` takes it; -1 for what is a variable of its own."""
        return chunk if wide and name in self._offsets else -1

    def frame(self, values: Iterable[Value]) -> None:
        """Have values that reside lie in memory of the gang's own: barriers do not save them."""
        self._framed.update(values)

    def is_masked(self, value: Value) -> bool:
        """Tell whether a value is set only in active lanes."""
        return value in self._masked

    def is_resident(self, value: Value) -> bool:
        """Tell whether the variables of a value stay in memory."""
        return value in self._resident

    def is_framed(self, value: Value) -> bool:
        """Tell whether a value lies in memory of the gang's own."""
        return value in self._framed

    def place_of(self, chunk: str) -> str | None:
        """Return where all chunks of a value that resides lie, by its first chunk as it was read."""
        return self._lying.get(chunk)

    def lie_at(self, chunk: str, place: str) -> None:
        """Note where the chunks of a value lie, by the first of them."""
        self._lying[chunk] = place

    # --- places -------------------------------------------------------------------------------------------------------

    def of(self, value: Value, kind: str) -> list[str]:
        """Return the variables of a value: `main`, `copy` (as it was when lanes left the loop) or `phi` (set on edges).

        `main0` and `phi0` hold lane 0's value of a phi that is affine under conditions, beside the chunks.
        """
        key = (value, kind)
        if key not in self._places:
            element = LLVM_TYPE[value.type]
            wide = self.known.wide(value, kind)
            count, type = (self.known.chunks, vector_type(element, self.known.chunk)) if wide else (1, element)
            if wide and value in self._resident:
                self._places[key] = self.array(type, count)
            elif self._in_memory:
                self._places[key] = self._in_room(value.type, wide)
            else:
                self._places[key] = [self.t.alloca(type) for _ in range(count)]
            # Rarely needed: an address that is known elsewhere keeps them out of registers.
            if wide and self.known.has_first(value) and not self._in_memory:
                self.t.allocas += [f'  call void asm sideeffect "", "r"(ptr {x})' for x in self._places[key]]
        return self._places[key]

    def array(self, type: str, count: int) -> list[str]:
        """Reserve variables that lie side by side, and return them."""
        room = self.t.alloca(f"[{count} x {type}]", 64)
        names = [room, *("%" + self.t.fresh("a") for _ in range(1, count))]
        self.t.allocas += [f"  {name} = getelementptr {type}, ptr {room}, i64 {i}" for i, name in enumerate(names) if i]
        return names

    def keep_at(self, value: Value, places: list[str], kind: str) -> None:
        """Say which memory is a value's variables: whoever makes it writes them there."""
        self._places[value, kind] = places

    def load_chunks(self, value: Value, kind: str) -> list[str]:
        """Read the variables of a value that is held as chunks."""
        type, places = self.known.type(value, True), self.of(value, kind)
        out = list[str]()
        for i, place in enumerate(places):
            with self.t.chunk(self.chunk_at(place, True, i)):
                out.append(self.read(type, place))
        if value in self._resident:
            self._lying[out[0]] = places[0]
        return out

    def forget(self, loop: Loop | None) -> None:
        """Mark a place where no variable of values made in a loop's blocks is needed any more (None: no variable at all).

        Without it what was there before would seem to be needed: masked code reads a variable to change some of its lanes, and
        may be entered behind where it is set. Every variable would be alive all the time, everywhere. A single lane has no masked
        code: what it reads it has set.
        """
        if self.known.single or self._in_memory:
            return
        self._forgotten.append((len(self.t.lines), loop))
        self.t.lines.append("")

    def finish(self) -> None:
        """Reserve the memory of variables that stay there, and write zeros to others at the marked places, now that all are known."""
        if self._in_memory:
            # An address that code we cannot see may hold keeps them in memory.
            rooms = [f"%room{i}" for i in range(-(-self._room // _ROOM))]
            made = [f"  {room} = alloca [{_ROOM} x i8], align {_LINE}" for room in rooms]
            held = [f'  call void asm sideeffect "", "r"(ptr {room})' for room in rooms]
            self._forgotten.clear()  # what was there before is not needed, and costs nothing
            self.t.allocas[self._room_line] = "\n".join(made + held)
        stores: dict[Loop | None, list[str]] = {}
        for (value, kind), names in self._places.items():
            wide = self.known.wide(value, kind)
            if kind == "copy" or value in self._framed:
                continue
            if wide and (self.known.has_first(value) or value in self._resident):
                continue
            type = self.known.type(value, wide)
            zeros = [f"  store {type} zeroinitializer, ptr {name}" for name in names]
            for loop in (None, *self.known.flow.nest.around(self.known.flow.index[self.known.home[value]])):
                stores.setdefault(loop, []).extend(zeros)
        for place, loop in self._forgotten:
            self.t.lines[place] = "\n".join(stores.get(loop, ()))

    def flag(self, condition: Op) -> str:
        """Return the variable that is true while no lane's operand of an extension has wrapped around."""
        if condition not in self._flags:
            self._flags[condition] = self.t.alloca("i1")
        return self._flags[condition]

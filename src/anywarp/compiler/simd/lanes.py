"""Accesses chunk by chunk: one vector, one element for all, pieces, a few vectors taken apart, or a gather, the cheapest that serves.

A gather reads lane by lane: where something is known of the lanes' places, or can be found out by a test, anything else is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from anywarp.compiler.simd.addresses import Address, Addresses, Places
from anywarp.compiler.simd.next_block import ask_for
from anywarp.compiler.simd.special import Launch
from anywarp.compiler.simd.streams import LINE
from anywarp.compiler.simd.values import ALL_LANES, NO_LANE, Values

_IN_FLIGHT = 16
"""Vectors that may be loaded before their uses, where gangs are wide."""

_PAGE = 4096
"""Bytes that are there to be read if one of them is: the smallest page of any processor."""

_NARROWEST = 16
"""Bytes that are stored past the caches at once, at least."""

_MOST_READERS = 2
"""Lanes that name one element of a vector that is read for some lanes only, at most, unless there are few elements."""
_FEW = 4
_MOST_PARTS, _MOST_MASKED = 5, 2
"""Vectors that are read to pick a chunk's lanes from, at most, and where some lanes are off."""


def first_lanes(mask: str) -> int | None:
    """Return how many lanes at the start of a chunk a known mask has on, if these are all and a power of two."""
    bits = _known_bits(mask)
    count = sum(bits)
    return count if bits and all(bits[:count]) and count & (count - 1) == 0 else None


def last_lane(mask: str) -> int | None:
    """Return the last lane of a chunk that a known mask has on."""
    bits = _known_bits(mask)
    return max(lane for lane, bit in enumerate(bits) if bit) if any(bits) else None


def _known_bits(mask: str) -> list[bool]:
    return [word == "true" for word in mask[1:-1].replace("i1 ", "").split(", ")] if mask.startswith("<") else []


@dataclass(slots=True)
class _Pace:
    """What has been emitted of a copy of a block (by its number) since code was last kept in order."""

    copy: int
    unordered: int = 0
    """Vectors loaded."""
    computed: list[str] = field(default_factory=list[str])
    """The f32 chunks computed last."""


class Lanes(Addresses):
    """Emits loads and stores of the lanes' elements."""

    _nowhere = ""

    def __init__(self, values: Values, at: Launch) -> None:
        super().__init__(values, at)
        self._paces = _Pace(values.copies)

    def load_lanes(
        self, address: Address, element: str, size: int, masks: list[str] | None, volatile: bool
    ) -> list[str]:
        """Load an element of each lane; `masks` are chunks of lanes that are on (None: all)."""
        v, t, n = self.v, self.t, self.v.chunk
        out: list[str] = []
        load = "load volatile" if volatile else "load"
        known: dict[object, str] = {}  # warps of a gang may load the same
        if masks is None and not volatile:
            self._keep_order()
        shared = self._shared_places(address, size) if masks is None and not volatile else frozenset[object]()
        for i in range(v.chunks):
            pattern = self.pattern(address, i * n, n, size)
            mask = masks[i] if masks is not None and masks[i] != ALL_LANES else ""
            count = first_lanes(mask)
            key = (pattern, self._place_of(address, i * n)) if pattern and not mask and not volatile else None
            if key is not None and key in known:
                out.append(known[key])
                continue
            with t.chunk(-1 if key in shared else i):
                if mask == NO_LANE:
                    one = "zeroinitializer"
                elif count and pattern and not volatile:
                    one = self._load_first(address, i * n, count, pattern, element, size)
                elif key is not None:
                    known[key] = one = self._load_regular(address, i * n, pattern, element, size)
                elif pattern == "next" and not mask:
                    one = t.let(f"{load} <{n} x {element}>, ptr {self._pointer(address, i * n)}, align {size}")
                elif pattern == "same" and not mask:
                    pointer = self._pointer(address, i * n)
                    one = v.splat(element, t.let(f"{load} {element}, ptr {pointer}, align {size}"))
                elif pattern == "next":
                    one = self._masked_load(element, size, self._pointer(address, i * n), mask)
                elif pattern == "same" and not volatile:
                    one = self._load_if_any(element, size, self._pointer(address, i * n), mask)
                else:
                    one = self._load_scattered(address, i, element, size, mask, load)
            out.append(one)
        return out

    def _shared_places(self, address: Address, size: int) -> frozenset[object]:
        """Return the patterns and places that several chunks read, whose load is no single chunk's."""
        n = self.v.chunk
        found = [
            (pattern, self._place_of(address, first))
            for first in range(0, self.v.lanes, n)
            if (pattern := self.pattern(address, first, n, size))
        ]
        return frozenset(x for x in found if found.count(x) > 1)

    def _load_first(self, address: Address, lane: int, count: int, pattern: str, element: str, size: int) -> str:
        """Load for the first lanes of a chunk only: as narrow as it is, so that it finds in flight what was stored as narrowly."""
        t, v = self.t, self.v
        type, pointer = f"<{v.chunk} x {element}>", self._pointer(address, lane)
        if count == 1:
            one = t.let(f"load {element}, ptr {pointer}, align {size}")
            return t.let(f"insertelement {type} zeroinitializer, {element} {one}, i32 0")
        if pattern == "same":
            return v.splat(element, t.let(f"load {element}, ptr {pointer}, align {size}"))
        some = t.let(f"load <{count} x {element}>, ptr {pointer}, align {size}")
        return t.shuffle(f"<{count} x {element}>", some, [min(i, count) for i in range(v.chunk)], "zeroinitializer")

    def _load_scattered(self, address: Address, chunk: int, element: str, size: int, mask: str, load: str) -> str:
        """Load a chunk whose lanes are neither side by side nor at one place, as far as is known."""
        first = chunk * self.v.chunk
        if address.offsets is None and self.near:
            return self._load_if_near(address, chunk, element, size, mask)
        pieces = self._pieces(address, first, size) if not mask else 0
        parts = self._window(address, first, size, mask) if load == "load" and self._windows_serve(mask, size) else None
        fewer = parts is not None and 2 * len({p // self.v.chunk for p in parts}) * pieces <= self.v.chunk
        if pieces and not (fewer and self._masks_are_instructions(size)):
            return self._load_pieces(address, first, pieces, element, size, load)
        if parts and (not mask or len(set(parts)) <= _FEW or max(parts.count(p) for p in parts) <= _MOST_READERS):
            return self._load_window(address, first, element, size, parts, mask)
        if address.offsets is not None and not mask and self.v.machine.reads_apart:
            return self._load_apart(address, first, element, size, load)
        return self._gather(element, size, self.pointers(address, chunk), mask)

    def _load_apart(self, address: Address, first: int, element: str, size: int, load: str) -> str:
        """Load a chunk lane by lane, from addresses that are one register and a number each: LLVM would make a vector of them and take it apart."""
        t, n = self.t, self.v.chunk
        type, out = f"<{n} x {element}>", "poison"
        for lane in range(n):
            one = t.let(f"{load} {element}, ptr {self._pointer(address, first + lane)}, align {size}")
            out = t.let(f"insertelement {type} {out}, {element} {one}, i32 {lane}")
        return out

    def _load_if_any(self, element: str, size: int, pointer: str, mask: str) -> str:
        """One element for all lanes of a chunk, read only if one of them is on."""
        t, n = self.t, self.v.chunk
        on = t.two("icmp ne", f"i{n}", t.cast("bitcast", f"<{n} x i1>", mask, f"i{n}"), "0")
        first = t.cast("bitcast", f"i{n}", t.cast("zext", "i1", on, f"i{n}"), f"<{n} x i1>")
        return t.spread(f"<{n} x {element}>", self._masked_load(element, size, pointer, first), n)

    # --- lanes that are found to lie side by side -------------------------------------------------------------------

    def _begin_near(self, places: Places, size: int, mask: str, writes: int) -> tuple[str, str, str]:
        """Begin code for when a chunk's active lanes lie side by side; returns its pointer and the labels for otherwise and after."""
        t, n = self.t, self.v.chunk
        bits = f"i{n}"
        start, base = self.place_of(places, 0, 0)
        pointer = t.cast("inttoptr", "i64", base, "ptr")
        if self.following and not mask:
            ask_for(self.v, pointer, self.following, n * size, writes, 3)
        other = t.two("xor", f"<{n} x i1>", self.in_line(places, start), ALL_LANES)
        if mask:
            other = t.two("and", f"<{n} x i1>", other, mask)
        near, far, after = t.fresh("near"), t.fresh("far"), t.fresh("after")
        every = t.two("icmp eq", bits, t.cast("bitcast", f"<{n} x i1>", other, bits), "0")
        t.do(f"br i1 {self.steady(places, 0, every)}, label %{near}, label %{far}")
        t.start(near)
        return self._there(pointer, mask) if mask else pointer, far, after

    def _load_if_near(self, address: Address, chunk: int, element: str, size: int, mask: str) -> str:
        t, n = self.t, self.v.chunk
        places = self.places(address, chunk, size)
        pointer, far, after = self._begin_near(places, size, mask, 0)
        type = f"<{n} x {element}>"
        if mask:
            together = self._masked_load(element, size, pointer, mask)
        else:
            together = t.let(f"load {type}, ptr {pointer}, align {size}")
        near = t.label
        t.do(f"br label %{after}")
        t.start(far)
        ways = [(together, near)]
        # Lanes that are kept within bounds count up and then, or first, name one place.
        within = size == 4 and self.v.machine.avx2
        if within and self.bounded:
            ways.append(self._load_if_within(places, element, mask, 0, after))
        if self._masks_are_instructions(size):
            ways.append(self._load_if_two_runs(places, element, size, mask, after))
        if within and not self.bounded and not mask:
            ways.append(self._load_if_within(places, element, mask, n // 4, after))
        apart = self._gather(element, size, self.pointers(address, chunk), mask)
        ways.append((apart, t.label))
        t.do(f"br label %{after}")
        t.start(after)
        return t.let(f"phi {type} {', '.join(f'[ {value}, %{label} ]' for value, label in ways)}")

    def _masks_are_instructions(self, size: int) -> bool:
        """Tell whether accesses of elements of a size under a mask are instructions, gathers and scatters too: of words, with AVX-512."""
        return self.v.machine.avx512 and size >= 4

    def _begin_two_runs(self, places: Places, mask: str) -> tuple[tuple[str, str], tuple[str, str], str]:
        """Begin code for when a chunk's active lanes lie side by side but for one gap, as where an index is divided by a row's length.

        Returns pointer and mask of each run, for full masked accesses, and the label for otherwise.
        """
        t, n = self.t, self.v.chunk
        masks = f"<{n} x i1>"
        equal: list[str] = []
        pointers: list[str] = []
        for lane in (0, n - 1):
            start, base = self.place_of(places, lane, lane)
            equal.append(self.in_line(places, start))
            pointers.append(t.cast("inttoptr", "i64", base, "ptr"))
        first = t.two("and", masks, equal[0], mask) if mask else equal[0]
        second = t.two("and", masks, equal[1], t.two("xor", masks, first, ALL_LANES))
        second = t.two("and", masks, second, mask) if mask else second
        found = t.cast("bitcast", masks, t.two("or", masks, first, second), f"i{n}")
        wanted = t.cast("bitcast", masks, mask, f"i{n}") if mask else "-1"
        runs, apart = t.fresh("runs"), t.fresh("apart")
        every = self.steady(places, 0, t.two("icmp eq", f"i{n}", found, wanted))
        t.do(f"br i1 {self.steady(places, n - 1, every)}, label %{runs}, label %{apart}")
        t.start(runs)
        left, right = (self._there(pointer, run) for pointer, run in zip(pointers, (first, second), strict=True))
        return (left, first), (right, second), apart

    def _there(self, pointer: str, mask: str) -> str:
        """Return a pointer found in a lane, or where no lane is on one at a place of our own: a lane that is off may name what is not there.

        An access under a mask with nothing on is none, but a page that is missing takes the processor long to find out (Zen 5: 134 ns).
        """
        t, word = self.t, f"i{self.v.chunk}"
        on = t.two("icmp ne", word, t.cast("bitcast", f"<{self.v.chunk} x i1>", mask, word), "0")
        return t.pick(0, on, "ptr", pointer, self._own_place())

    def _load_if_two_runs(self, places: Places, element: str, size: int, mask: str, after: str) -> tuple[str, str]:
        """Emit code for when a chunk's lanes lie in two runs; returns the chunk and the label it comes from. Code for otherwise goes on."""
        t, n = self.t, self.v.chunk
        (start, first), (end, second), apart = self._begin_two_runs(places, mask)
        left, right = (self._masked_load(element, size, *run) for run in ((start, first), (end, second)))
        chunk, label = t.pick(n, first, f"<{n} x {element}>", left, right), t.label
        t.do(f"br label %{after}")
        t.start(apart)
        return chunk, label

    def _load_if_within(self, places: Places, element: str, mask: str, before: int, after: str) -> tuple[str, str]:
        """Emit code for when a chunk's lanes all lie within a vector that begins so many elements before the first, which is then read whole and permuted.

        The vector must lie in one page, that of the elements which lanes that are on (there are some) name: what nobody asked for is there to be read.
        Returns the chunk and the label it comes from; code for otherwise goes on.
        """
        t, v, n = self.t, self.v, self.v.chunk
        type, narrow, bytes = f"<{n} x {places.type}>", f"<{n} x i32>", 4 * n
        first, start = self.place_of(places, 0, before)
        apart = t.two("sub", type, places.chunk, v.splat(places.type, first))
        whole = n - 1 if places.base else bytes - 4  # elements of the vector; else bytes, no part of an element
        inside = t.two("and", type, apart, f"splat ({places.type} {~whole})")
        out = t.two("icmp ne", type, inside, "zeroinitializer")
        out = t.two("and", f"<{n} x i1>", out, mask) if mask else out
        bad = t.cast("bitcast", f"<{n} x i1>", out, f"i{n}")
        room = t.two("icmp ule", "i64", t.two("and", "i64", start, str(_PAGE - 1)), str(_PAGE - bytes))
        good = self.steady(places, 0, t.two("and", "i1", t.two("icmp eq", f"i{n}", bad, "0"), room))
        within, scattered = t.fresh("within"), t.fresh("scattered")
        t.do(f"br i1 {good}, label %{within}, label %{scattered}")
        t.start(within)
        whole = t.let(f"load {narrow}, ptr {t.cast('inttoptr', 'i64', start, 'ptr')}, align 4")
        index = apart
        if not places.base:
            index = t.two("lshr", narrow, t.cast("trunc", type, apart, narrow), "splat (i32 2)")
        name = "llvm.x86.avx512.permvar.si.512" if n == 16 else "llvm.x86.avx2.permd"
        chunk = t.call(narrow, name, (narrow, whole), (narrow, index))
        if element != "i32":
            chunk = t.cast("bitcast", narrow, chunk, f"<{n} x {element}>")
        chunk = t.pick(n, mask, f"<{n} x {element}>", chunk, "zeroinitializer") if mask else chunk
        label = t.label
        t.do(f"br label %{after}")
        t.start(scattered)
        return chunk, label

    def _store_if_near(self, address: Address, i: int, chunk: str, element: str, size: int, mask: str) -> None:
        t, n = self.t, self.v.chunk
        places = self.places(address, i, size)
        pointer, far, after = self._begin_near(places, size, mask, 1)
        if mask:
            self._masked_store(element, size, chunk, pointer, mask)
        else:
            t.do(f"store <{n} x {element}> {chunk}, ptr {pointer}, align {size}")
        t.do(f"br label %{after}")
        t.start(far)
        if self._masks_are_instructions(size):
            *runs, apart = self._begin_two_runs(places, mask)
            for start, lanes in runs:
                self._masked_store(element, size, chunk, start, lanes)
            t.do(f"br label %{after}")
            t.start(apart)
        self._scatter(element, size, chunk, self.pointers(address, i), mask or "splat (i1 true)")
        t.do(f"br label %{after}")
        t.start(after)

    # --- known places -----------------------------------------------------------------------------------------------

    def _window(self, address: Address, first: int, size: int, mask: str) -> list[int] | None:
        """Return the elements, counted from the lowest, that a chunk's lanes name, if few vectors in a row hold them all."""
        n = self.v.chunk
        if address.offsets is None or any(len(set(f[first : first + n])) > 1 for _, f in address.symbols):
            return None
        offsets = address.offsets[first : first + n]
        low = min(offsets)
        most = _MOST_PARTS if not mask else _MOST_MASKED
        if any((o - low) % size for o in offsets) or (max(offsets) - low) // size >= most * n:
            return None
        return [(o - low) // size for o in offsets]

    def _windows_serve(self, mask: str, size: int) -> bool:
        """Tell whether vectors that hold a chunk's elements may be read and written in part, as the lanes that are on want it."""
        return not mask or self._masks_are_instructions(size)

    def _load_window(self, address: Address, first: int, element: str, size: int, parts: list[int], mask: str) -> str:
        """Read the vectors that hold a chunk's elements, of them only these, and put each where it belongs."""
        t, n = self.t, self.v.chunk
        assert address.offsets is not None
        lowest = min(range(first, first + n), key=address.offsets.__getitem__)
        pointer, type, out = self._pointer(address, lowest), f"<{n} x {element}>", ""
        for start in range(0, max(parts) + 1, n):
            wanted = {p - start for p in parts if start <= p < start + n}
            if not wanted:
                continue
            place = t.let(f"getelementptr i8, ptr {pointer}, i64 {start * size}") if start else pointer
            if mask:
                some = self._wanted(parts, start, mask)
            else:
                some = f"<{', '.join(f'i1 {str(i in wanted).lower()}' for i in range(n))}>"
            whole = self._masked_load(element, size, place, some)
            index = [n + p - start if start <= p < start + n else lane for lane, p in enumerate(parts)]
            out = t.shuffle(type, out or "poison", index, whole)
        return t.pick(n, mask, type, out, "zeroinitializer") if mask else out

    def _wanted(self, parts: list[int], start: int, mask: str) -> str:
        """Return which elements of a vector any lane that is on names: of each the lane that names it, of several one after the other."""
        t, n, out = self.t, self.v.chunk, ""
        readers = [[lane for lane, part in enumerate(parts) if part == start + i] for i in range(n)]
        if max(map(len, readers)) > _MOST_READERS:
            return self._wanted_of_few(readers, mask)
        for turn in range(max(map(len, readers))):
            index = [lanes[turn] if turn < len(lanes) else n for lanes in readers]
            type = f"<{n} x i1>"
            one = t.shuffle(type, mask, index, "zeroinitializer")
            out = t.two("or", type, out, one) if out else one
        return out

    def _wanted_of_few(self, readers: list[list[int]], mask: str) -> str:
        """Return the same where many lanes name each of a few elements."""
        t, n, out = self.t, self.v.chunk, "0"
        word, bits = f"i{n}", t.cast("bitcast", f"<{n} x i1>", mask, f"i{n}")
        for i, lanes in enumerate(readers):
            if lanes:
                some = t.two("icmp ne", word, t.two("and", word, bits, str(sum(1 << lane for lane in lanes))), "0")
                out = t.two("or", word, out, t.two("shl", word, t.cast("zext", "i1", some, word), str(i)))
        return t.cast("bitcast", word, out, f"<{n} x i1>")

    def _place_of(self, address: Address, lane: int) -> tuple[int, ...]:
        assert address.offsets is not None
        return address.offsets[lane], *(factors[lane] for _, factors in address.symbols)

    def _load_regular(self, address: Address, lane: int, pattern: str, element: str, size: int) -> str:
        """Load a chunk whose lanes lie side by side ("next"), or at one place ("same")."""
        t, v, pointer = self.t, self.v, self._pointer(address, lane)
        self._pace().unordered += 1
        if pattern == "next":
            return t.let(f"load <{v.chunk} x {element}>, ptr {pointer}, align {size}")
        return v.splat(element, t.let(f"load {element}, ptr {pointer}, align {size}"))

    def _keep_order(self) -> None:
        """Where many vectors have been loaded, keep LLVM from moving the loads that follow in front of what uses these.

        LLVM's scheduler would begin all loads of a block at once, more than there are registers, and spill (a matrix
        product of 32 x 32 threads: 3 times slower). An empty assembler statement that may touch memory and reads what was
        computed last costs nothing.
        """
        v, pace = self.v, self._pace()
        if pace.unordered < _IN_FLIGHT or not pace.computed or not v.machine.avx2:
            return
        seen = pace.computed[:16]
        kind = "v" if v.machine.avx512 else "x"
        arguments = ", ".join(f"<{v.chunk} x float> {x}" for x in seen)
        self.t.pacing.add(len(self.t.lines))
        self.t.do(f'call void asm sideeffect "", "{",".join([kind] * len(seen))},~{{memory}}"({arguments})')
        pace.unordered, pace.computed = 0, []

    def computed_last(self, chunks: list[str]) -> None:
        """Note the f32 chunks computed last."""
        self._pace().computed = chunks

    def _pace(self) -> _Pace:
        """Return what has happened in the copy that is emitted."""
        if self._paces.copy != self.v.copies:
            self._paces = _Pace(self.v.copies)
        return self._paces

    def _pieces(self, address: Address, first: int, size: int) -> int:
        """Return the length of equal pieces of a chunk that are each one address or adjacent, 0 if shorter than four lanes."""
        length = self.v.chunk // 2
        while length >= 4:
            if all(self.pattern(address, f, length, size) for f in range(first, first + self.v.chunk, length)):
                return length
            length //= 2
        return 0

    def _load_pieces(self, address: Address, first: int, length: int, element: str, size: int, load: str) -> str:
        t, v = self.t, self.v
        parts: list[str] = []
        for lane in range(first, first + v.chunk, length):
            pointer = self._pointer(address, lane)
            if self.pattern(address, lane, length, size) == "next":
                parts.append(t.let(f"{load} <{length} x {element}>, ptr {pointer}, align {size}"))
                continue
            one = t.let(f"{load} {element}, ptr {pointer}, align {size}")
            type = f"<{length} x {element}>"
            seed = t.let(f"insertelement {type} poison, {element} {one}, i32 0")
            parts.append(t.spread(type, seed, length))
        return v.join(element, length, parts)

    def _masked_load(self, element: str, size: int, pointer: str, mask: str) -> str:
        n, t = self.v.chunk, self.t
        type, name = f"<{n} x {element}>", f"llvm.masked.load.{t.mangle(element, n)}.p0"
        t.declarations[name] = f"declare {type} @{name}(ptr, <{n} x i1>, {type})"
        self._ask_first(pointer, 0)
        loaded = t.let(f"call {type} @{name}(ptr align {size} {pointer}, <{n} x i1> {mask}, {type} zeroinitializer)")
        # LLVM 22's instcombine makes one of a masked load and a select with the same mask, where the select stands: behind a
        # store, say, that came after the load. It does not look through a freeze, which costs nothing.
        return t.let(f"freeze {type} {loaded}")

    def _ask_first(self, pointer: str, kind: int) -> None:
        """Ask for the line where a vector under a mask begins (`kind` 1: to write it), where the processor waits for such vectors one by one.

        Zen 5: vectors under masks that cross lines, of what no near cache holds, take four times as long as asked for a moment before.
        """
        if self.far and self.v.machine.asks_first:
            self.t.call("void", "llvm.prefetch.p0", ("ptr", pointer), ("i32", str(kind)), ("i32", "3"), ("i32", "1"))

    def gather(self, element: str, align: int, pointers: str, mask: str) -> str:
        """Load a chunk's elements of 4 or 8 bytes from anywhere."""
        return self._gather(element, 8 if element in ("i64", "double") else 4, pointers, mask, align)

    def _gather(self, element: str, size: int, pointers: str, mask: str, align: int = 0) -> str:
        n, t = self.v.chunk, self.t
        type, name = f"<{n} x {element}>", f"llvm.masked.gather.{t.mangle(element, n)}.v{n}p0"
        t.declarations[name] = f"declare {type} @{name}(<{n} x ptr>, <{n} x i1>, {type})"
        mask = mask or ALL_LANES
        if mask != ALL_LANES and not (self._masks_are_instructions(size) and self.v.machine.tuning.gathers):
            whole = self._gather(element, size, self._elsewhere(pointers, mask), "", align)
            return t.pick(n, mask, type, whole, "zeroinitializer")
        passed = "zeroinitializer" if mask != ALL_LANES else "poison"
        place = f"<{n} x ptr> align {align or size} {pointers}"
        return t.let(f"call {type} @{name}({place}, <{n} x i1> {mask}, {type} {passed})")

    def _elsewhere(self, pointers: str, mask: str) -> str:
        """Point lanes that are off at a place of our own: LLVM makes a branch for each lane of a masked access that is no instruction."""
        n = self.v.chunk
        return self.t.pick(n, mask, f"<{n} x ptr>", pointers, self.v.splat("ptr", self._own_place()))

    def _own_place(self) -> str:
        """Return a pointer to a vector's room that nobody reads for its content."""
        if not self._nowhere:
            self._nowhere = self.t.alloca("[128 x i8]", 64)
        return self._nowhere

    def store_lanes(
        self, address: Address, chunks: Sequence[str], element: str, size: int, masks: list[str] | None, volatile: bool
    ) -> None:
        """Store an element of each lane; `masks` are chunks of lanes that are on (None: all)."""
        t = self.t
        store = "store volatile" if volatile else "store"
        for i, chunk in enumerate(chunks):
            mask = masks[i] if masks is not None and masks[i] != ALL_LANES else ""
            if mask != NO_LANE:
                with t.chunk(i):
                    self._store_chunk(address, i, chunk, element, size, mask, store)

    def _store_chunk(
        self, address: Address, i: int, chunk: str, element: str, size: int, mask: str, store: str
    ) -> None:
        t, n = self.t, self.v.chunk
        type, pattern = f"<{n} x {element}>", self.pattern(address, i * n, n, size)
        count, last = first_lanes(mask), last_lane(mask) if mask else n - 1
        if pattern == "next" and not mask:
            t.do(f"{store} {type} {chunk}, ptr {self._pointer(address, i * n)}, align {size}")
        elif pattern == "next" and count:
            some = t.shuffle(type, chunk, range(count))
            t.do(f"{store} <{count} x {element}> {some}, ptr {self._pointer(address, i * n)}, align {size}")
        elif pattern == "same" and last is not None:
            one = t.let(f"extractelement {type} {chunk}, i32 {last}")
            t.do(f"{store} {element} {one}, ptr {self._pointer(address, i * n)}, align {size}")
        elif pattern == "next":
            self._masked_store(element, size, chunk, self._pointer(address, i * n), mask)
        elif address.offsets is None and self.near:
            self._store_if_near(address, i, chunk, element, size, mask)
        elif (
            store == "store"
            and self._masks_are_instructions(size)
            and (parts := self._window(address, i * n, size, mask))
            and (not mask or len(set(parts)) == n)
        ):
            self._store_window(address, i * n, chunk, element, size, parts, mask)
        elif address.offsets is not None and not mask and self.v.machine.avx2 and not self.v.machine.mask_registers:
            for lane in range(n):
                one = t.let(f"extractelement {type} {chunk}, i32 {lane}")
                t.do(f"{store} {element} {one}, ptr {self._pointer(address, i * n + lane)}, align {size}")
        else:
            self._scatter(element, size, chunk, self.pointers(address, i), mask or ALL_LANES)

    def _store_window(
        self, address: Address, first: int, chunk: str, element: str, size: int, parts: list[int], mask: str
    ) -> None:
        """Put a chunk's elements where they belong in the vectors that hold them all, and store of these only that.

        Of lanes that name one place the last one's element stays. A scatter goes lane by lane (Zen 4: 60 cycles for 16 lanes).
        """
        t, n = self.t, self.v.chunk
        assert address.offsets is not None
        lowest = min(range(first, first + n), key=address.offsets.__getitem__)
        pointer, type = self._pointer(address, lowest), f"<{n} x {element}>"
        lanes = {part: lane for lane, part in enumerate(parts)}
        for start in range(0, max(parts) + 1, n):
            index = [lanes.get(start + i) for i in range(n)]
            if all(lane is None for lane in index):
                continue
            place = t.let(f"getelementptr i8, ptr {pointer}, i64 {start * size}") if start else pointer
            known = ", ".join(f"i1 {'false' if lane is None else 'true'}" for lane in index)
            some = self._wanted(parts, start, mask) if mask else f"<{known}>"
            self._masked_store(element, size, t.shuffle(type, chunk, index), place, some)

    def places_in_a_row(self, address: Address, size: int) -> list[str] | None:
        """Return where each chunk begins (i64), if lanes lie side by side in each line that they fill."""
        t, n = self.t, self.v.chunk
        step = n if size * n % LINE == 0 else LINE // size
        if self.v.lanes % step or (step > n and (self.v.machine.mask_registers or size * n < _NARROWEST)):
            return None
        firsts = range(0, self.v.lanes, step)
        if any(self.pattern(address, first, step, size) != "next" for first in firsts):
            return None
        return [t.cast("ptrtoint", "ptr", self._pointer(address, first), "i64") for first in range(0, self.v.lanes, n)]

    def _masked_store(self, element: str, size: int, chunk: str, pointer: str, mask: str) -> None:
        """Store a chunk's lanes that are on; where that is slow, all of them as a plain vector, and none not at all."""
        n, t = self.v.chunk, self.t
        type, name = f"<{n} x {element}>", f"llvm.masked.store.{t.mangle(element, n)}.p0"
        t.declarations[name] = f"declare void @{name}({type}, ptr, <{n} x i1>)"
        store = f"call void @{name}({type} {chunk}, ptr align {size} {pointer}, <{n} x i1> {mask})"
        self._ask_first(pointer, 1)
        if self.v.machine.quick_masks or mask.startswith(("<", "splat")):
            t.do(store)
            return
        bits = t.cast("bitcast", f"<{n} x i1>", mask, f"i{n}")
        whole, other, part, after = (t.fresh(name) for name in ("whole", "other", "part", "after"))
        t.do(f"br i1 {t.two('icmp eq', f'i{n}', bits, '-1')}, label %{whole}, label %{other}")
        t.start(whole)
        t.do(f"store {type} {chunk}, ptr {pointer}, align {size}")
        t.do(f"br label %{after}")
        t.start(other)
        t.do(f"br i1 {t.two('icmp eq', f'i{n}', bits, '0')}, label %{after}, label %{part}")
        t.start(part)
        t.do(store)
        t.do(f"br label %{after}")
        t.start(after)

    def _scatter(self, element: str, size: int, chunk: str, pointers: str, mask: str) -> None:
        n, t = self.v.chunk, self.t
        if mask != ALL_LANES and not self._masks_are_instructions(size):
            pointers, mask = self._elsewhere(pointers, mask), ALL_LANES
        type, name = f"<{n} x {element}>", f"llvm.masked.scatter.{t.mangle(element, n)}.v{n}p0"
        t.declarations[name] = f"declare void @{name}({type}, <{n} x ptr>, <{n} x i1>)"
        t.do(f"call void @{name}({type} {chunk}, <{n} x ptr> align {size} {pointers}, <{n} x i1> {mask})")

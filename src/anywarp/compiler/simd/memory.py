"""Loads and stores as LLVM IR: one scalar access, plain vectors, pieces of them, or gathers, as the address's shape allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from anywarp.compiler.attributes import Access, Element, InSpace, MemoryAccess
from anywarp.compiler.cfg import Loop
from anywarp.compiler.ir import Block, Op, Value
from anywarp.compiler.simd.addresses import SIZE, Address, Parts
from anywarp.compiler.simd.adjacent import Terms, decompose, find_groups, find_words, loop_step
from anywarp.compiler.simd.lanes import Lanes
from anywarp.compiler.simd.local_rows import LocalRows
from anywarp.compiler.simd.next_block import ask_for, sum_of
from anywarp.compiler.simd.special import Launch
from anywarp.compiler.simd.streams import LINE, find_streams, store_stream
from anywarp.compiler.simd.text import LLVM_TYPE
from anywarp.compiler.simd.values import Values

ATOMIC_ORDER = {
    "relaxed": "monotonic",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "sc": "seq_cst",
}

_MOST_TRIPS = 8
"""Trips of a loop ahead of which its loads are asked for, at most: what lies behind its end is asked for in vain."""
_LONG = 512
"""Bytes in a row from which on a gang asks for the next block's in a loop of distant trips."""
_MOST_ROWS = 4
"""Rows of a gang that are asked for: of many, each takes an address (a product of matrices in tiles of 16 x 16: 1.09 of the time)."""


class Memory(Lanes):
    """Emits loads and stores."""

    def __init__(self, values: Values, at: Launch) -> None:
        super().__init__(values, at)
        self.elements: dict[Op, list[Op]] = {}
        self._loaded: set[tuple[int, Op]] = (
            set()
        )  # loads made together with an earlier one, with the copy of their block
        self._steps: dict[Loop, dict[Op, tuple[Terms, int]]] = {}
        self.groups = find_groups(values.kernel)
        if self.local[1] > 1:  # a lane's neighbours in local memory are other lanes'
            self.groups = {op: group for op, group in self.groups.items() if InSpace.of(op).space != "local"}
        self.words = find_words(values.kernel) if values.machine.avx2 and not values.single else {}
        self.streams = find_streams(values)
        self.rows = LocalRows(values)
        for block in values.kernel.blocks:
            for op in block.ops:
                if op.name == "element" and isinstance(op.args[0], Op):
                    self.elements.setdefault(op.args[0], []).append(op)

    # --- loads ----------------------------------------------------------------------------------------------------

    def load(self, op: Op) -> None:
        """Emit a load of one or more elements; the `element` operations of the others are defined with it."""
        if (self.v.copies, op) in self._loaded:
            return
        group = self.groups.get(op) if self.v.mask is None and self.v.varies(op) else None
        if group is not None and not self._known_regular(op):
            self._load_group(op, group)
            return
        word = self.words.get(op) if self.v.varies(op) else None
        if word is not None and not self._known_regular(op):
            self._load_word(op, word)
            return
        wanted: dict[int, list[Op]] = {0: [op]}
        for other in self.elements.get(op, ()):
            wanted.setdefault(Element.of(other).index, []).append(other)
        parts = self._either(op, lambda address: self._load_from(op, address, list(wanted)))
        if Access.of(op).order in ("acquire", "acq_rel", "sc"):
            self.t.do("fence acquire")
        for i, results in wanted.items():
            for result in results:
                part = parts[i]
                self.v.define(result, part if isinstance(part, str) else None, None if isinstance(part, str) else part)

    def _known_regular(self, op: Op) -> bool:
        """Tell whether neighbouring lanes surely lie at one place or side by side; then members are best loaded where they stand."""
        shape = self.v.shape(op.args[0])
        if shape.offsets is None or self.v.left(op.args[0], self.v.block):
            return False
        address = Address("", list(shape.offsets), [("", factors) for _, factors in shape.symbols], [])
        return any(self.pattern(address, i, 4, SIZE[op.type]) for i in range(0, self.v.lanes, 4))

    def _load_group(self, op: Op, group: list[Op]) -> None:
        """Load what lies side by side in each lane's memory at once, unless lanes lie side by side themselves."""
        size, element = SIZE[op.type], LLVM_TYPE[op.type]
        start = decompose(group[0].args[0])[1] - decompose(op.args[0])[1]

        def access(address: Address) -> Parts:
            address = self.shifted(address, start)
            regular = address.uniform or any(self.pattern(address, i, 4, size) for i in range(0, self.v.lanes, 4))
            if regular or (address.offsets is None and op.args[0] in self.plausible):
                places = [self.shifted(address, i * size) for i in range(len(group))]
                if address.uniform:
                    return {
                        i: self.t.let(f"load {element}, ptr {self._pointer(p, 0)}, align {size}")
                        for i, p in enumerate(places)
                    }
                return {i: self.load_lanes(p, element, size, None, False) for i, p in enumerate(places)}
            return dict(enumerate(self._load_rows(address, element, size, len(group))))

        parts = self._either(op, access)
        for i, member in enumerate(group):
            part = parts[i]
            self.v.define(member, part if isinstance(part, str) else None, None if isinstance(part, str) else part)
            self._loaded.add((self.v.copies, member))

    def _load_word(self, op: Op, bytes: list[Op]) -> None:
        """Load four bytes of each lane that lie side by side as one word, and take it apart: processors gather words, not bytes."""
        v, t, n = self.v, self.t, self.v.chunk
        start = decompose(bytes[0].args[0])[1] - decompose(op.args[0])[1]
        masks = v.active_chunks(None)

        def access(address: Address) -> Parts:
            address = self.shifted(address, start)
            words = [
                self.gather("i32", 1, self.pointers(address, i), masks[i] if masks else "") for i in range(v.chunks)
            ]
            out: Parts = {}
            for i in range(4):
                by = f"splat (i32 {8 * i})"
                moved = [t.two("lshr", f"<{n} x i32>", word, by) if i else word for word in words]
                out[i] = [t.cast("trunc", f"<{n} x i32>", word, f"<{n} x i8>") for word in moved]
            return out

        parts = self._either(op, access)
        for i, member in enumerate(bytes):
            chunks = parts[i]
            assert isinstance(chunks, list)
            v.define(member, None, chunks)
            self._loaded.add((v.copies, member))

    def _load_rows(self, address: Address, element: str, size: int, count: int) -> list[list[str]]:
        """Load `count` adjacent elements of each lane as one vector, and transpose."""
        v, t, n = self.v, self.t, self.v.chunk
        out: list[list[str]] = [[] for _ in range(count)]
        steady = self._steady_pointers(address)
        for chunk in range(v.chunks):
            rows: list[str] = []
            for lane in range(n):
                if steady:
                    pointer = next(steady)
                elif address.offsets is not None:
                    pointer = self._pointer(address, chunk * n + lane)
                else:
                    place = t.let(f"extractelement <{n} x i64> {address.vectors[chunk]}, i32 {lane}")
                    pointer = t.cast("inttoptr", "i64", place, "ptr")
                with t.chunk(chunk):
                    rows.append(t.let(f"load <{count} x {element}>, ptr {pointer}, align {size}"))
            if size == 4 and count == 4:
                for i, column in enumerate(self._transposed(rows, element)):
                    out[i].append(column)
                continue
            whole, type = v.join(element, count, rows), f"<{n * count} x {element}>"
            for i in range(count):
                out[i].append(t.shuffle(type, whole, [lane * count + i for lane in range(n)]))
        return out

    def _steady_pointers(self, address: Address) -> Iterator[str] | None:
        """Return the lanes' pointers one by one, if from each to the next it is equally far.

        Three of four are a register and a multiple of another, which instructions add by themselves.
        """
        t = self.t
        if address.offsets is None or not address.symbols:
            return None
        rows = [address.offsets, *(factors for _, factors in address.symbols)]
        if any(len({b - a for a, b in pairwise(row)}) != 1 for row in rows):
            return None
        step = str(rows[0][1] - rows[0][0])
        for (symbol, _), row in zip(address.symbols, rows[1:], strict=True):
            step = t.two("add", "i64", step, t.two("mul", "i64", symbol, str(row[1] - row[0])))
        return self._walk(self._pointer(address, 0), step)

    def _walk(self, pointer: str, step: str) -> Iterator[str]:
        t = self.t
        steps = [t.two("shl", "i64", step, "1"), t.two("mul", "i64", step, "3"), t.two("shl", "i64", step, "2")]
        while True:
            yield pointer
            for far in (step, *steps[:2]):
                yield t.let(f"getelementptr i8, ptr {pointer}, i64 {far}")
            pointer = t.let(f"getelementptr i8, ptr {pointer}, i64 {steps[2]}")

    def _transposed(self, rows: list[str], element: str) -> list[str]:
        """Turn rows of four words into four columns.

        Row l goes into the 128 bits number l / 4 of vector l % 4, by loads that insert; then every shuffle stays within 128 bits.
        """
        t, n = self.t, self.v.chunk
        type = f"<{n} x {element}>"

        def in_parts(a: str, b: str, part: list[int]) -> str:
            index = [p + at if p < 4 else p - 4 + n + at for at in range(0, n, 4) for p in part]
            return t.shuffle(type, a, index, b)

        whole: list[str] = []
        for m in range(4):
            wide = [t.shuffle(f"<4 x {element}>", row, [i % 4 for i in range(n)]) for row in rows[m::4]]
            out = wide[0]
            for part, row in enumerate(wide[1:], 1):
                out = t.shuffle(type, out, [n + i if i // 4 == part else i for i in range(n)], row)
            whole.append(out)
        low, high = [0, 4, 1, 5], [2, 6, 3, 7]
        pairs = [in_parts(whole[a], whole[a + 1], half) for half in (low, high) for a in (0, 2)]
        halves = ([0, 1, 4, 5], [2, 3, 6, 7])
        return [in_parts(pairs[2 * i], pairs[2 * i + 1], half) for i in (0, 1) for half in halves]

    def _load_from(self, op: Op, address: Address, wanted: list[int]) -> Parts:
        count = MemoryAccess.of(op).count
        size, element = SIZE[op.type], LLVM_TYPE[op.type]
        parts: Parts = {}
        if address.uniform and not (op.guard is not None and self.v.varies(op.guard) and self.v.varies(op)):
            for i in wanted:
                parts[i] = ""
            self._uniform_loads(op, address, parts, element, size)
        elif count > 1 and self._interleaved(address, size, count) and self.v.active_chunks(op.guard) is None:
            self._prefetch(op, address, size * count)
            parts.update(self._wide_load(address, element, size, count, sorted(wanted)))
        elif count > 1 and size >= 4 and address.spread == 1 and op.guard is None and self.v.mask is None:
            rows = self._load_rows(address, element, size, count)
            parts.update({i: rows[i] for i in wanted})
        elif self.rows.serve(op, address):
            parts[0] = self._load_by_rows(op, address, element, size)
        else:
            masks = None if self._own_row(op, address, size) else self.v.active_chunks(op.guard)
            volatile = Access.of(op).strong
            self._prefetch(op, address, size)
            for i in wanted:
                parts[i] = self.load_lanes(self.shifted(address, i * size), element, size, masks, volatile)
        return parts

    def _own_row(self, op: Op, address: Address, size: int) -> bool:
        """Tell whether all lanes access one row of local memory that they have side by side: also those that are off may read and write theirs."""
        own = address.spread > 1 and op.guard is None and not Access.of(op).strong
        return own and self.pattern(address, 0, self.v.lanes, size) == "next"

    def _load_by_rows(self, op: Op, address: Address, element: str, size: int) -> list[str]:
        """Load from local memory row by row, or where lanes name many rows, as from anywhere."""
        v, t, found = self.v, self.t, self.rows.begin(op)
        together, after = self._begin_by_rows(found[2])
        state = v.snapshot()
        apart, one_by_one = self.load_lanes(address, element, size, v.active_chunks(None), False), t.label
        v.restore(state)
        t.do(f"br label %{after}")
        t.start(together)
        by_rows = self.rows.load(op, found, self.at.local_first)
        t.do(f"br label %{after}")
        t.start(after)
        type = f"<{v.chunk} x {element}>"
        pairs = zip(by_rows, apart, strict=True)
        return [t.let(f"phi {type} [ {x}, %{together} ], [ {y}, %{one_by_one} ]") for x, y in pairs]

    def _begin_by_rows(self, found: str) -> tuple[str, str]:
        """Begin code for lanes that name many rows; returns the labels for few and after."""
        t = self.t
        together, many, after = t.fresh("rows"), t.fresh("many"), t.fresh("after")
        t.do(f"br i1 {t.two('icmp ne', 'i32', found, '0')}, label %{together}, label %{many}")
        t.start(many)
        self.near = False  # lanes in one row would have been found
        return together, after

    def _uniform_loads(
        self, op: Op, address: Address, parts: dict[int, str | list[str]], element: str, size: int
    ) -> None:
        """One scalar access for all lanes, made only if any lane is on. The block itself runs only if one is."""
        t, v = self.t, self.v
        weak = Access.of(op).order == "weak"
        plain = "load volatile" if MemoryAccess.of(op).volatile else "load"
        how = plain if weak or size > 8 else "load atomic"

        def fetch() -> dict[int, str]:
            out: dict[int, str] = {}
            for i in sorted(parts):
                pointer = self._pointer(self.shifted(address, i * size), 0)
                if how == "load atomic":
                    bits = t.let(f"load atomic i{8 * size}, ptr {pointer} monotonic, align {size}")
                    out[i] = bits if element.startswith("i") else t.cast("bitcast", f"i{8 * size}", bits, element)
                else:
                    out[i] = t.let(f"{how} {element}, ptr {pointer}, align {size}")
            return out

        if op.guard is None:
            parts.update(fetch())
            return
        on = t.two("icmp ne", v.word, v.active_bits(op.guard) or "-1", "0")
        before, inside, after = t.label, t.fresh("on"), t.fresh("after")
        t.do(f"br i1 {on}, label %{inside}, label %{after}")
        t.start(inside)
        state = v.snapshot()
        fetched = fetch()
        v.restore(state)
        inside = t.label
        t.do(f"br label %{after}")
        t.start(after)
        for i, name in fetched.items():
            zero = "0.0" if element in ("float", "double") else "0"
            parts[i] = t.let(f"phi {element} [ {zero}, %{before} ], [ {name}, %{inside} ]")

    def _interleaved(self, address: Address, size: int, count: int) -> bool:
        """Tell whether each chunk's lanes lie one structure behind the other."""
        n = self.v.chunk
        return all(self.pattern(address, i * n, n, size * count) == "next" for i in range(self.v.chunks))

    def _wide_load(
        self, address: Address, element: str, size: int, count: int, wanted: Sequence[int]
    ) -> dict[int, list[str]]:
        """Load adjacent structures whole and pick the members apart."""
        v, t, n = self.v, self.t, self.v.chunk
        out: dict[int, list[str]] = {i: [] for i in wanted}
        type = f"<{n * count} x {element}>"
        for chunk in range(v.chunks):
            pointer = self._pointer(address, chunk * n)
            with t.chunk(chunk):
                whole = t.let(f"load {type}, ptr {pointer}, align {size}")
            for i in wanted:
                out[i].append(t.shuffle(type, whole, [lane * count + i for lane in range(n)]))
        return out

    def _prefetch(self, op: Op, address: Address, size: int) -> None:
        """Ask for what the loop will load in a few trips, where lanes are adjacent and trips far apart (grid-stride loops), or else the next block.

        Each trip touches its own page, which the processor's prefetcher cannot foresee. Some processors gain by both: a trip then reads
        what the block before asked for beside its own, and memory hands out longer pieces. `size`: of what each lane loads, an element or all of them.
        """
        v = self.v
        if (
            InSpace.of(op).space in ("shared", "local")
            or address.uniform
            or not self.pattern(address, 0, v.chunk, size)
        ):
            return
        # What is guarded lies at the border of what others read.
        found = None if op.guard is not None else self._stepping(v.block).get(op)
        if found is None:
            self._ask_for_next(op, address, size)
            return
        terms, others = found
        trips = max(1, min(_MOST_TRIPS, max(2, v.machine.tuning.ahead_bytes // (size * v.lanes))) // others)
        rows = list(self._rows(address, size))
        if len(rows) > _MOST_ROWS:
            return
        distance = sum_of(v, terms, trips)
        for first, bytes in rows:
            ask_for(v, self._pointer(address, first), distance, bytes, 0, 2)
        if v.machine.asks_beside and size == SIZE[op.type] and len(rows) == 1 and rows[0][1] >= _LONG:
            self._ask_for_next(op, address, size)

    def _rows(self, address: Address, size: int) -> Iterator[tuple[int, int]]:
        """Yield the first lane and the bytes of what lies together in memory, of an address of which pieces are known."""
        n, first = self.v.chunk, 0
        while first < self.v.lanes:
            last = first + n
            while last < self.v.lanes and self.pattern(address, first, last + n - first, size) == "next":
                last += n
            pattern = self.pattern(address, first, last - first, size)
            if pattern:
                yield first, size * (last - first) if pattern == "next" else size
            first = last

    def _ask_for_next(self, op: Op, address: Address, size: int) -> None:
        """Ask for what the next block will load."""
        v, n, distance = self.v, self.v.chunk, self.next_block.distance(op, size)
        whole = self.pattern(address, 0, v.lanes, size) == "next"
        for first, count in [(0, v.lanes)] if whole else [(i * n, n) for i in range(v.chunks)]:
            if distance and self.pattern(address, first, count, size) == "next":
                ask_for(v, self._pointer(address, first), distance, count * size, 0, 2)

    def _stepping(self, block: Block) -> dict[Op, tuple[Terms, int]]:
        """Return the steps of the loads of the innermost loop around a block, and how many of them each phi leads, as an unrolled loop has them."""
        number = self.v.flow.nest.innermost[self.v.flow.index[block]]
        if number is None:
            return {}
        if number not in self._steps:
            blocks = [self.v.flow.blocks[i] for i in sorted(number.blocks) if self.v.flow.nest.innermost[i] is number]
            found = {op: loop_step(self.v, b, op.args[0]) for b in blocks for op in b.ops if op.name == "load"}
            led = Counter(step[0] for step in found.values() if step is not None)
            self._steps[number] = {op: (step[1], led[step[0]]) for op, step in found.items() if step is not None}
        return self._steps[number]

    # --- stores ---------------------------------------------------------------------------------------------------

    def store(self, op: Op) -> None:
        """Emit a store of one or more adjacent elements."""
        values = op.args[1:]
        size, element = SIZE[values[0].type], LLVM_TYPE[values[0].type]
        if Access.of(op).order in ("release", "acq_rel", "sc"):
            self.t.do("fence release")

        def access(address: Address) -> Parts:
            self._store_to(op, address, values, element, size)
            return {}

        self._either(op, access)

    def _store_to(self, op: Op, address: Address, values: Sequence[Value], element: str, size: int) -> None:
        if address.uniform:
            self._uniform_store(op, address, values, element, size)
            return
        if len(values) == 1 and self.rows.serve(op, address):
            self._store_by_rows(op, address, element, size)
            return
        masks = self.v.active_chunks(op.guard)
        if masks is not None and self._own_row(op, address, size):
            self._store_own_row(address, values, element, size, masks)
            return
        if len(values) > 1 and masks is None and self._interleaved(address, size, len(values)):
            self._wide_store(address, values, element, size, op in self.streams)
            return
        if op in self.streams and masks is None and len(values) == 1:
            places = self.places_in_a_row(address, size)
            if places is not None:
                self._store_stream(address, places, self.v.vector(values[0]), element, size)
                return
        volatile = Access.of(op).strong
        for i, value in enumerate(values):
            self.store_lanes(self.shifted(address, i * size), self.v.vector(value), element, size, masks, volatile)

    def _store_own_row(
        self, address: Address, values: Sequence[Value], element: str, size: int, masks: list[str]
    ) -> None:
        """Store what lanes that are on have, and again what is there of those that are off: masks are slow, or no instructions, for small elements."""
        v, t, type = self.v, self.t, f"<{self.v.chunk} x {element}>"
        for i, value in enumerate(values):
            place = self.shifted(address, i * size)
            there = self.load_lanes(place, element, size, None, False)
            pairs = zip(masks, v.vector(value), there, strict=True)
            chunks = [t.pick(v.chunk, mask, type, new, old) for mask, new, old in pairs]
            self.store_lanes(place, chunks, element, size, None, False)

    def _store_by_rows(self, op: Op, address: Address, element: str, size: int) -> None:
        """Store to local memory row by row, or where lanes name many rows, as to anywhere."""
        v, t, found = self.v, self.t, self.rows.begin(op)
        chunks, masks = v.vector(op.args[1]), v.active_chunks(None)
        together, after = self._begin_by_rows(found[2])
        state = v.snapshot()
        self.store_lanes(address, chunks, element, size, masks, False)
        v.restore(state)
        t.do(f"br label %{after}")
        t.start(together)
        self.rows.store(op, found, self.at.local_first)
        t.do(f"br label %{after}")
        t.start(after)

    def _store_stream(
        self, address: Address, places: Sequence[str], chunks: Sequence[str], element: str, size: int
    ) -> None:
        t = self.t
        type = f"<{self.v.chunk} x {element}>"
        after = store_stream(self.v, self.at.all_threads, places, chunks, type, size)
        self.store_lanes(address, chunks, element, size, None, False)
        t.do(f"br label %{after}")
        t.start(after)

    def _uniform_store(self, op: Op, address: Address, values: Sequence[Value], element: str, size: int) -> None:
        """All lanes write one place: the last active one's value stays."""
        t, v = self.t, self.v
        bits = v.active_bits(op.guard)
        atomic = Access.of(op).order != "weak" and size <= 8
        plain = "store volatile" if MemoryAccess.of(op).volatile else "store"
        if any(v.varies(x) or v.left(x, v.block) for x in values) and bits is not None:
            for x in values:
                v.vector(x)  # in registers before the branch
        after = self._if_any(bits) if op.guard is not None else ""
        state = v.snapshot()
        for i, value in enumerate(values):
            scalar = self.last_active(value, bits)
            pointer = self._pointer(self.shifted(address, i * size), 0)
            if not atomic:
                t.do(f"{plain} {element} {scalar}, ptr {pointer}, align {size}")
                continue
            word = scalar if element.startswith("i") else t.cast("bitcast", element, scalar, f"i{8 * size}")
            t.do(f"store atomic i{8 * size} {word}, ptr {pointer} monotonic, align {size}")
        v.restore(state)
        if after:
            t.do(f"br label %{after}")
            t.start(after)

    def _if_any(self, bits: str | None) -> str:
        """Begin code for when any lane is on; returns the label to close it with."""
        t = self.t
        inside, after = t.fresh("on"), t.fresh("after")
        t.do(f"br i1 {t.two('icmp ne', self.v.word, bits or '-1', '0')}, label %{inside}, label %{after}")
        t.start(inside)
        return after

    def last_active(self, value: Value, bits: str | None) -> str:
        """Return the value of the last lane in `bits` (None: the very last)."""
        t, v = self.t, self.v
        if v.is_scalar(value):
            return v.scalar(value)
        chunks = v.vector(value)
        element = LLVM_TYPE[value.type]
        if bits is None:
            return t.let(f"extractelement {v.type(value, True)} {chunks[-1]}, i32 {v.chunk - 1}")
        if bits.removeprefix("-").isdigit() and int(bits):
            last = (int(bits) & ((1 << v.lanes) - 1)).bit_length() - 1
            return t.let(f"extractelement {v.type(value, True)} {chunks[last // v.chunk]}, i32 {last % v.chunk}")
        above = t.call(v.word, f"llvm.ctlz.{v.word}", (v.word, bits), ("i1", "false"))
        above = t.cast("trunc", v.word, above, "i32") if v.warps > 1 else above
        return self.pick_lane(element, chunks, t.two("sub", "i32", str(v.lanes - 1), above))

    def _wide_store(self, address: Address, values: Sequence[Value], element: str, size: int, stream: bool) -> None:
        """Weave members into structures and store them whole."""
        v, t, n, count = self.v, self.t, self.v.chunk, len(values)
        chunks, structures = [v.vector(value) for value in values], list[str]()
        for chunk in range(v.chunks):
            whole = v.join(element, n, [c[chunk] for c in chunks])
            woven = [member * n + lane for lane in range(n) for member in range(count)]
            structures.append(t.shuffle(f"<{n * count} x {element}>", whole, woven))
        type, pointers = f"<{n * count} x {element}>", [self._pointer(address, i * n) for i in range(v.chunks)]
        after = ""
        if stream and n * count * size % LINE == 0:
            places = [t.cast("ptrtoint", "ptr", pointer, "i64") for pointer in pointers]
            after = store_stream(v, self.at.all_threads, places, structures, type, size * count)
        for chunk, (pointer, structure) in enumerate(zip(pointers, structures, strict=True)):
            with t.chunk(chunk):
                t.do(f"store {type} {structure}, ptr {pointer}, align {size}")
        if after:
            t.do(f"br label %{after}")
            t.start(after)

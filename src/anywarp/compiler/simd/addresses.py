"""Where the lanes' accesses go: addresses by shape, with the tests that shapes rest on, and what fault reports need.

Whether lanes lie at one place, side by side or anywhere decides between a scalar, a vector and a gather, tens of times apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from anywarp.compiler.attributes import Access, InSpace, MemoryAccess, Signed
from anywarp.compiler.ir import Const, Op, Phi, Value
from anywarp.compiler.shapes import BOUNDS, Shape, corners
from anywarp.compiler.simd.adjacent import SIZE, find_computed, find_plausible
from anywarp.compiler.simd.local_memory import lanes_apart
from anywarp.compiler.simd.next_block import NextBlock
from anywarp.compiler.simd.special import Launch, in_worker
from anywarp.compiler.simd.text import LLVM_TYPE, Note, constant_vector, vector_type
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.ops import BITS

_EACH, _ELSEWHERE, _NUMBERED = (
    3,
    4,
    6,
)  # kinds of records: an address per lane, in the worker or where it says, or a number per lane there
_LAST = 31
"""Which of the worker's addresses says where the numbers are."""
_CLOSE = 256
"""Bytes in which a chunk's lanes lie if their addresses need not be told apart."""
_MOST_TESTS = 8
"""Chunks of an access for which code that tests for consecutive lanes is written, at most."""
Parts: TypeAlias = "dict[int, str | list[str]]"
"""Elements of an access by number: one scalar for all lanes, or chunks."""


@dataclass(slots=True)
class Address:
    """Host addresses of the lanes: `base` (i64) plus offsets in bytes plus symbols; or, offsets None, vectors of i64.

    What lies `n` bytes further on for a lane is `n * spread` bytes further on in memory. With a `scale` (1, 2, 4 or 8) the vectors are
    `base + scale * sext(index)`, too, chunks of i32: one gather finds all lanes of a chunk then, where addresses of 64 bits take two.
    """

    base: str
    offsets: list[int] | None
    symbols: list[tuple[str, tuple[int, ...]]]
    vectors: list[str]
    spread: int = 1
    scale: int = 0
    index: Sequence[str] = ()

    @property
    def uniform(self) -> bool:
        """All lanes access one address."""
        return self.offsets is not None and not any(self.offsets) and not self.symbols


@dataclass(frozen=True, slots=True)
class Places:
    """Where a chunk's lanes lie: addresses (i64), or with a `base` numbers (i32) of elements behind it; `step` is from one element to the next."""

    type: str
    chunk: str
    step: int
    base: str
    size: int = 1


def signed(value: int, width: int) -> int:
    """Read the low `width` bits as a signed number."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


class Addresses:
    """Finds and tests addresses through `values`; `at` names the memories of the running block."""

    def __init__(self, values: Values, at: Launch) -> None:
        self.v = values
        self.at = at
        self.t = values.t
        self.plausible = find_plausible(values)
        self.computed = find_computed(values)
        self.next_block = NextBlock(values)
        self.near = False  # whether to test lanes of the access at hand for being side by side
        self.far = False  # whether the access at hand may be of memory that no near cache holds
        self.bounded = False  # whether they would be, if none met a bound
        self.following = ""  # how far behind them the next block's lie (i64), where that is known
        self.local = lanes_apart(values)
        self._rooms: list[str] = []
        self._rooms_used = 0
        # Of addresses of single lanes: start, start as pointer, constant behind it.
        self._parts: dict[str, tuple[str, str, int]] = {}
        self._recorded = ("", "")  # basic block, and what the worker's record of an access holds there
        self.carried: dict[Op, list[Phi]] = {}
        for value, guarded in values.analysis.guarded.items():
            if isinstance(value, Phi):
                for condition in guarded.conditions:
                    self.carried.setdefault(condition, []).append(value)

    # --- addresses ------------------------------------------------------------------------------------------------

    def space_base(self, space: str) -> str:
        """Return the i64 host address at which a state space begins for this block (local: for lane 0); "" if flat."""
        pointer = {"shared": self.at.shared, "param": self.at.params}.get(space)
        if space == "local":
            return self.at.local_first
        return self.t.cast("ptrtoint", "ptr", pointer, "i64") if pointer else ""

    def resolve(self, space: str, address: Value, shape: Shape | None = None) -> Address:
        """Return where the lanes' accesses go; `shape` overrides what is known of the address without conditions."""
        v, t = self.v, self.t
        width, shape = BITS[address.type], shape or v.shape(address)
        per_lane, spread = self.local if space == "local" else (0, 1)
        start = self.space_base(space)
        # A base may be lane 0's while lane 0 is off and below zero: sign-extended, the sum with an offset is right again.
        how = "sext" if start else "zext"
        if v.single:
            return Address(self._place_of_one(start, address, how), [0], [], [])
        if shape.offsets is not None and not v.left(address, v.block):
            base = v.scalar(address)
            if width != 64:
                base = t.cast(how, f"i{width}", base, "i64")
            if spread > 1:
                base = t.two("mul", "i64", base, str(spread))
            if start:
                base = t.two("add", "i64", start, base)
            offsets = [signed(o, width) * spread + lane * per_lane for lane, o in enumerate(shape.offsets)]
            symbols = [
                (v.symbol(s, address), tuple(signed(f, width) * spread for f in factors))
                for s, factors in shape.symbols
            ]
            if width != 64:
                symbols = [(t.cast("sext", f"i{width}", s, "i64"), f) for s, f in symbols]
            return Address(base, offsets, symbols, [], spread)
        vectors: list[str] = []
        type = vector_type("i64", v.chunk)
        starts = v.splat("i64", start) if start else ""
        for i, chunk in enumerate(v.vector(address)):
            if width != 64:
                chunk = t.cast(how, vector_type(f"i{width}", v.chunk), chunk, type)
            if spread > 1:
                chunk = t.two("mul", type, chunk, f"splat (i64 {spread})")
            if start:
                chunk = t.two("add", type, starts, chunk)
            if per_lane:
                lanes = range(i * v.chunk, (i + 1) * v.chunk)
                chunk = t.two("add", type, chunk, constant_vector("i64", [lane * per_lane for lane in lanes]))
            vectors.append(chunk)
        found = self._indexed(address) if width == 64 and not start else None
        return (
            Address(found[0], None, [], vectors, spread, *found[1:])
            if found
            else Address("", None, [], vectors, spread)
        )

    def _indexed(self, address: Value) -> tuple[str, int, list[str]] | None:
        """Take an address apart into base, scale and index, where it is a uniform start and a multiple of numbers of 32 bits.

        Legality: sums and products modulo 2**64 may be taken in any order. Unsigned numbers are signed ones that are 2**31 too small
        when their highest bit is turned over; what lacks is added to the base. Looks only at what this block computes (or would, if it
        is lazy): the operands are at hand then.
        """
        v, t, value, scale, base = self.v, self.t, address, 1, ""
        if v.machine.reads_apart or not v.machine.tuning.gathers:
            return None  # lanes one by one: from addresses in any case
        while isinstance(value, Op) and (v.lazy(value) or v.home.get(value) is v.block):
            if value.name in ("sext", "zext") and value.args[0].type == "i32":
                return self._index_of(value, base, scale) if scale in (1, 2, 4, 8) else None
            if value.name in ("to_generic", "from_generic") and InSpace.of(value).space == "global":
                value = value.args[0]
                continue
            if value.name not in ("add", "mul", "shl"):
                return None
            a, b = value.args
            if value.name != "shl" and v.is_scalar(a):
                a, b = b, a
            if not v.is_scalar(b) or (value.name != "add" and not isinstance(b, Const)):
                return None
            if value.name == "add":
                term = v.scalar(b)
                term = t.two("mul", "i64", term, str(scale)) if scale > 1 else term
                base = t.two("add", "i64", base, term) if base else term
            elif isinstance(b, Const):
                scale *= 1 << b.bits if value.name == "shl" else b.bits
            if scale > 8:
                return None
            value = a
        return None

    def _index_of(self, extension: Op, base: str, scale: int) -> tuple[str, int, list[str]] | None:
        v, t, base = self.v, self.t, base or "0"
        if not v.varies(extension.args[0]):
            return None
        index = v.vector(extension.args[0])
        if extension.name == "zext":
            type = vector_type("i32", v.chunk)
            index = [t.two("xor", type, chunk, f"splat (i32 {-(1 << 31)})") for chunk in index]
            base = t.two("add", "i64", base, str(scale << 31))
        return base, scale, index

    def _place_of_one(self, start: str, address: Value, how: str) -> str:
        """Return where the access of a single lane goes (i64).

        Behind a memory's start constants are added after extending: LLVM would look for a way to do so at every access. Only those
        added in this block: what a sum of another block is made from need not be kept until here.
        """
        v, t, by = self.v, self.t, 0
        while start and isinstance(address, Op) and address.name == "add" and v.home.get(address) is v.block:
            constant = address.args[1]
            if not isinstance(constant, Const):
                break
            by += signed(constant.bits, BITS[address.type])
            address = address.args[0]
        key = (address, start)
        if key not in v.registers.starts:
            base = v.scalar(address)
            if BITS[address.type] != 64:
                base = t.cast(how, f"i{BITS[address.type]}", base, "i64")
            base = t.two("add", "i64", start, base) if start else base
            v.hold_start(key, base)
        base, pointer = v.registers.starts[key]
        return self._behind(base, pointer, by)

    def _behind(self, base: str, pointer: str, by: int) -> str:
        """Return the sum of an address and a constant, and remember it as that: LLVM is quick with many constants behind one pointer."""
        place = self.t.two("add", "i64", base, str(by)) if by else base
        self._parts[place] = base, pointer, by
        return place

    def shifted(self, address: Address, by: int) -> Address:
        """Return the addresses `by` bytes further on."""
        if not by:
            return address
        v, t = self.v, self.t
        if v.single:
            base, pointer, before = self._parts[address.base]
            return Address(self._behind(base, pointer, before + by), [0], [], [])
        if address.offsets is not None:
            base = t.two("add", "i64", address.base, str(by * address.spread))
            return Address(base, address.offsets, address.symbols, [], address.spread)
        step, type = constant_vector("i64", [by * address.spread] * v.chunk), vector_type("i64", v.chunk)
        vectors, base = [t.two("add", type, x, step) for x in address.vectors], ""
        if address.index:
            base = t.two("add", "i64", address.base, str(by))  # local memory, which spreads lanes, has no index
        return Address(base, None, [], vectors, address.spread, address.scale, address.index)

    def _pointer(self, address: Address, lane: int) -> str:
        """Return one lane's pointer, of an address with known offsets."""
        t = self.t
        if self.v.single:
            _, pointer, by = self._parts[address.base]
            return t.let(f"getelementptr i8, ptr {pointer}, i64 {by}") if by else pointer
        assert address.offsets is not None
        place = address.base
        for symbol, factors in address.symbols:
            if factors[lane]:
                place = t.two("add", "i64", place, t.two("mul", "i64", symbol, str(factors[lane])))
        pointer = t.cast("inttoptr", "i64", place, "ptr")
        offset = address.offsets[lane]
        return t.let(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer

    def lane_pointer(self, address: Address, lane: int) -> str:
        """Return one lane's pointer, of an address with known offsets."""
        return self._pointer(address, lane)

    def pointers(self, address: Address, chunk: int) -> str:
        """Return the vector of pointers of a chunk."""
        v, t = self.v, self.t
        n, first = v.chunk, chunk * v.chunk
        if address.index:
            wide = t.cast("sext", f"<{n} x i32>", address.index[chunk], f"<{n} x i64>")
            start = t.cast("inttoptr", "i64", address.base, "ptr")
            return t.let(f"getelementptr i{8 * address.scale}, ptr {start}, <{n} x i64> {wide}")
        if address.offsets is None:
            return t.cast("inttoptr", f"<{n} x i64>", address.vectors[chunk], f"<{n} x ptr>")
        lanes = slice(first, first + n)
        index = constant_vector("i64", address.offsets[lanes])
        for symbol, factors in address.symbols:
            part = constant_vector("i64", factors[lanes])
            index = t.two("add", f"<{n} x i64>", index, t.two("mul", f"<{n} x i64>", v.splat("i64", symbol), part))
        pointer = t.cast("inttoptr", "i64", address.base, "ptr")
        return t.let(f"getelementptr i8, ptr {pointer}, <{n} x i64> {index}")

    def pattern(self, address: Address, first: int, count: int, size: int) -> str:
        """Classify consecutive lanes: "same" address, "next" to each other, or "" neither."""
        if address.offsets is None:
            return ""
        if any(len(set(factors[first : first + count])) > 1 for _, factors in address.symbols):
            return ""
        offsets = address.offsets[first : first + count]
        if all(o == offsets[0] for o in offsets):
            return "same"
        return "next" if all(o == offsets[0] + i * size for i, o in enumerate(offsets)) else ""

    def _in_row(self, address: Address, first: int, count: int) -> bool:
        """Tell whether consecutive lanes lie in even steps of an element of any size, or at one place."""
        return any(self.pattern(address, first, count, size) for size in (1, 2, 4, 8, 16))

    def _close(self, address: Address) -> bool:
        """Tell whether each chunk's lanes surely lie in a few vectors: then any lane's address tells where a fault was."""
        n = self.v.chunk
        if address.offsets is None or any(len(set(f)) > 1 for _, f in address.symbols):
            return False
        rows = (address.offsets[first : first + n] for first in range(0, self.v.lanes, n))
        return all(max(row) - min(row) < _CLOSE for row in rows)

    # --- comparing places ----------------------------------------------------------------------------------------

    def places(self, address: Address, chunk: int, size: int) -> Places:
        """Return where a chunk's lanes lie in the form in which they are quickest to compare."""
        if address.index and address.scale == size:
            return Places("i32", address.index[chunk], 1, address.base, size)
        return Places("i64", address.vectors[chunk], size, "")

    def place_of(self, places: Places, lane: int, back: int) -> tuple[str, str]:
        """Return what a lane's place is compared by, less `back` elements, and the address (i64) there."""
        t, n = self.t, self.v.chunk
        found = t.let(f"extractelement <{n} x {places.type}> {places.chunk}, i32 {lane}")
        less = t.two("sub", places.type, found, str(places.step * back)) if back else found
        if not places.base:
            return less, less
        wide = t.cast("sext", "i32", found, "i64")  # from where it was: `less` may have wrapped around
        wide = t.two("sub", "i64", wide, str(back)) if back else wide
        return less, t.two("add", "i64", places.base, t.two("mul", "i64", wide, str(places.size)))

    def in_line(self, places: Places, start: str, first: int = 0) -> str:
        """Return which lanes' places are steps from a start; the chunk's first lane is `first` of them behind it."""
        t, type = self.t, f"<{self.v.chunk} x {places.type}>"
        steps = constant_vector(places.type, [places.step * (first + lane) for lane in range(self.v.chunk)])
        return t.two("icmp eq", type, places.chunk, t.two("add", type, self.v.splat(places.type, start), steps))

    def steady(self, places: Places, lane: int, bits: str) -> str:
        """Return `bits` (i1) and whether numbers of 32 bits a gang around this lane's do not wrap around; addresses do not either then."""
        if not places.base:
            return bits
        t, n = self.t, self.v.chunk
        found = t.let(f"extractelement <{n} x i32> {places.chunk}, i32 {lane}")
        moved = t.two("add", "i32", found, str((1 << 31) - self.v.lanes))
        return t.two("and", "i1", bits, t.two("icmp ult", "i32", moved, str((1 << 32) - 2 * self.v.lanes)))

    # --- faults ---------------------------------------------------------------------------------------------------

    def record(self, space: str, address: Address, guard: Value | None) -> None:
        """Write into the worker what tells a fault handler which lane's access it caught (native/core/kernel_abi.h).

        Volatile, so that it stays before the access. Measured on kernels that fit the cache, records of all accesses cost up to
        20 % (rmsnorm, transpose); without them a fault names the warp only, which helps nobody find it. With "gathers" a handler
        must compare the address it caught with the record.
        """
        faults = self.v.machine.faults
        if faults == "off" or space not in ("global", "generic", "const"):
            return
        v, t = self.v, self.t
        if v.single:  # the rest of the record was written when the lane began to run
            place = in_worker(v, self.at, "addresses")
            t.do(f"store volatile i64 {address.base}, ptr {place}, align 8")
            return
        steps = [b - a for a, b in pairwise(address.offsets or [])]
        even = all(len({b - a for a, b in pairwise(factors)}) == 1 for _, factors in address.symbols)
        affine = address.offsets is not None and even and len(set(steps)) == 1
        # Rows that lie apart would take eight more stores per access; there the handler names the warp's first lane.
        rows = all(self._in_row(address, i, 4) for i in range(0, v.lanes, 4)) or self._close(address)
        kind = 2 if affine else 1 if rows else _EACH if v.warps == 1 else _ELSEWHERE
        kind = _NUMBERED if address.index else kind
        if kind < 3 and faults != "exact":
            return
        mask = v.active_bits(guard)
        step = (
            4 if address.uniform else steps[0] if affine else address.scale
        )  # at one address any stride leads to the first lane
        at, masked, start = self.at, v.warps > 1 and mask is not None, len(t.lines)
        word = kind | (v.warps - 1) << 8 | masked << 16
        first = f"<4 x i32> <i32 {word}, i32 -1, i32 {step}, i32 {-1 if step < 0 else 0}>"
        if masked:  # a gang's mask lies behind the first address
            t.do(f"store volatile {v.word} {mask}, ptr {in_worker(v, at, 'addresses', 1)}, align 8")
        elif mask is not None:
            first = f"<4 x i32> {t.let(f'insertelement {first}, i32 {mask}, i32 1')}"
        if self._recorded != (t.label, first):  # within straight code only what changed is written
            self._recorded = (t.label, first)
            t.do(f"store volatile {first}, ptr {in_worker(v, at, 'access_kind')}, align 8")
        if affine and address.symbols:
            stride = str(step)
            for symbol, factors in address.symbols:
                stride = t.two("add", "i64", stride, t.two("mul", "i64", symbol, str(factors[1] - factors[0])))
            t.do(f"store volatile i64 {stride}, ptr {in_worker(v, at, 'access_stride')}, align 8")
            self._recorded = ("", "")
        if kind < 3:
            t.do(f"store volatile i64 {address.base}, ptr {in_worker(v, at, 'addresses')}, align 8")
            if kind == 2 and not address.symbols:
                wide = v.word if masked else ""
                t.notes.append(Note(start, len(t.lines), word, step, mask or "", wide, address.base))
            return
        n, start = v.chunk, in_worker(v, at, "addresses")
        if kind == _NUMBERED:
            room, there = self.room("i32"), in_worker(v, at, "addresses", _LAST)
            t.do(f"store volatile i64 {t.cast('ptrtoint', 'ptr', room, 'i64')}, ptr {there}, align 8")
            t.do(f"store volatile i64 {address.base}, ptr {start}, align 8")
            for i, chunk in enumerate(address.index):
                place = t.let(f"getelementptr i8, ptr {room}, i64 {4 * n * i}") if i else room
                t.do(f"store volatile <{n} x i32> {chunk}, ptr {place}, align 16")
            return
        if kind == _ELSEWHERE:
            room = self.room("i64")
            t.do(f"store volatile i64 {t.cast('ptrtoint', 'ptr', room, 'i64')}, ptr {start}, align 8")
            start = room
        for i in range(v.chunks):
            chunk = t.cast("ptrtoint", f"<{n} x ptr>", self.pointers(address, i), f"<{n} x i64>")
            place = t.let(f"getelementptr i8, ptr {start}, i64 {8 * n * i}") if i else start
            t.do(f"store volatile <{n} x i64> {chunk}, ptr {place}, align 8")

    # --- addresses that are affine unless something wraps around ------------------------------------------------------

    def _either(self, op: Op, access: Callable[[Address], Parts]) -> Parts:
        """Emit an access, twice if its address is affine under conditions: for when they hold, and for when not."""
        v = self.v
        address, space = op.args[0], InSpace.of(op).space
        guarded = v.analysis.guarded.get(address)
        if guarded is None or not v.varies(address):
            place = self.resolve(space, address)
            if place.offsets is None and self._may_be_regular(op):
                return self._if_consecutive(op, place, access)
            self.record(space, place, op.guard)
            return self._at(op, place, self._may_be_near(op), access)
        for a in (*op.args[1:], op.guard):  # in registers before the ways part
            if a is not None:
                v.vector(a)
        v.active_chunks(op.guard)
        v.scalar(address)
        holds = v.holds(guarded.conditions)
        near = guarded.bounded and self._may_be_near(op)  # at a border most lanes are
        self.bounded = guarded.bounded
        parts = self._two_ways(op, holds, (guarded.shape, None), access, near)
        self.bounded = False
        return parts

    def _two_ways(
        self,
        op: Op,
        holds: str,
        ways: tuple[Address | Shape | None, ...],
        access: Callable[[Address], Parts],
        near: bool = False,
    ) -> Parts:
        """Emit an access at the first place if `holds`, else at the second (a place may be given by the address's shape).

        `near`: where nothing is known of the lanes, to test whether they lie side by side.
        """
        v, t, space = self.v, self.t, InSpace.of(op).space
        affine, wrapped, after = t.fresh("affine"), t.fresh("wrapped"), t.fresh("after")
        t.do(f"br i1 {holds}, label %{affine}, label %{wrapped}, !prof !1")
        state = v.snapshot()
        found: list[tuple[str, dict[int, list[str]]]] = []
        for label, way in ((affine, ways[0]), (wrapped, ways[1])):
            t.start(label)
            place = way if isinstance(way, Address) else self.resolve(space, op.args[0], way)
            self.record(space, place, op.guard)
            parts = self._at(op, place, near, access)
            wide = {i: self._chunks(op, part) for i, part in parts.items()}
            found.append((t.label, wide))
            t.do(f"br label %{after}")
            v.restore(state)
        t.start(after)
        out: Parts = {}
        type = v.type(op, True)
        (from_affine, good), (from_wrapped, bad) = found
        for i in good:
            pairs = zip(good[i], bad[i], strict=True)
            out[i] = [t.let(f"phi {type} [ {x}, %{from_affine} ], [ {y}, %{from_wrapped} ]") for x, y in pairs]
        return out

    def _at(self, op: Op, place: Address, near: bool, access: Callable[[Address], Parts]) -> Parts:
        """Emit an access at a place; `near`: with a test of each chunk, if nothing is known of its lanes."""
        self.far = InSpace.of(op).space in ("global", "generic", "const")
        self.near = near and place.offsets is None
        if self.near and InSpace.of(op).space in ("global", "generic", "const"):
            self.following = self.next_block.distance(op, SIZE[op.args[1].type if op.name == "store" else op.type])
        parts = access(place)
        self.near, self.following, self.far = False, "", False
        return parts

    def _may_be_regular(self, op: Op) -> bool:
        """Tell whether a test for consecutive lanes may pay: the address varies only for what lanes might have done apart."""
        element = op.args[1].type if op.name == "store" else op.type
        alone = op.guard is None and self.v.mask is None and MemoryAccess.of(op).count == 1
        return alone and op.args[0] in self.plausible and SIZE[element] >= 4

    def _may_be_near(self, op: Op) -> bool:
        """Tell whether a test of each chunk may pay: what lanes compute without looking into memory is often next to each other."""
        one = MemoryAccess.of(op).count == 1 and len(op.args) <= 2
        plain = not Access.of(op).strong
        return one and plain and self.v.chunks <= _MOST_TESTS and op.args[0] in self.computed

    def _if_consecutive(self, op: Op, place: Address, access: Callable[[Address], Parts]) -> Parts:
        """Emit an access twice, for lanes found side by side and for others."""
        v, t, n = self.v, self.t, self.v.chunk
        size = SIZE[op.args[1].type if op.name == "store" else op.type]
        for a in op.args[1:]:
            v.vector(a)
        start, base = self.place_of(self.places(place, 0, size), 0, 0)
        equal = [self.in_line(self.places(place, i, size), start, i * n) for i in range(v.chunks)]
        every = t.two("icmp eq", v.word, v.bits_of(equal), "-1")
        every = self.steady(self.places(place, 0, size), 0, every)
        steps = [size * lane for lane in range(v.lanes)]
        return self._two_ways(op, every, (Address(base, steps, [], [], place.spread), place), access)

    def _chunks(self, op: Op, part: str | list[str]) -> list[str]:
        return [self.v.splat(LLVM_TYPE[op.type], part)] * self.v.chunks if isinstance(part, str) else part

    def test(self, extension: Op, keep: bool = True) -> None:
        """Where a condition on which addresses rest is computed: note in its flag, for good, if a lane wraps around or meets a bound.

        An address made from it may be carried on and used much later, so a flag never becomes true again.
        """
        v, t = self.v, self.t
        flag = v.variables.flag(extension)
        before = t.let(f"load i1, ptr {flag}")
        holds = t.two("and", "i1", before, self._in_range(extension))
        carried = [phi for phi in self.carried.get(extension, ()) if keep]
        if carried:
            # What phis were while it held is known only by their shapes: from now on it is kept lane by lane.
            v.hold_test(extension, before)
            good, failed = t.fresh("good"), t.fresh("failed")
            t.do(f"br i1 {holds}, label %{good}, label %{failed}, !prof !1")
            t.start(failed)
            state = v.snapshot()
            for phi in carried:
                v.drop(phi)
                v.assign(phi, "main", v.vector(phi))
            v.restore(state)
            t.do(f"br label %{good}")
            t.start(good)
        t.do(f"store i1 {holds}, ptr {flag}")
        v.hold_test(extension, holds)

    def _in_range(self, extension: Op) -> str:
        v, t = self.v, self.t
        if extension.name == "select":
            condition, yes, _ = extension.args
            all_on = "0" if v.shape(yes).uniform else "-1"
            return t.two("icmp eq", v.word, v.bits_of(v.vector(condition)), all_on)
        bounded = extension.name in BOUNDS
        operand, limit = extension.args[0], extension.args[-1]
        if bounded and v.shape(operand).uniform:
            operand, limit = limit, operand
        guarded = v.analysis.guarded.get(operand)
        shape = guarded.shape if guarded is not None and v.varies(operand) else v.shape(operand)
        narrow, width = LLVM_TYPE[operand.type], BITS[operand.type]
        biased = extension.name == "add"
        is_signed = Signed.of(extension).signed if bounded else biased or extension.name == "sext"
        how = "sext" if is_signed else "zext"
        if width > 32:
            raise NotImplementedError(f"conditions on {operand.type}")
        base = t.cast(how, narrow, v.scalar(operand), "i64")
        symbols = [t.cast(how, narrow, v.symbol(s, operand), "i64") for s, _ in shape.symbols]
        most = t.cast(how, narrow, v.scalar(limit), "i64") if bounded else ""
        out = ""
        for offset, factors in corners(shape):
            total = base if not offset else t.two("add", "i64", base, str(offset))
            for symbol, factor in zip(symbols, factors, strict=True):
                if factor:
                    total = t.two("add", "i64", total, t.two("mul", "i64", symbol, str(factor)))
            if biased:
                below = t.two("icmp ult", "i64", total, str(1 << (width - 1)))
                out = t.two("and", "i1", out, below) if out else below
            if bounded:
                within = t.two("icmp sle" if extension.name == "min" else "icmp sge", "i64", total, most)
                out = t.two("and", "i1", out, within) if out else within
            if biased or total is base:
                continue
            back = t.cast(how, narrow, t.cast("trunc", "i64", total, narrow), "i64")
            good = t.two("icmp eq", "i64", back, total)
            out = t.two("and", "i1", out, good) if out else good
        return out or "true"

    # --- lanes by way of the stack ----------------------------------------------------------------------------------

    def next_operation(self) -> None:
        """Rooms on the stack serve one operation each: the next may have them again."""
        self._rooms_used = 0

    def room(self, element: str) -> str:
        """Return a place on the stack for an element of each lane; its content holds until the operation ends."""
        if self._rooms_used == len(self._rooms):
            self._rooms.append(self.t.alloca(f"[{self.v.lanes} x i128]", 64))
        self._rooms_used += 1
        assert element != "i1"  # held in bits, not bytes
        return self._rooms[self._rooms_used - 1]

    def spill(self, element: str, chunks: Sequence[str]) -> str:
        """Write chunks to the stack and return the pointer."""
        v, t = self.v, self.t
        room = self.room(element)
        for i, chunk in enumerate(chunks):
            place = t.let(f"getelementptr {element}, ptr {room}, i32 {i * v.chunk}") if i else room
            t.do(f"store <{v.chunk} x {element}> {chunk}, ptr {place}, align 16")
        return room

    def pick_lane(self, element: str, chunks: Sequence[str], lane: str) -> str:
        """Return the element of lane `lane` (i32, from 0) of a value in chunks, by way of the stack."""
        t = self.t
        room = self.spill(element, chunks)
        place = t.let(f"getelementptr {element}, ptr {room}, i32 {lane}")
        return t.let(f"load {element}, ptr {place}")

"""Operations among the lanes of a warp as LLVM IR: shuffles, votes, matches and reductions."""

from __future__ import annotations

from anywarp.compiler.attributes import Reduction
from anywarp.compiler.ir import Const, Op, Value
from anywarp.compiler.simd.known import LANES
from anywarp.compiler.simd.memory import Memory
from anywarp.compiler.simd.text import LLVM_TYPE, constant_vector, splat, vector_type
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.ops import BITS

_IDENTITY = {"add": 0, "or": 0, "xor": 0, "and": -1, "min": 0x7FFFFFFF, "max": 0x80000000, "umin": -1, "umax": 0}
_LLVM_REDUCE = {
    "add": "add",
    "or": "or",
    "xor": "xor",
    "and": "and",
    "min": "smin",
    "max": "smax",
    "umin": "umin",
    "umax": "umax",
}

_NARROWING = frozenset({"and", "or", "xor", "zext", "trunc", "lshr"})
_MATCHED = 4
"""Lanes that a trip of the loop for matches compares with."""


_FEW_BITS = 10
"""Bits of numbers that are matched bit by bit: a bit costs as much as comparing with three lanes."""
_TABLE = 16
"""Words of a vector in which every lane may look up one: what four bits say."""
_LOOKED_AT = 6


def significant_bits(value: Value, depth: int = 0) -> int:
    """Return how many of the lowest bits of an integer may differ from 0, as the operations that make it tell."""
    width = BITS[value.type]
    if isinstance(value, Const):
        return value.bits.bit_length()
    if not isinstance(value, Op) or depth > _LOOKED_AT:
        return width
    found = [significant_bits(a, depth + 1) for a in value.args] if value.name in _NARROWING else []
    last = value.args[-1] if value.args else None
    if value.name == "and":
        return min(found)
    if value.name in ("or", "xor"):
        return max(found)
    if value.name in ("zext", "trunc"):
        return min(found[0], width)
    if value.name == "lshr" and isinstance(last, Const):
        return max(0, found[0] - last.bits)
    return width


class Warp:
    """Emits warp operations through `values`; `memory` lends its detour over the stack."""

    def __init__(self, values: Values, memory: Memory) -> None:
        self.v = values
        self.t = values.t
        self.memory = memory

    def active(self, op: Op) -> str:
        """Return the word of lanes that take part."""
        return self.v.active_bits(op.guard) or "-1"

    def _of_warp(self, chunks: list[str], warp: int) -> list[str]:
        """Return the chunks of one of the gang's warps."""
        count = LANES // self.v.chunk
        return chunks[warp * count : (warp + 1) * count]

    def _define_words(self, op: Op, words: list[str]) -> None:
        """Define a value by an i32 for all lanes of each warp."""
        v = self.v
        if v.warps == 1:
            v.define(op, words[0])
            return
        v.define(op, None, [x for word in words for x in [v.splat("i32", word)] * (LANES // v.chunk)])

    # --- shuffle --------------------------------------------------------------------------------------------------

    def shuffle(self, op: Op) -> None:
        """Emit a shuffle; wide elements go in two halves, narrow ones widened."""
        v, t = self.v, self.t
        source, index = op.args
        if v.shape(source).uniform and not v.left(source, v.block):
            v.define(
                op,
                v.scalar(source),
                [v.splat(LLVM_TYPE[op.type], v.scalar(source))] * v.chunks if v.varies(op) else None,
            )
            return
        chunks, lanes = v.vector(source), v.vector(index)
        if BITS[index.type] != 32:
            raise NotImplementedError(f"shuffle with an index of type {index.type}")
        n, element = v.chunk, LLVM_TYPE[op.type]
        type, word = vector_type(element, n), vector_type("i32", n)
        width = BITS[op.type]
        if width == 32:
            words = [t.cast("bitcast", type, c, word) if element != "i32" else c for c in chunks]
            out = self._shuffle_words(words, lanes)
            v.define(op, None, [t.cast("bitcast", word, c, type) if element != "i32" else c for c in out])
        elif width < 32:
            out = self._shuffle_words([t.cast("zext", type, c, word) for c in chunks], lanes)
            v.define(op, None, [t.cast("trunc", word, c, type) for c in out])
        else:
            v.define(op, None, self._shuffle_wide(chunks, lanes, element, width))

    def _shuffle_wide(self, chunks: list[str], lanes: list[str], element: str, width: int) -> list[str]:
        v, t, n = self.v, self.t, self.v.chunk
        type, whole, word = vector_type(element, n), vector_type(f"i{width}", n), vector_type("i32", n)
        bits = [t.cast("bitcast", type, c, whole) if element == "double" else c for c in chunks]
        out = ["zeroinitializer"] * v.chunks
        for shift in range(0, width, 32):
            by = splat(f"i{width}", shift, n)
            parts = [t.cast("trunc", whole, t.two("lshr", whole, b, by) if shift else b, word) for b in bits]
            for i, part in enumerate(self._shuffle_words(parts, lanes)):
                piece = t.cast("zext", word, part, whole)
                out[i] = t.two("or", whole, out[i], t.two("shl", whole, piece, by) if shift else piece)
        return [t.cast("bitcast", whole, c, type) if element == "double" else c for c in out]

    def _shuffle_words(self, words: list[str], lanes: list[str]) -> list[str]:
        out: list[str] = []
        for warp in range(self.v.warps):
            out += self._shuffle_warp(self._of_warp(words, warp), self._of_warp(lanes, warp))
        return out

    def _shuffle_warp(self, words: list[str], lanes: list[str]) -> list[str]:
        v, t, n = self.v, self.t, self.v.chunk
        word = vector_type("i32", n)
        if v.machine.avx512 and n == 16:
            name = "llvm.x86.avx512.vpermi2var.d.512"
            return [t.call(word, name, (word, words[0]), (word, lane), (word, words[1])) for lane in lanes]
        if v.machine.avx2 and n == 8:
            return [self._permute_blend(words, lane) for lane in lanes]
        room = self.memory.spill("i32", words)
        name = f"llvm.masked.gather.v{n}i32.v{n}p0"
        t.declarations[name] = f"declare {word} @{name}(<{n} x ptr>, <{n} x i1>, {word})"
        out: list[str] = []
        for lane in lanes:
            inside = t.two("and", word, lane, splat("i32", LANES - 1, n))
            pointers = t.let(f"getelementptr i32, ptr {room}, {word} {inside}")
            out.append(
                t.let(f"call {word} @{name}(<{n} x ptr> align 4 {pointers}, <{n} x i1> splat (i1 true), {word} poison)")
            )
        return out

    def _permute_blend(self, words: list[str], lane: str) -> str:
        """AVX2: permute every source chunk by the low three bits and choose by the upper two."""
        t, word = self.t, "<8 x i32>"
        upper = t.two("lshr", word, t.two("and", word, lane, splat("i32", 31, 8)), splat("i32", 3, 8))
        out = ""
        for i, source in enumerate(words):
            part = t.call(word, "llvm.x86.avx2.permd", (word, source), (word, lane))
            if not out:
                out = part
                continue
            here = t.two("icmp eq", word, upper, splat("i32", i, 8))
            out = t.pick(8, here, word, part, out)
        return out

    # --- votes ----------------------------------------------------------------------------------------------------

    def ballot(self, op: Op) -> None:
        """Emit a vote: the lanes that are on and whose predicate holds."""
        v, t = self.v, self.t
        bits, active = v.truth(op.args[0]), v.active_bits(op.guard)
        self._define_words(op, v.warp_words(bits if active is None else t.two("and", v.word, bits, active)))

    def match_any(self, op: Op) -> None:
        """Emit, for each warp, a loop over the distinct values among its active lanes."""
        v = self.v
        source = op.args[0]
        active = v.warp_words(self.active(op))
        if v.shape(source).uniform and not v.left(source, v.block):
            self._define_words(op, active)
            return
        chunks, out, bits = v.vector(source), list[str](), significant_bits(source)
        for warp, lanes in enumerate(active):
            if bits <= _FEW_BITS:
                out += self._matches_by_bits(source, self._of_warp(chunks, warp), bits, lanes)
                continue
            out += self.matches(LLVM_TYPE[source.type], self._of_warp(chunks, warp), lanes)
        v.define(op, None, out)

    def _matches_by_bits(self, source: Value, chunks: list[str], bits: int, active: str) -> list[str]:
        """Return the same as `matches` of numbers of few bits: lanes that agree on each bit hold the same."""
        v, t, n = self.v, self.t, self.v.chunk
        type, word = vector_type(LLVM_TYPE[source.type], n), vector_type("i32", n)
        if n == _TABLE and v.machine.avx512:
            return self._matches_by_table(source, chunks, bits, active)
        out = ["zeroinitializer"] * len(chunks)
        for bit in range(bits):
            one = splat(source.type, 1 << bit, n)
            on = [t.two("icmp ne", type, t.two("and", type, c, one), "zeroinitializer") for c in chunks]
            here = v.splat("i32", v.bits_of(on, LANES))
            signs = [t.cast("sext", f"<{n} x i1>", mask, word) for mask in on]
            out = [t.two("or", word, x, t.two("xor", word, here, sign)) for x, sign in zip(out, signs, strict=True)]
        found = v.splat("i32", active)
        return [t.two("and", word, found, t.two("xor", word, x, "splat (i32 -1)")) for x in out]

    def _matches_by_table(self, source: Value, chunks: list[str], bits: int, active: str) -> list[str]:
        """Return the same: what four bits of a number leave of the lanes stands in a table, in which all lanes look at once."""
        v, t, n = self.v, self.t, self.v.chunk
        type, word, byte = vector_type(LLVM_TYPE[source.type], n), vector_type("i32", n), vector_type("i8", n)
        here = list[str]()  # for each bit the lanes that have it
        for first in range(0, bits, 8):
            parts = [t.two("lshr", type, c, splat(source.type, first, n)) if first else c for c in chunks]
            joined = v.join("i8", n, [t.cast("trunc", type, c, byte) for c in parts])
            here += self._words_of_bits(joined, min(8, bits - first))
        index = [c if type == word else t.cast("trunc", type, c, word) for c in chunks]
        out: list[str] = []
        for first in range(0, bits, 4):
            table = v.splat("i32", active) if not first else "splat (i32 -1)"
            for bit in range(first, min(bits, first + 4)):
                off = constant_vector("i32", [0 if place >> bit - first & 1 else (1 << 32) - 1 for place in range(n)])
                table = t.two("and", word, table, t.two("xor", word, here[bit], off))
            by = f"splat (i32 {first})"
            places = [t.two("lshr", word, i, by) if first else i for i in index]
            found = [t.call(word, "llvm.x86.avx512.permvar.si.512", (word, table), (word, place)) for place in places]
            out = [t.two("and", word, a, b) for a, b in zip(out, found, strict=True)] if out else found
        return out

    def _words_of_bits(self, numbers: str, bits: int) -> list[str]:
        """Return for each of the lowest bits of a warp's bytes a chunk that is full of the word of lanes which have it.

        A product with the unit matrix over GF(2) turns eight bytes into eight of their bits each, the last byte's first (Intel's
        manual, GF2P8AFFINEQB); the bytes of one bit then stand eight apart.
        """
        v, t, bytes = self.v, self.t, vector_type("i8", LANES)
        if not v.machine.gfni:
            masks = [
                t.two("icmp ne", bytes, t.two("and", bytes, numbers, f"splat (i8 {1 << bit})"), "zeroinitializer")
                for bit in range(bits)
            ]
            return [v.splat("i32", t.cast("bitcast", vector_type("i1", LANES), mask, "i32")) for mask in masks]
        turned = t.shuffle(bytes, numbers, [i ^ 7 for i in range(LANES)])
        unit = constant_vector("i8", [1 << i % 8 for i in range(LANES)])
        turned = t.call(bytes, "llvm.x86.vgf2p8affineqb.256", (bytes, unit), (bytes, turned), ("i8", "0"))
        words = t.cast(
            "bitcast", bytes, t.shuffle(bytes, turned, [i // 4 + i % 4 * 8 for i in range(LANES)]), "<8 x i32>"
        )
        return [t.shuffle("<8 x i32>", words, [bit] * v.chunk) for bit in range(bits)]

    def matches(self, element: str, chunks: list[str], active: str) -> list[str]:
        """Return for each lane of a warp the word of the active lanes that hold the same.

        Each is compared with all in turn: no step waits for the one before, as going from value to value would.
        """
        v, t = self.v, self.t
        n, word = v.chunk, vector_type("i32", v.chunk)
        assert element in ("i32", "i64")
        room = self.memory.spill(element, chunks)
        results, bit, lane = [t.alloca(word) for _ in chunks], t.alloca(word), t.alloca("i32")
        for result in results:
            t.do(f"store {word} zeroinitializer, ptr {result}")
        t.do(f"store {word} splat (i32 1), ptr {bit}")
        t.do(f"store i32 0, ptr {lane}")
        body, done = t.fresh("matching"), t.fresh("matched")
        t.do(f"br label %{body}")
        t.start(body)
        state = v.snapshot()
        number, here = t.let(f"load i32, ptr {lane}"), t.let(f"load {word}, ptr {bit}")
        found = [t.let(f"load {word}, ptr {result}") for result in results]
        for step in range(_MATCHED):
            at = t.two("add", "i32", number, str(step))
            wanted = v.splat(
                element, t.let(f"load {element}, ptr {t.let(f'getelementptr {element}, ptr {room}, i32 {at}')}")
            )
            for i, chunk in enumerate(chunks):
                equal = t.two("icmp eq", vector_type(element, n), chunk, wanted)
                found[i] = t.pick(n, equal, word, t.two("or", word, found[i], here), found[i])
            here = t.two("add", word, here, here)
        for result, new in zip(results, found, strict=True):
            t.do(f"store {word} {new}, ptr {result}")
        t.do(f"store {word} {here}, ptr {bit}")
        following = t.two("add", "i32", number, str(_MATCHED))
        t.do(f"store i32 {following}, ptr {lane}")
        v.restore(state)
        t.do(f"br i1 {t.two('icmp ult', 'i32', following, str(LANES))}, label %{body}, label %{done}")
        t.start(done)
        on = v.splat("i32", active)
        return [t.two("and", word, t.let(f"load {word}, ptr {result}"), on) for result in results]

    # --- reductions -----------------------------------------------------------------------------------------------

    def reduce(self, op: Op) -> None:
        """Emit a reduction over the lanes that are on and named in the members' mask of each lane."""
        v, t = self.v, self.t
        source, members = op.args
        active, how = v.warp_words(self.active(op)), Reduction.of(op).op
        chunks = v.vector(source)
        if v.shape(members).uniform and not v.left(members, v.block):
            named = v.scalar(members)
            words = [t.two("and", "i32", named, lanes) for lanes in active]
            self._define_words(op, [self.total(how, self._of_warp(chunks, w), x) for w, x in enumerate(words)])
            return
        groups, out = v.vector(members), list[str]()
        for warp, lanes in enumerate(active):
            out += self._reduce_groups(how, self._of_warp(chunks, warp), self._of_warp(groups, warp), lanes)
        v.define(op, None, out)

    def total(self, how: str, chunks: list[str], lanes: str) -> str:
        """Return the reduction of i32 chunks over the lanes in a word, of a warp or of the gang."""
        v, t, n = self.v, self.t, self.v.chunk
        word = vector_type("i32", n)
        identity = splat("i32", _IDENTITY[how], n)
        parts = [
            t.pick(n, mask, word, c, identity)
            for c, mask in zip(chunks, v.lane_masks(lanes, len(chunks) * n), strict=True)
        ]
        while len(parts) > 1:
            parts = [self._combine(how, word, n, a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return t.call("i32", f"llvm.vector.reduce.{_LLVM_REDUCE[how]}.v{n}i32", (word, parts[0]))

    def _combine(self, how: str, word: str, n: int, a: str, b: str) -> str:
        name = _LLVM_REDUCE[how]
        if name in ("add", "or", "xor", "and"):
            return self.t.two(name, word, a, b)
        return self.t.call(word, f"llvm.{name}.v{n}i32", (word, a), (word, b))

    def _reduce_groups(self, how: str, chunks: list[str], groups: list[str], active: str) -> list[str]:
        """Emit a loop over the distinct member masks among the active lanes of a warp."""
        v, t = self.v, self.t
        n, word = v.chunk, vector_type("i32", v.chunk)
        room = self.memory.spill("i32", groups)
        results, rest = [t.alloca(word) for _ in chunks], t.alloca("i32")
        for result in results:
            t.do(f"store {word} zeroinitializer, ptr {result}")
        t.do(f"store i32 {active}, ptr {rest}")
        head, body, done = t.fresh("reduce"), t.fresh("reducing"), t.fresh("reduced")
        t.do(f"br label %{head}")
        t.start(head)
        left = t.let(f"load i32, ptr {rest}")
        t.do(f"br i1 {t.two('icmp ne', 'i32', left, '0')}, label %{body}, label %{done}")
        t.start(body)
        state = v.snapshot()
        lane = t.call("i32", "llvm.cttz.i32", ("i32", left), ("i1", "true"))
        wanted = t.let(f"load i32, ptr {t.let(f'getelementptr i32, ptr {room}, i32 {lane}')}")
        spread = v.splat("i32", wanted)
        same = t.two("and", "i32", v.bits_of([t.two("icmp eq", word, c, spread) for c in groups], LANES), active)
        total = v.splat("i32", self.total(how, chunks, t.two("and", "i32", wanted, active)))
        for result, mask in zip(results, v.lane_masks(same, LANES), strict=True):
            old = t.let(f"load {word}, ptr {result}")
            t.do(f"store {word} {t.pick(n, mask, word, total, old)}, ptr {result}")
        t.do(f"store i32 {t.two('and', 'i32', left, t.two('xor', 'i32', same, '-1'))}, ptr {rest}")
        v.restore(state)
        t.do(f"br label %{head}")
        t.start(done)
        return [t.let(f"load {word}, ptr {result}") for result in results]

"""How values of the kernel IR live in the code being emitted: scalars, lane-0 bases with known offsets, lists of chunks.

A value that all lanes share, or that differs from lane to lane by known steps, is one scalar (lane 0's); everything else is a
list of vectors of one native register each. Uses in other blocks go through variables, which LLVM turns into registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from anywarp.compiler.ir import Block, Const, Kernel, Op, Phi, Specialisation, Undefined, Value
from anywarp.compiler.shapes import Analysis, Shape
from anywarp.compiler.simd.floats import Floats
from anywarp.compiler.simd.known import LANES, Known, Machine
from anywarp.compiler.simd.text import LLVM_TYPE, Text, constant, constant_vector, splat, vector_type
from anywarp.compiler.simd.variables import Variables
from anywarp.compiler.transfer import constants
from anywarp.ptx.isa.ops import BITS

_WORD, _PACKED = 64, 8
ALL_LANES, NO_LANE = "splat (i1 true)", "splat (i1 false)"
"""Masks of a chunk that are known."""


@dataclass(slots=True)
class Registers:
    """What is in registers at a point of the code."""

    scalars: dict[Value, str] = field(default_factory=dict[Value, str])
    vectors: dict[Value, list[str]] = field(default_factory=dict[Value, "list[str]"])
    masks: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    tested: dict[Op, str] = field(default_factory=dict[Op, str])
    """Conditions whose flag is there."""
    starts: dict[tuple[Value, str], tuple[str, str]] = field(default_factory=dict[tuple[Value, str], tuple[str, str]])
    """Of single lanes' accesses, as i64 and as pointer."""

    def copy(self) -> Registers:
        """Return a copy that changes on its own."""
        return Registers(
            dict(self.scalars),
            dict(self.vectors),
            dict(self.masks),
            dict(self.tested),
            dict(self.starts),
        )


class Values(Known):
    """Access to values while emitting one function. `block` is the block whose copy is being emitted, `mask` the word of its active lanes (None: all).

    What is in registers is `registers`, which only methods of this class change; variables are `variables`'.
    """

    def __init__(self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation, machine: Machine) -> None:
        super().__init__(kernel, analysis, specialisation, machine)
        self.t: Final = Text()
        self.floats: Final = Floats(self.t, self.chunk, machine.avx512, machine.fp16, machine.f16c, machine.rounds)
        self.variables: Final = Variables(self, self.t)
        self.block: Block = kernel.blocks[0]
        self.mask: str | None = None
        self.copies = 0  # of blocks, begun so far
        self.registers = Registers()
        self.hoisted: Final[dict[Value, str]] = {}
        self._compute: Callable[[Op, bool], None] = _not_ready

    def compute_by(self, compute: Callable[[Op, bool], None]) -> None:
        """Say who emits a lazy operation: as lane 0's scalar, or as chunks."""
        self._compute = compute

    # --- the copy of a block that is emitted --------------------------------------------------------------------------

    def begin_copy(self, block: Block, mask: str | None) -> None:
        """Forget what was in registers: emission of a copy of `block` begins."""
        self.read_as(block, mask)
        self.copies += 1
        self.registers = Registers()

    def read_as(self, block: Block, mask: str | None) -> None:
        """Read values as a block does, without beginning its code."""
        self.block, self.mask = block, mask

    def snapshot(self) -> Registers:
        """Return the register state, for `restore` after code that does not dominate what follows."""
        return self.registers.copy()

    def restore(self, state: Registers) -> None:
        """Return to a register state."""
        self.registers = state.copy()

    # --- registers ----------------------------------------------------------------------------------------------------

    def hold_scalar(self, value: Value, scalar: str) -> None:
        """Have lane 0's value in a register, in this copy only."""
        self.registers.scalars[value] = scalar

    def hold_chunks(self, value: Value, chunks: list[str]) -> None:
        """Have a value's chunks in registers, in this copy only."""
        self.registers.vectors[value] = chunks

    def hold_test(self, condition: Op, flag: str) -> None:
        """Have the flag of a condition in a register."""
        self.registers.tested[condition] = flag

    def hold_start(self, key: tuple[Value, str], base: str) -> None:
        """Have the start of a single lane's accesses in registers, as a number (`base`) and as a pointer."""
        self.registers.starts[key] = base, self.t.cast("inttoptr", "i64", base, "ptr")

    def drop(self, value: Value) -> None:
        """Forget a value's registers."""
        self.registers.scalars.pop(value, None)
        self.registers.vectors.pop(value, None)

    def hoist(self, value: Value, scalar: str) -> None:
        """Have a value in a register everywhere."""
        self.hoisted[value] = scalar

    def scalar(self, value: Value) -> str:
        """Return lane 0's value."""
        if isinstance(value, Const):
            return constant(value.type, value.bits)
        if isinstance(value, Undefined):
            return constant(value.type, 0)
        if value in self.hoisted:
            return self.hoisted[value]
        known = constants(self.shape(value), value.type)
        if known is not None:
            return constant(value.type, known[0])
        if value not in self.registers.scalars:
            if isinstance(value, Op) and (self.lazy(value) or value not in self.home):
                self._compute(value, False)
            elif self.has_first(value):
                place = self.variables.place(self.variables.of(value, "main0")[0])
                self.registers.scalars[value] = self.t.let(f"load {self.type(value, False)}, ptr {place}")
            elif self.varies(value):
                first = self.vector(value)[0]
                self.registers.scalars[value] = self.t.let(f"extractelement {self.type(value, True)} {first}, i32 0")
            else:
                type = self.type(value, False)
                place = self.variables.place(self.variables.of(value, "main")[0])
                self.registers.scalars[value] = self.t.let(f"load {type}, ptr {place}")
        return self.registers.scalars[value]

    def vector(self, value: Value) -> list[str]:
        """Return a value's chunks."""
        if isinstance(value, (Const, Undefined)):
            bits = value.bits if isinstance(value, Const) else 0
            return [splat(value.type, bits, self.chunk)] * self.chunks
        if value not in self.registers.vectors:
            if self.lazy(value) and isinstance(value, Op):
                self._compute(value, True)
            elif self.has_first(value):
                self.registers.vectors[value] = self._guarded_chunks(value)
            elif self.left(value, self.block):
                self.registers.vectors[value] = self.variables.load_chunks(value, "copy")
            elif self.varies(value):
                self.registers.vectors[value] = self.variables.load_chunks(value, "main")
            else:
                self.registers.vectors[value] = self.materialise(value)
        return self.registers.vectors[value]

    def is_scalar(self, value: Value) -> bool:
        """Tell whether all lanes have a value's one number here."""
        return not self.varies(value) and self.shape(value).uniform and not self.left(value, self.block)

    def splat(self, type: str, scalar: str) -> str:
        """Spread a scalar of an LLVM type over a chunk."""
        n = self.chunk
        first = self.t.let(f"insertelement <{n} x {type}> poison, {type} {scalar}, i32 0")
        return self.t.spread(f"<{n} x {type}>", first, n)

    def _guarded_chunks(self, value: Value) -> list[str]:
        """A phi that is affine under conditions: its chunks were kept only from when the conditions failed."""
        guarded = self.analysis.guarded[value]
        holds, type = self.holds(guarded.conditions), self.type(value, True)
        spread = self.t.let(f"insertelement <{self.chunk} x i1> poison, i1 {holds}, i32 0")
        spread = self.t.spread(f"<{self.chunk} x i1>", spread, self.chunk)
        pairs = zip(self.materialise(value, guarded.shape), self.variables.load_chunks(value, "main"), strict=True)
        return [self.t.pick(self.chunk, spread, type, a, b) for a, b in pairs]

    def holds(self, conditions: Iterable[Op]) -> str:
        """Return (i1) whether no lane's operand of these extensions has wrapped around."""
        out = ""
        for one in conditions:
            if one not in self.registers.tested:
                self.registers.tested[one] = self.t.let(f"load i1, ptr {self.variables.flag(one)}")
            out = self.t.two("and", "i1", out, self.registers.tested[one]) if out else self.registers.tested[one]
        return out or "true"

    def unless_affine(self, value: Value) -> tuple[str, Registers]:
        """Begin code for when the conditions of a value have failed; `resume` ends it."""
        inside, after = self.t.fresh("wrapped"), self.t.fresh("after")
        holds = self.holds(self.analysis.guarded[value].conditions)
        state = self.snapshot()
        self.t.do(f"br i1 {holds}, label %{after}, label %{inside}, !prof !1")
        self.t.start(inside)
        return after, state

    def resume(self, place: tuple[str, Registers]) -> None:
        """End code begun by `unless_affine`."""
        self.t.do(f"br label %{place[0]}")
        self.t.start(place[0])
        self.restore(place[1])

    def materialise(self, value: Value, shape: Shape | None = None) -> list[str]:
        """Turn lane 0's value and what is known of the others into chunks."""
        shape, t = shape or self.shape(value), self.t
        element = LLVM_TYPE[value.type]
        known = constants(shape, value.type)
        if known is not None:
            return [constant_vector(value.type, [known[lane] for lane in lanes]) for lanes in self.columns()]
        base = self.splat(element, self.scalar(value))
        if shape.uniform or shape.offsets is None:
            return [base] * self.chunks
        type, out = vector_type(element, self.chunk), list[str]()
        symbols = [(self.splat(element, self.symbol(s, value)), factors) for s, factors in shape.symbols]
        for first in range(0, self.lanes, self.chunk):
            lanes = slice(first, first + self.chunk)
            x = base
            if any(shape.offsets[lanes]):
                x = t.two("add", type, x, constant_vector(value.type, shape.offsets[lanes]))
            for vector, factors in symbols:
                if any(factors[lanes]):
                    x = t.two("add", type, x, t.two("mul", type, vector, constant_vector(value.type, factors[lanes])))
            out.append(x)
        return out

    def symbol(self, symbol: Value, value: Value) -> str:
        """Return a shape's symbol as a scalar of the type of `value`: shapes keep track of sign by arithmetic modulo 2**width."""
        scalar = self.scalar(symbol)
        have, want = BITS[symbol.type], BITS[value.type]
        if have == want:
            return scalar
        return self.t.cast("sext" if have < want else "trunc", LLVM_TYPE[symbol.type], scalar, LLVM_TYPE[value.type])

    def define(self, value: Value, scalar: str | None = None, vector: list[str] | None = None) -> None:
        """Give a value its registers in this copy, and its variables where other blocks read it."""
        if self.varies(value):
            if vector is None:
                vector = [self.splat(LLVM_TYPE[value.type], scalar or "")] * self.chunks
            self.registers.vectors[value] = vector
            if value in self.crossing:
                self.assign(value, "main", vector, self.mask if self.variables.is_masked(value) else None)
            return
        if scalar is None:
            assert vector is not None
            scalar = self.t.let(f"extractelement {self.type(value, True)} {vector[0]}, i32 0")
        self.registers.scalars[value] = scalar
        if self.unparted and self.home.get(value) is self.block:
            self.hoisted[value] = scalar
        elif value in self.crossing:
            self.assign(value, "main", [scalar])

    def assign(self, value: Value, kind: str, parts: list[str], mask: str | None = None) -> None:
        """Set variables of a value; with a mask of lanes only those (for a scalar: only if there is any)."""
        variables = self.variables.of(value, kind)
        if self.variables.place_of(parts[0]) == variables[0]:
            return  # where it is already
        wide = self.wide(value, kind)
        type, t = self.type(value, wide), self.t
        for i, (variable, part) in enumerate(zip(variables, parts, strict=True)):
            if mask is not None:
                with t.chunk(self.variables.chunk_at(variable, wide, i)):
                    old = self.variables.read(type, variable)
                n, condition = (
                    (self.chunk, self.lane_masks(mask)[i]) if wide else (0, t.two("icmp ne", self.word, mask, "0"))
                )
                part = t.pick(n, condition, type, part, old)
            with t.chunk(self.variables.chunk_at(variable, wide, i)):
                self.variables.write(type, part, variable)

    # --- masks ----------------------------------------------------------------------------------------------------

    def lane_masks(self, bits: str, lanes: int = 0) -> list[str]:
        """Turn a word of lanes (of all; or of `lanes` of them) into chunks of i1."""
        if bits.removeprefix("-").isdigit():
            known = int(bits)
            return [
                constant_vector("i1", [known >> lane & 1 for lane in r])
                for r in self.columns()[: (lanes or self.lanes) // self.chunk]
            ]
        if bits not in self.registers.masks:
            n = lanes or self.lanes
            per, out, t = min(n, _WORD), list[str](), self.t
            for word in self._words(bits, n):
                if self._masks_are_vectors(per):
                    out += self._spread_bits(word, per)
                    continue
                for first in range(0, per, self.chunk):
                    shifted = t.two("lshr", f"i{per}", word, str(first)) if first else word
                    narrow = t.cast("trunc", f"i{per}", shifted, f"i{self.chunk}")
                    out.append(t.cast("bitcast", f"i{self.chunk}", narrow, f"<{self.chunk} x i1>"))
            self.registers.masks[bits] = out
        return self.registers.masks[bits]

    def _masks_are_vectors(self, lanes: int) -> bool:
        """Tell whether masks are vectors of words and warps whole: LLVM, left alone, takes a word of bits apart one by one then."""
        return self.machine.avx2 and not self.machine.mask_registers and lanes % LANES == 0 and self.chunk == _PACKED

    def _spread_bits(self, word: str, lanes: int) -> list[str]:
        """Turn a word of whole warps into chunks of i1."""
        t, n, out = self.t, self.chunk, list[str]()
        type = vector_type("i32", n)
        for warp in range(0, lanes, LANES):
            bits = t.two("lshr", f"i{lanes}", word, str(warp)) if warp else word
            bits = t.cast("trunc", f"i{lanes}", bits, "i32") if lanes > LANES else bits
            spread = self.splat("i32", bits)
            for first in range(0, LANES, n):
                each = constant_vector("i32", [1 << (first + lane) for lane in range(n)])
                out.append(t.two("icmp eq", type, t.two("and", type, spread, each), each))
        return out

    def part(self, element: str, width: int, vector: str, first: int, count: int = 0) -> str:
        """Take `count` (0: a chunk) consecutive elements out of a vector of `width`."""
        return self.t.shuffle(f"<{width} x {element}>", vector, range(first, first + (count or self.chunk)))

    def join(self, element: str, width: int, parts: list[str]) -> str:
        """Concatenate vectors of `width` elements, a power of two of them."""
        return self.t.join(element, width, parts)[0]

    def bits_of(self, chunks: list[str], lanes: int = 0) -> str:
        """Turn chunks of i1 into a word of lanes (of all; or of `lanes` of them)."""
        t, n = self.t, lanes or self.lanes
        per, wide = min(n, _WORD), f"i{n}"
        out, count = "", per // self.chunk
        if self._masks_are_vectors(per):
            per, count = LANES, LANES // self.chunk
        for first in range(0, len(chunks), count):
            if self._masks_are_vectors(per):
                word = self._packed_bits(chunks[first : first + count])
            else:
                joined = self.join("i1", self.chunk, chunks[first : first + count])
                word = t.cast("bitcast", f"<{per} x i1>", joined, f"i{per}")
            if n > per:
                word = t.cast("zext", f"i{per}", word, wide)
            if first:
                word = t.two("or", wide, out, t.two("shl", wide, word, str(first * self.chunk)))
            out = word
        return out

    def _packed_bits(self, chunks: list[str]) -> str:
        """Turn a warp's four chunks of i1 into its word: three packs, which go by halves of 128 bits, and a permutation."""
        t = self.t
        words = [t.cast("sext", "<8 x i1>", chunk, "<8 x i32>") for chunk in chunks]
        name, type = "llvm.x86.avx2.packssdw", "<8 x i32>"
        low, high = (t.call("<16 x i16>", name, (type, a), (type, b)) for a, b in (words[:2], words[2:]))
        bytes = t.call("<32 x i8>", "llvm.x86.avx2.packsswb", ("<16 x i16>", low), ("<16 x i16>", high))
        fours = t.cast("bitcast", "<32 x i8>", bytes, type)
        ordered = t.shuffle(type, fours, (0, 4, 1, 5, 2, 6, 3, 7))
        return t.call("i32", "llvm.x86.avx2.pmovmskb", ("<32 x i8>", t.cast("bitcast", type, ordered, "<32 x i8>")))

    def _words(self, bits: str, lanes: int) -> list[str]:
        """Split a word of lanes into machine words: LLVM fails on some masks of 128 lanes in one piece."""
        if lanes <= _WORD:
            return [bits]
        t, out = self.t, list[str]()
        for first in range(0, lanes, _WORD):
            shifted = t.two("lshr", f"i{lanes}", bits, str(first)) if first else bits
            out.append(t.cast("trunc", f"i{lanes}", shifted, f"i{_WORD}"))
        return out

    def warp_words(self, bits: str) -> list[str]:
        """Split a word of lanes into an i32 per warp."""
        if self.lanes < LANES:
            return [self.t.cast("zext", self.word, bits, "i32")]
        if self.warps == 1:
            return [bits]
        t, out = self.t, list[str]()
        for warp in range(self.warps):
            shifted = t.two("lshr", self.word, bits, str(LANES * warp)) if warp else bits
            out.append(t.cast("trunc", self.word, shifted, "i32"))
        return out

    def truth(self, value: Value) -> str:
        """Return an i1 value as a word of lanes (active or not)."""
        if self.is_scalar(value):
            return self.t.pick(0, self.scalar(value), self.word, "-1", "0")
        return self.bits_of(self.vector(value))

    def active_bits(self, guard: Value | None) -> str | None:
        """Return the word of lanes that act under a guard; None means all."""
        if guard is None:
            return self.mask
        bits = self.truth(guard)
        return bits if self.mask is None else self.t.two("and", self.word, bits, self.mask)

    def active_chunks(self, guard: Value | None) -> list[str] | None:
        """Return the chunks of i1 of lanes that act under a guard; None means all."""
        if guard is None:
            return None if self.mask is None else self.lane_masks(self.mask)
        chunks = self.vector(guard)
        if self.mask is None:
            return chunks
        type = vector_type("i1", self.chunk)
        pairs = zip(chunks, self.lane_masks(self.mask), strict=True)
        return [NO_LANE if b == NO_LANE else self.t.two("and", type, a, b) for a, b in pairs]


def _not_ready(op: Op, wide: bool) -> None:
    raise AssertionError(op.name)


def phi_or_op(value: Value) -> bool:
    """Tell whether a value is computed by the kernel, not a constant."""
    return isinstance(value, (Op, Phi))

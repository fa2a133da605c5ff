"""How values of the kernel IR live in the code being emitted: scalars, lane-0 bases with known offsets, lists of chunks.

A value that all lanes share, or that differs from lane to lane by known steps, is one scalar (lane 0's); everything else is a
list of vectors of one native register each. Uses in other blocks go through variables, which LLVM turns into registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from anywarp.compiler.cfg import ControlFlow, Loop, control_flow
from anywarp.compiler.ir import Block, Const, Kernel, Op, Phi, Specialisation, Undefined, Value
from anywarp.compiler.shapes import VARYING, Analysis, Shape
from anywarp.compiler.simd.floats import Floats
from anywarp.compiler.simd.text import LLVM_TYPE, Text, constant, constant_vector, splat, vector_type
from anywarp.compiler.transfer import constants
from anywarp.ptx.isa.ops import BITS

LANES = 32
"""Lanes of a CUDA warp: what shuffles, votes and lane numbers go by, however many lanes are emitted together."""
_LAZY_SIZE = 16
_WORD = 64
ALL_LANES, NO_LANE = "splat (i1 true)", "splat (i1 false)"
"""Masks of a chunk that are known."""
LAZY = frozenset(
    ["add", "sub", "mul", "shl", "and", "or", "xor", "zext", "sext", "trunc", "to_generic", "from_generic"]
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What emission needs to know of the processor: vector bits and the extensions that it uses explicitly.

    `faults`: which accesses to global memory are recorded for a fault handler: "exact" (all), "gathers", "off".
    """

    vector_bits: int
    avx512: bool
    fp16: bool
    avx2: bool
    f16c: bool
    faults: str = "exact"
    bf16: bool = False
    vnni: bool = False

    @property
    def chunk(self) -> int:
        """Lanes per chunk: 32-bit elements in one register."""
        return self.vector_bits // 32


@dataclass(frozen=True, slots=True)
class Registers:
    """What is in registers at a point of the code."""

    scalars: dict[Value, str]
    vectors: dict[Value, list[str]]
    masks: dict[str, list[str]]
    tested: dict[Op, str]
    starts: dict[tuple[Value, str], tuple[str, str]]


class Values:
    """Access to values while emitting one function. `block` is the block whose copy is being emitted."""

    def __init__(self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation, machine: Machine) -> None:
        self.kernel = kernel
        self.analysis = analysis
        self.specialisation = specialisation
        self.machine = machine
        self.t = Text()
        self.lanes = specialisation.lanes
        self.single = self.lanes == 1  # lanes are emitted one by one
        # There is one copy of each block then, entered by the kernel's own ways: definitions dominate their uses.
        self.unparted = self.single and not any(block.terminator.name == "barrier" for block in kernel.blocks)
        self.warps = max(1, self.lanes // LANES)
        self.word = f"i{self.lanes}"  # type of a mask with a bit per lane
        self.chunk = min(machine.chunk, self.lanes)
        self.chunks = self.lanes // self.chunk
        self.floats = Floats(self.t, self.chunk, machine.avx512, machine.fp16, machine.f16c)
        self._uniform = Shape((0,) * self.lanes)
        self.flow: ControlFlow = control_flow(kernel)
        self.block: Block = kernel.blocks[0]
        self.mask: str | None = None  # word of active lanes in the copy being emitted; None: all
        self.scalars: dict[Value, str] = {}
        self.vectors: dict[Value, list[str]] = {}
        self.hoisted: dict[Value, str] = {}
        self._forgotten: list[tuple[int, Loop | None]] = []
        self.starts: dict[tuple[Value, str], tuple[str, str]] = {}  # of single lanes' accesses, as i64 and as pointer
        self.parts: dict[
            str, tuple[str, str, int]
        ] = {}  # of their addresses: start, start as pointer, constant behind it
        self.tested: dict[Op, str] = {}  # conditions whose flag is in a register
        self.flags: dict[Op, str] = {}
        self.unordered = 0  # vectors loaded since code was last kept in order
        self.computed: list[str] = []  # the f32 chunks computed last since then
        self.loaded: set[Value] = set()  # loads made together with an earlier one of this copy
        self.recorded: tuple[str, str] = ("", "")  # basic block, and what the worker's record of an access holds there
        self.conditions: set[Op] = {c for g in analysis.guarded.values() for c in g.conditions}
        self._masks: dict[str, list[str]] = {}
        self._variables: dict[tuple[Value, str], list[str]] = {}
        self.resident: set[Value] = set()  # values whose variables stay in memory, chunk after chunk
        self.framed: set[Value] = (
            set()
        )  # of those, the ones that lie in memory of the gang's own: barriers do not save them
        self.lying: dict[str, str] = {}  # first chunks of such values, and where all their chunks lie
        self.compute: Callable[[Op, bool], None] = _not_ready  # emits an operation: as lane 0's scalar, or as chunks
        self.home: dict[Value, Block] = {}
        self.crossing: set[Value] = set()
        self.used: set[Value] = set()
        self._lazy: dict[Value, int] = {}
        self._find_crossing()
        self.waiting: set[Value] = set()  # what lanes that wait for others need while those make it again
        self.in_memory = (
            False  # whether all variables stay there: as registers, all of them would be alive at every block
        )
        self.temporal_loop: dict[Value, Loop] = {}
        for value in analysis.temporal:
            loop = self._divergent_loop(value)
            if loop is not None:
                self.temporal_loop[value] = loop

    # --- what is known ----------------------------------------------------------------------------------------------

    def shape(self, value: Value) -> Shape:
        """Return the shape of a value; constants and undefined values are uniform."""
        if isinstance(value, (Const, Undefined)):
            return self._uniform
        return self.analysis.shapes.get(value, VARYING)

    def varies(self, value: Value) -> bool:
        """Tell whether a value is held as chunks."""
        return self.shape(value).varying

    def _find_crossing(self) -> None:
        for block in self.kernel.blocks:
            for value in [*block.phis, *block.ops]:
                self.home[value] = block
        self._find_lazy()
        for block in self.kernel.blocks:
            for op in block.ops:
                self._note(block, op.operands())
            self._note(block, (a for a in block.terminator.args if a is not None))
            for phi in block.phis:
                for source, value in phi.incoming.items():
                    self._note(source, (value,))

    def _note(self, block: Block, used: Iterable[Value]) -> None:
        for value in used:
            self.used.add(value)
            if self.lazy(value) and isinstance(value, Op):
                if self.home[value] is not block:
                    self._note(block, value.args)
            elif self.home.get(value, block) is not block:
                self.crossing.add(value)

    def lazy(self, value: Value) -> bool:
        """Tell whether an operation is emitted where it is used: in full only where no cheaper form of it serves.

        These are affine if nothing wraps around, which accesses test; their operands are at hand in every block.
        """
        return value in self._lazy

    def _find_lazy(self) -> None:
        """Only small expressions: each use in another block computes them again."""
        for block in self.kernel.blocks:
            for op in block.ops:
                if op in self.analysis.guarded and op.name in LAZY:
                    size = 1 + sum(self._lazy.get(a, 0) for a in op.args)
                    if size <= _LAZY_SIZE:
                        self._lazy[op] = size

    def leaves(self, value: Value) -> Iterator[Value]:
        """Yield the values from which a lazy one is computed (another value is its own leaf)."""
        if self.lazy(value) and isinstance(value, Op):
            for a in value.args:
                yield from self.leaves(a)
        else:
            yield value

    def _divergent_loop(self, value: Value) -> Loop | None:
        """Return the innermost loop around a definition that lanes may leave at different trips."""
        block = self.home.get(value)
        if block is None:
            return None
        around = self.flow.nest.around(self.flow.index[block])
        for loop in around:
            for source, _ in loop.exits:
                b = self.flow.blocks[source]
                if b in self.analysis.divergent_branches or b in self.analysis.divergent_blocks:
                    return loop
        return around[0] if around else None

    def symbols(self) -> list[Value]:
        """Return the symbols of all shapes; some are operations that stand in no block."""
        shapes = [*self.analysis.shapes.values(), *(g.shape for g in self.analysis.guarded.values())]
        return list(dict.fromkeys(symbol for shape in shapes for symbol, _ in shape.symbols))

    def left(self, value: Value, block: Block) -> bool:
        """Tell whether in `block` a value must be read as lanes had it when they left its loop."""
        loop = self.temporal_loop.get(value)
        return loop is not None and self.flow.index[block] not in loop.blocks

    # --- variables ------------------------------------------------------------------------------------------------

    def variables(self, value: Value, kind: str) -> list[str]:
        """Return the variables of a value: `main`, `copy` (as it was when lanes left the loop) or `phi` (set on edges).

        `main0` and `phi0` hold lane 0's value of a phi that is affine under conditions, beside the chunks.
        """
        key = (value, kind)
        if key not in self._variables:
            element = LLVM_TYPE[value.type]
            wide = self.wide(value, kind)
            count, type = (self.chunks, vector_type(element, self.chunk)) if wide else (1, element)
            if wide and value in self.resident:
                self._variables[key] = self.array(type, count)
            else:
                self._variables[key] = [self.t.alloca(type) for _ in range(count)]
            # Rarely needed, or too many: an address that is known elsewhere keeps them out of registers.
            if self.in_memory or (wide and self.has_first(value)):
                self.t.allocas += [f'  call void asm sideeffect "", "r"(ptr {x})' for x in self._variables[key]]
        return self._variables[key]

    def array(self, type: str, count: int) -> list[str]:
        """Reserve variables that lie side by side, and return them."""
        room = self.t.alloca(f"[{count} x {type}]", 64)
        names = [room, *("%" + self.t.fresh("a") for _ in range(1, count))]
        self.t.allocas += [f"  {name} = getelementptr {type}, ptr {room}, i64 {i}" for i, name in enumerate(names) if i]
        return names

    def keep_at(self, value: Value, places: list[str], kind: str) -> None:
        """Say which memory is a value's variables: whoever makes it writes them there."""
        self._variables[value, kind] = places

    def load_chunks(self, value: Value, kind: str) -> list[str]:
        """Read the variables of a value that is held as chunks."""
        type, places = self.type(value, True), self.variables(value, kind)
        out = [self.t.let(f"load {type}, ptr {place}") for place in places]
        if value in self.resident:
            self.lying[out[0]] = places[0]
        return out

    def forget(self, loop: Loop | None) -> None:
        """Mark a place where no variable of values made in a loop's blocks is needed any more (None: no variable at all).

        Without it what was there before would seem to be needed: masked code reads a variable to change some of its lanes, and
        may be entered behind where it is set. Every variable would be alive all the time, everywhere. A single lane has no masked
        code: what it reads it has set.
        """
        if self.single or self.in_memory:
            return
        self._forgotten.append((len(self.t.lines), loop))
        self.t.lines.append("")

    def fill_forgotten(self) -> None:
        """Write zeros to the variables at the marked places, now that all variables are known."""
        stores: dict[Loop | None, list[str]] = {}
        for (value, kind), names in self._variables.items():
            wide = self.wide(value, kind)
            if kind == "copy" or (wide and (self.has_first(value) or value in self.resident)):
                continue
            type = self.type(value, wide)
            zeros = [f"  store {type} zeroinitializer, ptr {name}" for name in names]
            for loop in (None, *self.flow.nest.around(self.flow.index[self.home[value]])):
                stores.setdefault(loop, []).extend(zeros)
        for place, loop in self._forgotten:
            self.t.lines[place] = "\n".join(stores.get(loop, ()))

    def wide(self, value: Value, kind: str) -> bool:
        """Tell whether the variables of a kind hold chunks."""
        return kind == "copy" or (self.varies(value) and not kind.endswith("0"))

    def has_first(self, value: Value) -> bool:
        """Tell whether a phi's value for lane 0 is kept beside its chunks."""
        return isinstance(value, Phi) and value in self.analysis.guarded and self.varies(value)

    def flag(self, condition: Op) -> str:
        """Return the variable that is true while no lane's operand of an extension has wrapped around."""
        if condition not in self.flags:
            self.flags[condition] = self.t.alloca("i1")
        return self.flags[condition]

    def columns(self) -> list[range]:
        """Return the lanes of each chunk."""
        return [range(first, first + self.chunk) for first in range(0, self.lanes, self.chunk)]

    def begin_copy(self, block: Block, mask: str | None) -> None:
        """Forget what was in registers: emission of a copy of `block` begins."""
        self.block, self.mask = block, mask
        self.scalars, self.vectors, self._masks, self.tested = {}, {}, {}, {}
        self.loaded, self.unordered, self.computed = set(), 0, []
        self.starts = {}

    def snapshot(self) -> Registers:
        """Return the register state, for `restore` after code that does not dominate what follows."""
        return Registers(
            dict(self.scalars), dict(self.vectors), dict(self._masks), dict(self.tested), dict(self.starts)
        )

    def restore(self, state: Registers) -> None:
        """Return to a register state."""
        self.scalars, self.vectors = dict(state.scalars), dict(state.vectors)
        self._masks, self.tested, self.starts = dict(state.masks), dict(state.tested), dict(state.starts)

    # --- reading and defining -------------------------------------------------------------------------------------

    def type(self, value: Value, wide: bool) -> str:
        """Return the LLVM type of a value as scalar or as chunk."""
        return vector_type(LLVM_TYPE[value.type], self.chunk if wide else 0)

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
        if value not in self.scalars:
            if isinstance(value, Op) and (self.lazy(value) or value not in self.home):
                self.compute(value, False)
            elif self.has_first(value):
                place = self.variables(value, "main0")[0]
                self.scalars[value] = self.t.let(f"load {self.type(value, False)}, ptr {place}")
            elif self.varies(value):
                first = self.vector(value)[0]
                self.scalars[value] = self.t.let(f"extractelement {self.type(value, True)} {first}, i32 0")
            else:
                type = self.type(value, False)
                self.scalars[value] = self.t.let(f"load {type}, ptr {self.variables(value, 'main')[0]}")
        return self.scalars[value]

    def vector(self, value: Value) -> list[str]:
        """Return a value's chunks."""
        if isinstance(value, (Const, Undefined)):
            bits = value.bits if isinstance(value, Const) else 0
            return [splat(value.type, bits, self.chunk)] * self.chunks
        if value not in self.vectors:
            if self.lazy(value) and isinstance(value, Op):
                self.compute(value, True)
            elif self.has_first(value):
                self.vectors[value] = self._guarded_chunks(value)
            elif self.left(value, self.block):
                self.vectors[value] = self.load_chunks(value, "copy")
            elif self.varies(value):
                self.vectors[value] = self.load_chunks(value, "main")
            else:
                self.vectors[value] = self.materialise(value)
        return self.vectors[value]

    def splat(self, type: str, scalar: str) -> str:
        """Spread a scalar of an LLVM type over a chunk."""
        n = self.chunk
        first = self.t.let(f"insertelement <{n} x {type}> poison, {type} {scalar}, i32 0")
        return self.t.let(f"shufflevector <{n} x {type}> {first}, <{n} x {type}> poison, <{n} x i32> zeroinitializer")

    def _guarded_chunks(self, value: Value) -> list[str]:
        """A phi that is affine under conditions: its chunks were kept only from when the conditions failed."""
        guarded = self.analysis.guarded[value]
        holds, type = self.holds(guarded.conditions), self.type(value, True)
        spread = self.t.let(f"insertelement <{self.chunk} x i1> poison, i1 {holds}, i32 0")
        mask = f"<{self.chunk} x i1>"
        spread = self.t.let(f"shufflevector {mask} {spread}, {mask} poison, <{self.chunk} x i32> zeroinitializer")
        pairs = zip(self.materialise(value, guarded.shape), self.load_chunks(value, "main"), strict=True)
        return [self.t.pick(self.chunk, spread, type, a, b) for a, b in pairs]

    def holds(self, conditions: Iterable[Op]) -> str:
        """Return (i1) whether no lane's operand of these extensions has wrapped around."""
        out = ""
        for one in conditions:
            if one not in self.tested:
                self.tested[one] = self.t.let(f"load i1, ptr {self.flag(one)}")
            out = self.t.two("and", "i1", out, self.tested[one]) if out else self.tested[one]
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
            self.vectors[value] = vector
            if value in self.crossing:
                self.assign(value, "main", vector, self.mask if value in self.waiting else None)
            return
        if scalar is None:
            assert vector is not None
            scalar = self.t.let(f"extractelement {self.type(value, True)} {vector[0]}, i32 0")
        self.scalars[value] = scalar
        if self.unparted and self.home.get(value) is self.block:
            self.hoisted[value] = scalar
        elif value in self.crossing:
            self.assign(value, "main", [scalar])

    def assign(self, value: Value, kind: str, parts: list[str], mask: str | None = None) -> None:
        """Set variables of a value; with a mask of lanes only those (for a scalar: only if there is any)."""
        variables = self.variables(value, kind)
        if self.lying.get(parts[0]) == variables[0]:
            return  # where it is already
        wide = self.wide(value, kind)
        type, t = self.type(value, wide), self.t
        for i, (variable, part) in enumerate(zip(variables, parts, strict=True)):
            if mask is not None:
                old = t.let(f"load {type}, ptr {variable}")
                n, condition = (
                    (self.chunk, self.lane_masks(mask)[i]) if wide else (0, t.two("icmp ne", self.word, mask, "0"))
                )
                part = t.pick(n, condition, type, part, old)
            t.do(f"store {type} {part}, ptr {variable}")

    # --- masks ----------------------------------------------------------------------------------------------------

    def lane_masks(self, bits: str, lanes: int = 0) -> list[str]:
        """Turn a word of lanes (of all; or of `lanes` of them) into chunks of i1."""
        if bits.removeprefix("-").isdigit():
            known = int(bits)
            return [
                constant_vector("i1", [known >> lane & 1 for lane in r])
                for r in self.columns()[: (lanes or self.lanes) // self.chunk]
            ]
        if bits not in self._masks:
            n = lanes or self.lanes
            per, out, t = min(n, _WORD), list[str](), self.t
            for word in self._words(bits, n):
                for first in range(0, per, self.chunk):
                    shifted = t.two("lshr", f"i{per}", word, str(first)) if first else word
                    narrow = t.cast("trunc", f"i{per}", shifted, f"i{self.chunk}")
                    out.append(t.cast("bitcast", f"i{self.chunk}", narrow, f"<{self.chunk} x i1>"))
            self._masks[bits] = out
        return self._masks[bits]

    def part(self, element: str, width: int, vector: str, first: int, count: int = 0) -> str:
        """Take `count` (0: a chunk) consecutive elements out of a vector of `width`."""
        n = count or self.chunk
        index = ", ".join(f"i32 {i}" for i in range(first, first + n))
        type = f"<{width} x {element}>"
        return self.t.let(f"shufflevector {type} {vector}, {type} poison, <{n} x i32> <{index}>")

    def join(self, element: str, width: int, parts: list[str]) -> str:
        """Concatenate vectors of `width` elements, a power of two of them."""
        while len(parts) > 1:
            index = ", ".join(f"i32 {i}" for i in range(2 * width))
            type = f"<{width} x {element}>"
            parts = [
                self.t.let(f"shufflevector {type} {a}, {type} {b}, <{2 * width} x i32> <{index}>")
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
            width *= 2
        return parts[0]

    def bits_of(self, chunks: list[str], lanes: int = 0) -> str:
        """Turn chunks of i1 into a word of lanes (of all; or of `lanes` of them)."""
        t, n = self.t, lanes or self.lanes
        per, wide = min(n, _WORD), f"i{n}"
        out, count = "", per // self.chunk
        for first in range(0, len(chunks), count):
            joined = self.join("i1", self.chunk, chunks[first : first + count])
            word = t.cast("bitcast", f"<{per} x i1>", joined, f"i{per}")
            if n > per:
                word = t.cast("zext", f"i{per}", word, wide)
            if first:
                word = t.two("or", wide, out, t.two("shl", wide, word, str(first * self.chunk)))
            out = word
        return out

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
        if not self.varies(value) and self.shape(value).uniform and not self.left(value, self.block):
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

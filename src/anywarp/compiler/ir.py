"""The kernel IR: one SSA control-flow graph per kernel, all device functions inlined, shared by every target.

Instruction meanings (`ptx/isa`) expand into these few operations, so analyses and targets never see PTX. Each is declared in
`operation_table`; types and semantics are those of `anywarp.ptx.isa.ops`. Operations are per lane unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from anywarp.compiler.attributes import NONE, Attributes, Special
from anywarp.compiler.operation_table import with_effect, with_memory, with_trap
from anywarp.compiler.sites import Site
from anywarp.diagnostics import Span
from anywarp.ptx.isa.ops import BITS, Type

PURE = with_effect("pure")
"""Operations without effect whose value depends on nothing but operands and launch constants.

`special` is pure except for the clocks (attr name in CLOCKS), which are kept in place.
"""

WARP = with_effect("warp")
"""Operations whose value depends on which lanes are active: not to be moved across control flow."""

EFFECTS = with_effect("ordered", "acting")
"""Operations kept in place and order."""

ACTING = with_effect("acting")
"""Of these, the ones that are kept whether or not anybody reads their result; a volatile `load`, too."""

SPECULATABLE = PURE & with_trap("never")
"""LLVM's word: operations that lanes may run for nothing, and earlier, later or once more than the program does; not clocks, see `speculatable`."""

WRITING = with_memory("readwrite")
"""Operations that no access to memory is moved across."""

CLOCKS = frozenset({"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi"})

CONVERGE = "converge"
"""The operation that waits until all lanes of a mask that have not ended are there."""

CHECK = "check"
"""The operation of checked compilations: an i1, whether the lane may go on."""


class Value:
    """Anything an operation may take as an argument."""

    __slots__ = ("type",)

    def __init__(self, type: Type) -> None:
        self.type: Type = type


class Const(Value):
    """A constant, given by its bits (floats too)."""

    __slots__ = ("bits",)

    def __init__(self, type: Type, bits: int) -> None:
        super().__init__(type)
        self.bits = bits & ((1 << BITS[type]) - 1)


class Undefined(Value):
    """Any value: a register read before it is written."""

    __slots__ = ()


class Op(Value):
    """One operation; also its result. `attrs` are of the class that `operation_table.OPERATIONS` declares for `name`."""

    __slots__ = ("name", "args", "attrs", "guard", "span")

    def __init__(
        self,
        name: str,
        type: Type,
        args: list[Value],
        attrs: Attributes = NONE,
        guard: Value | None = None,
        span: Span | None = None,
    ) -> None:
        super().__init__(type)
        self.name = name
        self.args = args
        self.attrs = attrs
        self.guard = guard
        self.span = span

    def operands(self) -> Iterator[Value]:
        """All values this operation reads, its guard last."""
        yield from self.args
        if self.guard is not None:
            yield self.guard


def is_clock(value: Op) -> bool:
    """Tell whether an operation reads a clock."""
    return isinstance(value.attrs, Special) and value.attrs.name in CLOCKS


def speculatable(value: Op) -> bool:
    """Tell whether an operation may run for lanes that do not need it, and at any place where its operands are known."""
    return value.name in SPECULATABLE and not is_clock(value)


class Phi(Value):
    """A phi; `incoming[block]` is the value on the edge from that predecessor."""

    __slots__ = ("incoming",)

    def __init__(self, type: Type) -> None:
        super().__init__(type)
        self.incoming: dict[Block, Value] = {}


class Terminator:
    """How a block ends; `targets` in order, `attrs` as `operation_table.ENDINGS` declares.

    At a barrier the lane arrives and, unless its kind is "arrive", waits; the result of one that reduces is the operation `barrier_result` at the start of the target.
    """

    __slots__ = ("name", "args", "targets", "attrs", "span")

    def __init__(
        self,
        name: str,
        args: list[Value | None] | None = None,
        targets: list[Block] | None = None,
        attrs: Attributes = NONE,
        span: Span | None = None,
    ) -> None:
        self.name = name
        self.args: list[Value | None] = args or []
        self.targets: list[Block] = targets or []
        self.attrs = attrs
        self.span = span


class Block:
    """A basic block."""

    __slots__ = ("name", "phis", "ops", "terminator")

    def __init__(self, name: str) -> None:
        self.name = name
        self.phis: list[Phi] = []
        self.ops: list[Op] = []
        self.terminator: Terminator = Terminator("exit")

    def __repr__(self) -> str:
        return f"<block {self.name}>"


@dataclass(frozen=True, slots=True)
class Param:
    """A kernel parameter: byte offset in the parameter buffer (aligned as the manual says), size and alignment in bytes."""

    name: str
    offset: int
    size: int
    align: int


@dataclass(slots=True)
class Kernel:
    """A kernel ready for analysis and emission. `blocks[0]` is the entry and has no predecessor.

    Blocks are in linear order: topological but for back edges, each loop contiguous and its header first; every cycle has one
    entry. A value that is used outside the loop that makes it passes through a phi at the loop's exit (loop-closed form).
    `verify.verify` checks all of it.

    Sizes in bytes: `shared_bytes` static shared memory (dynamic follows it, aligned to `dynamic_shared_align`),
    `local_bytes` per thread, `param_bytes` the parameter buffer. `directives` maps maxntid, reqntid ... to their arguments. `sites` are the
    places that a checked compilation watches. `flushes`: whoever emits it must have subnormal f32 operands and results taken as zeros.
    """

    name: str
    blocks: list[Block]
    params: list[Param]
    param_bytes: int = 0
    shared_bytes: int = 0
    dynamic_shared_align: int = 16
    local_bytes: int = 0
    directives: dict[str, tuple[int | str, ...]] = field(default_factory=dict[str, "tuple[int | str, ...]"])
    sites: list[Site] = field(default_factory=list["Site"])
    flushes: bool = False

    def predecessors(self) -> dict[Block, list[Block]]:
        """Map each block to its distinct predecessors, in block order."""
        out: dict[Block, list[Block]] = {b: [] for b in self.blocks}
        for block in self.blocks:
            for target in block.terminator.targets:
                if block not in out[target]:
                    out[target].append(block)
        return out


@dataclass(frozen=True, slots=True)
class Specialisation:
    """What a compilation may assume of every launch that uses it, and how it is done.

    `block` is the block shape (then a grid has at most 2**30 threads along x), or None for any shape and grid. `lanes` is the
    number of lanes emitted together (a gang: 32 is one warp), 0 leaves it to the target. `multiples` are integer parameters (offset and size in bytes, modulus) whose values are
    multiples of a modulus. `checks` names what the code checks while it runs (memory, race, init, sync). `quick` asks for code
    soon rather than for fast code. `stack` are the bytes of a thread's stack, 0 the usual ones.
    """

    block: tuple[int, int, int] | None = None
    lanes: int = 32
    multiples: tuple[tuple[int, int, int], ...] = ()
    checks: frozenset[str] = frozenset()
    quick: bool = False
    stack: int = 0

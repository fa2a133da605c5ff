"""What is known of a kernel's values before any code is emitted: how wide they are, where they are made and used, which are lazy.

Nothing here changes while code is emitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from anywarp.compiler.cfg import ControlFlow, Loop, control_flow
from anywarp.compiler.ir import Block, Const, Kernel, Op, Phi, Specialisation, Undefined, Value
from anywarp.compiler.shapes import VARYING, Analysis, Shape
from anywarp.compiler.simd.text import LLVM_TYPE, vector_type
from anywarp.compiler.simd.tuning import USUAL, Tuning

LANES = 32
"""Lanes of a CUDA warp: what shuffles, votes and lane numbers go by, however many lanes are emitted together."""
_LAZY_SIZE = 16
LAZY = frozenset(
    ["add", "sub", "mul", "shl", "and", "or", "xor", "zext", "sext", "trunc", "to_generic", "from_generic"]
)
_BOUNDING = frozenset({"min", "max"})
"""Operations that are lazy, too, where they keep an index within bounds."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What emission needs to know of the processor: vector bits and the extensions that it uses explicitly.

    `rounds`: it has instructions that round to integral values (SSE 4.1). `mxcsr`: the register by which x86 flushes subnormal numbers. `faults`: which accesses to global memory are recorded
    for a fault handler: "exact" (all), "gathers", "off". `quick_bf16`: sums of two products of bf16 take as long as one
    multiply-add of f32. `mask_registers`: masks have registers of their own (AVX-512VL), also where vectors are narrower than the processor's. `quick_masks`: stores
    of some of a vector's lanes take about as long as plain ones. `gfni`: bits are transposed by one instruction. `reads_apart`: lanes anywhere are read one by one. `asks_beside`: loops of distant
    trips ask for the next block's, too. `asks_first`: vectors under masks are asked for before they are accessed. `tiles_bf16`, `tiles_int8`: products of these types go through tiles (AMX).
    """

    vector_bits: int
    avx512: bool
    fp16: bool
    avx2: bool
    f16c: bool
    rounds: bool = True
    mxcsr: bool = False
    faults: str = "exact"
    bf16: bool = False
    vnni: bool = False
    gfni: bool = False
    quick_bf16: bool = False
    mask_registers: bool = False
    quick_masks: bool = True
    reads_apart: bool = False
    asks_beside: bool = False
    asks_first: bool = False
    tiles_bf16: bool = False
    tiles_int8: bool = False
    tuning: Tuning = USUAL

    @property
    def chunk(self) -> int:
        """Lanes per chunk: 32-bit elements in one register."""
        return self.vector_bits // 32


class Known:
    """The kernel with what analyses found, the gang that is emitted, and what follows for each value."""

    def __init__(self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation, machine: Machine) -> None:
        self.kernel: Final = kernel
        self.analysis: Final = analysis
        self.specialisation: Final = specialisation
        self.machine: Final = machine
        self.lanes: Final = specialisation.lanes
        self.single: Final = self.lanes == 1  # lanes are emitted one by one
        # There is one copy of each block then, entered by the kernel's own ways: definitions dominate their uses.
        self.unparted: Final = self.single and not any(block.terminator.name == "barrier" for block in kernel.blocks)
        self.warps: Final = max(1, self.lanes // LANES)
        self.word: Final = f"i{self.lanes}"  # type of a mask with a bit per lane
        self.chunk: Final = min(machine.chunk, self.lanes)
        self.chunks: Final = self.lanes // self.chunk
        self._uniform: Final = Shape((0,) * self.lanes)
        self.flow: Final[ControlFlow] = control_flow(kernel)
        self.conditions: Final[set[Op]] = {c for g in analysis.guarded.values() for c in g.conditions}
        self.home: Final[dict[Value, Block]] = {}
        self.crossing: Final[set[Value]] = set()
        self.used: Final[set[Value]] = set()
        self._lazy: Final[dict[Value, int]] = {}
        self._find_crossing()
        self.tested: Final[list[Op]] = [op for op in self.home if isinstance(op, Op) and op in self.conditions]
        self.temporal_loop: Final[dict[Value, Loop]] = {}
        for value in analysis.temporal:
            loop = self._divergent_loop(value)
            if loop is not None:
                self.temporal_loop[value] = loop

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
                if op in self.analysis.guarded and (op.name in LAZY or op.name in _BOUNDING):
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

    def has_first(self, value: Value) -> bool:
        """Tell whether a phi's value for lane 0 is kept beside its chunks."""
        return isinstance(value, Phi) and value in self.analysis.guarded and self.varies(value)

    def wide(self, value: Value, kind: str) -> bool:
        """Tell whether the variables of a kind hold chunks."""
        return kind == "copy" or (self.varies(value) and not kind.endswith("0"))

    def columns(self) -> list[range]:
        """Return the lanes of each chunk."""
        return [range(first, first + self.chunk) for first in range(0, self.lanes, self.chunk)]

    def type(self, value: Value, wide: bool) -> str:
        """Return the LLVM type of a value as scalar or as chunk."""
        return vector_type(LLVM_TYPE[value.type], self.chunk if wide else 0)

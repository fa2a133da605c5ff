"""A kernel before SSA: blocks of PTX instructions whose names are resolved, with every device function expanded.

Control flow is known from the text alone, so the graph is built (and made reducible) first; SSA construction then knows its
dominators and loops from the start.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from anywarp.compiler.layout import Global, align_up
from anywarp.compiler.variables import Place, Register
from anywarp.diagnostics import Source, Span
from anywarp.ptx.isa.barriers import BarrierForm
from anywarp.ptx.isa.ops import Type
from anywarp.ptx.tree import WIDTHS, CallPrototype, Function, Instruction, Operand, Targets, Variable

REGISTER_TYPES: dict[str, Type] = {"pred": "i1", "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64"}
"""IR types of registers by declared type; every other type is its bits (an integer of its width)."""

_BITS_TYPES: dict[int, Type] = {8: "i8", 16: "i16", 32: "i32", 64: "i64", 128: "i128"}

# --- what a name can mean ---------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class VectorRegister:
    """A register declared with `.v2` or `.v4`."""

    name: str
    elements: tuple[Register, ...]


FRAME_ALIGN = 16
"""Alignment of stack frames, and so the most that a variable of a function with a frame gets."""


@dataclass(eq=False, slots=True)
class Activation:
    """What one call of a shared function has on the stack: its local variables, one behind the other.

    `base` holds the frame's address while the function runs; `top`, once anything is allocated there, the end of the stack.
    The kernel's own variables are elsewhere: its frame is empty and begins where the stack does (`stack`).
    """

    name: str
    base: Register
    size: int = 0
    top: Register | None = None
    stack: Place | None = None

    def reserve(self, size: int, align: int) -> int:
        """Return the offset of new bytes; alignments over that of frames are not kept."""
        offset = align_up(self.size, min(align, FRAME_ALIGN))
        self.size = offset + size
        return offset


@dataclass(frozen=True, slots=True)
class ParamPlace:
    """A kernel parameter by its offset."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function, named; `address` is the number that stands for it."""

    name: str
    address: int


@dataclass(frozen=True, slots=True)
class Missing:
    """A variable declared extern and defined nowhere."""

    name: str


@dataclass(eq=False, slots=True)
class Node:
    """A block of the skeleton. Terminators are those of the kernel IR, their operands still PTX."""

    steps: list[Step] = field(default_factory=list["Step"])
    kind: Literal["open", "jump", "branch", "switch", "exit", "trap", "barrier"] = "open"
    targets: list[int] = field(default_factory=list[int])
    step: Step | None = None
    barrier: BarrierForm | None = None
    arrival: BarrierForm | None = None
    span: Span | None = None
    reason: int = 0


@dataclass(frozen=True, slots=True)
class LabelName:
    """A label by its node."""

    node: int


Entity: TypeAlias = "Register | VectorRegister | Place | ParamPlace | Global | FunctionName | Missing | LabelName | Targets | CallPrototype"


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = source`: an argument or result of a call, or the state of a dispatcher (source an index)."""

    target: Register | Place
    source: Operand | Register | Place | int
    type: Type


@dataclass(frozen=True, slots=True)
class CopyPlace:
    """Copy `size` bytes from one variable's start to another's, `chunk` bytes at a time."""

    target: Place
    source: Place
    size: int
    chunk: int


@dataclass(frozen=True, slots=True)
class FrameEnd:
    """`target = ` the address behind a frame: of its variables only (`fixed`), or of what was allocated there, too."""

    target: Register
    owner: Activation
    fixed: bool


@dataclass(frozen=True, slots=True)
class Allocate:
    """`alloca`: raise `top` by a size and give its old value, aligned."""

    result: Operand
    size: Operand
    align: int
    top: Register


@dataclass(frozen=True, slots=True)
class StackCheck:
    """A branch's condition: whether `at` lies less than `room` bytes before the end of the stack."""

    at: Register
    stack: Place
    room: StackRoom


@dataclass(slots=True)
class StackRoom:
    """Bytes that a frame may need; known when all functions have been expanded."""

    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A switch's index: the position of a function's address in `addresses`, their number for any other."""

    pointer: Operand
    addresses: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HostCall:
    """A call of a runtime service: arguments as operands or places with their types."""

    name: str
    arguments: tuple[tuple[Operand | Place, Type], ...]
    result: Register | Place | None
    type: Type | None


@dataclass(frozen=True, slots=True)
class Joined:
    """An instruction that stands for several; `site` says for which of them, whose places are `spans`."""

    instruction: Instruction
    site: Register
    spans: list[Span]


@dataclass(eq=False, slots=True)
class Step:
    """One thing to lower, with what its names mean and the registers it touches.

    A register or place alone is a switch's index.
    """

    what: StepKind
    names: dict[str, Entity]
    reads: list[Register]
    writes: list[Register]
    span: Span


StepKind: TypeAlias = "Instruction | Joined | Assign | CopyPlace | FrameEnd | Allocate | StackCheck | Dispatch | HostCall | Register | Place"


class ModuleView(Protocol):
    """What lowering asks of a module."""

    @property
    def source(self) -> Source | None:
        """The text, for carets."""
        ...

    def function(self, name: str) -> Function | None:
        """A function with its body, or its declaration, or None; aliases are followed."""
        ...

    def variable(self, name: str) -> Variable | None:
        """A variable of module level, its definition if there is one."""
        ...

    def placed(self, name: str) -> Global | None:
        """Where a `.global` or `.const` variable lies in the module's data."""
        ...

    def address_of_function(self, name: str) -> int:
        """The number that stands for a function's address, the same in the whole module; aliases are followed."""
        ...

    def address_taken(self) -> tuple[str, ...]:
        """The functions whose addresses are used anywhere in the module other than to call them."""
        ...


@dataclass(slots=True)
class Skeleton:
    """The graph (node 0 the entry), and the variables in shared and local memory in order of first use."""

    nodes: list[Node]
    places: list[Place]

    def graph(self) -> list[list[int]]:
        """Return the successors of each node."""
        return [list(dict.fromkeys(node.targets)) for node in self.nodes]


def register_type(declared: str) -> Type:
    """Return the IR type of a register declared with a PTX type."""
    known = REGISTER_TYPES.get(declared)
    return known if known is not None else _BITS_TYPES[max(8, WIDTHS[declared])]

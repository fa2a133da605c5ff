"""A kernel before SSA: blocks of PTX instructions whose names are resolved, with every device function expanded in place.

Control flow is known from the text alone, so the graph is built (and made reducible) first; SSA construction then knows its
dominators and loops from the start.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from anywarp.compiler.layout import Global
from anywarp.diagnostics import Source, Span
from anywarp.ptx.isa.barriers import BarrierForm
from anywarp.ptx.isa.ops import Type
from anywarp.ptx.tree import WIDTHS, Function, Instruction, Operand, Targets, Variable

REGISTER_TYPES: dict[str, Type] = {"pred": "i1", "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64"}
"""IR types of registers by declared type; every other type is its bits (an integer of its width)."""

_BITS_TYPES: dict[int, Type] = {8: "i8", 16: "i16", 32: "i32", 64: "i64", 128: "i128"}

# --- what a name can mean ---------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Register:
    """One scalar register of one expansion of a function: an SSA variable."""

    name: str
    type: Type


@dataclass(eq=False, slots=True)
class VectorRegister:
    """A register declared with `.v2` or `.v4`."""

    name: str
    elements: tuple[Register, ...]


@dataclass(eq=False, slots=True)
class Place:
    """A variable in shared or local memory; its offset is given when everything has been expanded.

    Parameters of device functions live in local memory until they are promoted to SSA values.
    """

    name: str
    space: Literal["shared", "local"]
    size: int
    align: int
    dynamic: bool = False
    parameter: bool = False


@dataclass(frozen=True, slots=True)
class ParamPlace:
    """A kernel parameter by its offset."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function, named."""

    name: str


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


@dataclass(frozen=True, slots=True)
class LabelName:
    """A label by its node."""

    node: int


Entity: TypeAlias = (
    "Register | VectorRegister | Place | ParamPlace | Global | FunctionName | Missing | LabelName | Targets"
)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = source`: an argument or result of a call, or the state of a dispatcher (source an index)."""

    target: Register | Place
    source: Operand | Register | Place | int
    type: Type


@dataclass(frozen=True, slots=True)
class HostCall:
    """A call of a runtime service: arguments as operands or places with their types."""

    name: str
    arguments: tuple[tuple[Operand | Place, Type], ...]
    result: Register | Place | None
    type: Type | None


@dataclass(eq=False, slots=True)
class Step:
    """One thing to lower, with what its names mean and the registers it touches; a register alone is a switch's index."""

    what: Instruction | Assign | HostCall | Register
    names: dict[str, Entity]
    reads: list[Register]
    writes: list[Register]
    span: Span


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

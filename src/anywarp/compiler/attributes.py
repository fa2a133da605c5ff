"""What an operation or terminator has beside its operands: one frozen class for each family, the same for all that read it.

A field's type is the rule for its values, which the verifier checks; a field with its default is not printed. `Compare.of(op)` reads the
attributes of an operation whose family is known; `isinstance(op.attrs, Access)` asks for the family.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, TypeVar

from anywarp.compiler.variables import Place
from anywarp.ptx.isa.matrix_forms import Product
from anywarp.ptx.isa.ops import AddressSpace, Approximation, AtomicOp, Order, Rounding, Scope, Type

IntegerPredicate: TypeAlias = Literal["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"]
FloatPredicate: TypeAlias = Literal[
    "oeq", "one", "olt", "ole", "ogt", "oge", "ueq", "une", "ult", "ule", "ugt", "uge", "ord", "uno"
]
Reducing: TypeAlias = Literal["add", "and", "or", "xor", "min", "max", "umin", "umax"]
BarrierKind: TypeAlias = Literal["sync", "arrive", "red_popc", "red_and", "red_or", "yield", "meet"]

A = TypeVar("A", bound="Attributes")


class Attributed(Protocol):
    """An operation or terminator."""

    @property
    def attrs(self) -> Attributes: ...


@dataclass(frozen=True, slots=True)
class Attributes:
    """None at all, and the base of all others."""

    @classmethod
    def of(cls: type[A], one: Attributed) -> A:
        """Return the attributes of `one`, which are of this family. Raises AssertionError where they are not."""
        attrs = one.attrs
        if not isinstance(attrs, cls):
            raise AssertionError(f"{cls.__name__} is asked of what has {attrs}")
        return attrs


NONE = Attributes()


# --- values -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compare(Attributes):
    """A comparison of integers."""

    predicate: IntegerPredicate


@dataclass(frozen=True, slots=True)
class FloatCompare(Attributes):
    """A comparison of floats: `o` is false, `u` true where one is a NaN."""

    predicate: FloatPredicate


@dataclass(frozen=True, slots=True)
class Signed(Attributes):
    """Whether operands are read as two's complement."""

    signed: bool


@dataclass(frozen=True, slots=True)
class Factors(Attributes):
    """Whether the first and the second of two factors are read as two's complement."""

    signed: tuple[bool, bool]


@dataclass(frozen=True, slots=True)
class Rounded(Attributes):
    """How a result is rounded."""

    rounding: Rounding = "rn"


@dataclass(frozen=True, slots=True)
class Converted(Attributes):
    """Between an integer, signed or not, and a float."""

    signed: bool
    rounding: Rounding = "rn"


@dataclass(frozen=True, slots=True)
class Approximated(Attributes):
    """The function that is approximated."""

    function: Approximation


@dataclass(frozen=True, slots=True)
class Reduction(Attributes):
    """What combines the lanes' values."""

    op: Reducing


@dataclass(frozen=True, slots=True)
class Special(Attributes):
    """A special register by its name without `%`."""

    name: str


@dataclass(frozen=True, slots=True)
class Parameter(Attributes):
    """Where in the parameter buffer a value lies, in bytes."""

    offset: int


@dataclass(frozen=True, slots=True)
class Element(Attributes):
    """Which of several results is taken; 0 is the operation itself."""

    index: int


@dataclass(frozen=True, slots=True)
class MatrixProduct(Attributes):
    """The shape and element types of a product."""

    product: Product


@dataclass(frozen=True, slots=True)
class MatrixLayout(Attributes):
    """How many registers go into the places of a matrix instruction, or out of them."""

    into: bool
    count: int = 1


# --- memory -------------------------------------------------------------------------------------------------------------


class InSpace(Attributes):
    """What has to do with one state space."""

    __slots__ = ()
    space: AddressSpace


class Access(InSpace):
    """What reads or writes memory lane by lane."""

    __slots__ = ()
    order: Order
    scope: Scope

    @property
    def strong(self) -> bool:
        """Whether the access takes part in synchronisation (PTX manual, Memory Consistency Model)."""
        return self.order != "weak"


@dataclass(frozen=True, slots=True)
class Space(InSpace):
    """A state space."""

    space: AddressSpace


@dataclass(frozen=True, slots=True)
class Symbol(InSpace):
    """A variable's address within its space: `offset` counts from the start of `variable` until variables are laid out.

    `extent` is where the variable begins and how many bytes it has (-1: dynamic shared memory).
    """

    space: AddressSpace
    offset: int
    extent: tuple[int, int] | None = None
    variable: Place | None = None


@dataclass(frozen=True, slots=True)
class MemoryAccess(Access):
    """A load or store of `count` adjacent elements."""

    space: AddressSpace
    count: int = 1
    volatile: bool = False
    order: Order = "weak"
    scope: Scope = "sys"

    @property
    def strong(self) -> bool:
        """Whether the access takes part in synchronisation; a volatile one is relaxed."""
        return self.volatile or self.order != "weak"


@dataclass(frozen=True, slots=True)
class AtomicAccess(Access):
    """A read-modify-write; `returns`: whether the old value is asked for."""

    op: AtomicOp
    space: AddressSpace
    order: Order
    scope: Scope = "sys"
    returns: bool = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class MatrixLoad(InSpace):
    """`count` matrices of 8 x 8 elements of 16 bits."""

    space: AddressSpace
    count: int = 1
    transposed: bool = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Fence(Attributes):
    """What a fence orders, and for whom."""

    order: Order
    scope: Scope = "sys"


# --- calls and waiting --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Service(Attributes):
    """A service of the runtime, and the type of its answer."""

    name: str
    returns: Type | None


@dataclass(frozen=True, slots=True)
class TextureAccess(Attributes):
    """A form (`TextureForm.code`), how many of the operands are objects, how many words are the answer."""

    form: int
    objects: int
    results: int


@dataclass(frozen=True, slots=True)
class Checked(Attributes):
    """A place that a checked compilation watches (None until it is numbered); `numbers`: the second operand is no value stored."""

    site: int | None = None
    numbers: bool = False


@dataclass(frozen=True, slots=True)
class Watched:
    """Lanes may wait here for others that are elsewhere (`amdgpu.crossings`).

    `apart`: only a part of the warp's lanes may come; `again`: the others are at the same instruction, at another trip of a loop.
    """

    apart: bool
    again: bool


class Waiting(Attributes):
    """What waits for the lanes of a mask; `line` of the PTX."""

    __slots__ = ()
    line: int | None
    watched: Watched | None


@dataclass(frozen=True, slots=True)
class Converge(Waiting):
    """Waiting before an instruction that names lanes; `barrier`: for a barrier of the warp; `form`: that instruction's.

    `lines` are those of the instructions that it is for, where it is for several.
    """

    line: int | None
    barrier: bool = False
    watched: Watched | None = None
    form: str = field(default="", repr=False)
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Barrier(Waiting):
    """A barrier of the block, or of the warp's lanes in a mask (`warp`).

    `yield`: others may run first; `meet`, which only `amdgpu.turns` makes: lanes of the mask wait, as `converge` does. `aligned`: all lanes of the warp run
    it together.
    """

    kind: BarrierKind
    warp: bool
    line: int | None = None
    aligned: bool = True
    watched: Watched | None = None


@dataclass(frozen=True, slots=True)
class Trapped(Attributes):
    """Why the grid is aborted (`AwReason` of the kernel ABI), and the line of the PTX, 0 where none is known."""

    reason: int
    line: int

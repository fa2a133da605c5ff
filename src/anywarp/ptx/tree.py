"""The typed tree of a PTX module, as frozen dataclasses without behaviour beyond small look-ups.

Everything that reads PTX (index, printer, instruction meanings, compiler) meets here, so the tree keeps exactly what the text
says: modifiers in their order, operands as written, nothing resolved. Sections named below are those of the PTX ISA manual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from anywarp.diagnostics import Span

NO_SPAN = Span(0, 0)

# --- operands (section 6) ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """A register, variable, label, function or special register; `%tid.x` is Name("%tid", "x")."""

    name: str
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer constant as a mathematical value; `unsigned` when written with the suffix U."""

    value: int
    unsigned: bool = False


@dataclass(frozen=True, slots=True)
class Float:
    """A floating-point constant as IEEE bits of `width` 32 (0f...) or 64 (0d... and decimal)."""

    bits: int
    width: Literal[32, 64]


@dataclass(frozen=True, slots=True)
class Offset:
    """A variable's address plus a constant: `var+8`; `var[8]` is `indexed`, the address of an element (section 6.4.3)."""

    base: Name
    value: int
    indexed: bool = False


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`; for texture and tensor operands `[base, {x, y}]` the rest is in `extra`; `[a].unified` says so."""

    base: Operand
    offset: int = 0
    extra: tuple[Operand, ...] = ()
    unified: bool = False


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, c, d}`."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """`!p` as a source operand, or `-r` (which only `vmad` has)."""

    operand: Operand
    sign: Literal["!", "-"] = "!"


@dataclass(frozen=True, slots=True)
class Pair:
    """`d|p`: two destinations."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`: a destination whose value is not wanted."""


@dataclass(frozen=True, slots=True)
class Group:
    """`(a, b)`: the result or argument list of a call."""

    elements: tuple[Operand, ...]


Operand: TypeAlias = "Name | Integer | Float | Offset | Address | Vector | Negated | Pair | Sink | Group"

# --- statements (section 4.1, 9) --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Guard:
    """`@p` or `@!p`."""

    register: Name
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: `ld.global.v2.f32` is opcode "ld", modifiers ("global", "v2", "f32").

    Modifiers keep `::` and a `:n` tail as written ("shared::cta", "L2::128B", "x4").
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Guard | None = None
    span: Span = field(default=NO_SPAN, compare=False)

    @property
    def form(self) -> str:
        """The opcode with all modifiers, as written."""
        return ".".join((self.opcode, *self.modifiers))

    @property
    def types(self) -> tuple[str, ...]:
        """The type modifiers in order: `cvt.rn.f16.f32` gives ("f16", "f32")."""
        return tuple(m for m in self.modifiers if m in TYPES)

    def has(self, *modifiers: str) -> bool:
        """Tell whether any of `modifiers` is present."""
        return any(m in self.modifiers for m in modifiers)


@dataclass(frozen=True, slots=True)
class Label:
    """`name:`."""

    name: str
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Registers:
    """`.reg .v2 .b32 %r<100>, %x;`; each name with its count (None for a plain name)."""

    type: str
    names: tuple[tuple[str, int | None], ...]
    vector: int = 1
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """`{ ... }`: a nested scope of declarations."""

    statements: tuple[Statement, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Pragma:
    """`.pragma "text", ...;`."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Location:
    """`.loc file line column` with what follows on it (function_name, inlined_at) kept as raw text."""

    file: int
    line: int
    column: int
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Targets:
    """`label: .branchtargets a, b;` or `.calltargets f, g;`."""

    kind: Literal["branchtargets", "calltargets"]
    label: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallPrototype:
    """`label: .callprototype (ret) _ (params);`."""

    label: str
    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]
    directives: tuple[Directive, ...] = ()


# --- declarations (section 5, 11) -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GenericAddress:
    """`generic(var)+n` in an initialiser."""

    name: str
    value: int = 0


@dataclass(frozen=True, slots=True)
class Masked:
    """`0xFF(var)` or `0xFF00(generic(var))` in an initialiser: a byte mask of an address."""

    mask: int
    operand: Initial


@dataclass(frozen=True, slots=True)
class InitialList:
    """`{ a, b, {c, d} }` in an initialiser."""

    elements: tuple[Initial, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """`filter_mode = nearest` in the initialiser of an opaque variable (section 5.3)."""

    name: str
    value: str | int


Initial: TypeAlias = "Integer | Float | Name | Offset | GenericAddress | Masked | Member | InitialList"

Space: TypeAlias = Literal["reg", "sreg", "const", "global", "local", "param", "shared", "tex"]
Linkage: TypeAlias = Literal["", "extern", "visible", "weak", "common"]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or parameter. `dims` holds array bounds (None for `[]`); `vector` is 1, 2, 4 or 8.

    `space` is "reg" for register parameters. `pointer` is the parameter attribute `.ptr .space .align n` as
    (space or "", alignment or 0), or None.
    """

    space: Space
    type: str
    name: str
    dims: tuple[int | None, ...] = ()
    vector: int = 1
    align: int | None = None
    initial: Initial | None = None
    linkage: Linkage = ""
    attributes: tuple[str, ...] = ()
    pointer: tuple[str, int] | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Directive:
    """A performance or other directive with integer or text arguments: `.maxntid 256, 1, 1` is ("maxntid", (256, 1, 1))."""

    name: str
    arguments: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """`.entry` or `.func`; `body` is None for a declaration."""

    kind: Literal["entry", "func"]
    name: str
    params: tuple[Variable, ...]
    returns: tuple[Variable, ...] = ()
    directives: tuple[Directive, ...] = ()
    linkage: Linkage = ""
    attributes: tuple[str, ...] = ()
    body: Scope | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Alias:
    """`.alias name, target;`."""

    name: str
    target: str


@dataclass(frozen=True, slots=True)
class File:
    """`.file n "path"` with optional timestamp and size kept as written."""

    index: int
    path: str
    rest: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A debug section (`.section .debug_info { ... }`), its content as raw text."""

    name: str
    text: str


Statement: TypeAlias = (
    "Instruction | Label | Registers | Variable | Scope | Pragma | Location | Targets | CallPrototype | Directive"
)
Item: TypeAlias = "Function | Variable | Alias | File | Section | Pragma | Location | Directive"


@dataclass(frozen=True, slots=True)
class Module:
    """A whole PTX module: `.version`, `.target`, `.address_size` and its items in order."""

    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int
    items: tuple[Item, ...]

    def function(self, name: str) -> Function | None:
        """Return the definition (or else the declaration) of `name`."""
        found = [i for i in self.items if isinstance(i, Function) and i.name == name]
        return next((f for f in found if f.body is not None), found[0] if found else None)


# --- types (section 5.2) ----------------------------------------------------------------------------------------------

WIDTHS: dict[str, int] = {
    "pred": 1,
    **{f"{k}{w}": w for k in "bus" for w in (8, 16, 32, 64)},
    "b128": 128,
    "f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64,
    "f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "f32x2": 64,
    "u8x4": 32, "s8x4": 32, "b8x4": 32, "e2m1x4": 16, "e2m3x4": 32, "e3m2x4": 32, "s2f6x2": 16,
    "e4m3": 8, "e5m2": 8, "e4m3x2": 16, "e5m2x2": 16, "e4m3x4": 32, "e5m2x4": 32,
    "e2m3": 8, "e3m2": 8, "e2m1": 4, "ue8m0": 8, "e2m3x2": 16, "e3m2x2": 16, "e2m1x2": 8, "ue8m0x2": 16,
    "texref": 64, "samplerref": 64, "surfref": 64,
}  # fmt: skip
"""Width in bits of every type name."""

OPAQUE = frozenset({"texref", "samplerref", "surfref"})
"""Types of variables that stand for textures, samplers and surfaces."""

TYPES = frozenset(WIDTHS)

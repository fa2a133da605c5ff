"""Where everything lies: module data, kernel parameters, and the sizes and alignments they follow from.

The compiler, the loader and the driver's `cuModuleGetGlobal` must agree on every offset, so they are decided here once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from anywarp.compiler import codes
from anywarp.compiler.ir import Param
from anywarp.diagnostics import Source
from anywarp.ptx.tree import (
    OPAQUE,
    WIDTHS,
    Alias,
    Float,
    Function,
    GenericAddress,
    Initial,
    InitialList,
    Integer,
    Item,
    Masked,
    Member,
    Name,
    Offset,
    Variable,
)

DATA_LIMIT = 1 << 30
"""Bytes of module data or of one variable beyond which we refuse (the compile service's payload limit)."""

PARAM_LIMIT = 1 << 16
SHARED_LIMIT = 1 << 28
LOCAL_LIMIT = 1 << 24
"""Bytes of parameters, shared memory, and local memory per thread beyond which we refuse; CUDA's own limits are below."""


FUNCTION_ADDRESSES = 0xF1C7 << 48
"""Where the addresses of functions begin: numbers to compare, not places in memory, which nothing can be loaded from."""


def function_addresses(items: Iterable[Item]) -> dict[str, int]:
    """Return the number that stands for each function's address, in order of declaration; an alias has its function's."""
    out: dict[str, int] = {}
    for item in items:
        if isinstance(item, Function) and item.name not in out:
            out[item.name] = FUNCTION_ADDRESSES + 16 * (len(out) + 1)
    for item in items:
        if isinstance(item, Alias) and item.target in out:
            out.setdefault(item.name, out[item.target])
    return out


def align_up(offset: int, align: int) -> int:
    """Round `offset` up to a multiple of `align`."""
    return (offset + align - 1) // align * align


def element_size(variable: Variable) -> int:
    """Return the bytes of one element of a variable, which is a vector where it is declared so."""
    return max(1, WIDTHS[variable.type] // 8) * variable.vector


def size_and_alignment(variable: Variable, source: Source | None = None) -> tuple[int, int]:
    """Return a variable's size and alignment in bytes (section 5.4: natural alignment of the element unless `.align`).

    An unsized array has the size of its initialiser, or 0.
    """
    element = element_size(variable)
    count = 1
    for position, bound in enumerate(variable.dims):
        count *= _unsized(variable) if bound is None and position == 0 else (bound or 0)
        if count * element > DATA_LIMIT:
            raise codes.problem(
                codes.TOO_MUCH_DATA,
                f"the variable `{variable.name[:200]}` needs more than {DATA_LIMIT} bytes",
                source,
                variable.span,
            )
    align = variable.align or element
    if align & (align - 1) or align > 4096:
        raise codes.problem(
            codes.BAD_VARIABLE,
            f"the alignment {align} of `{variable.name[:200]}` is not a power of two up to 4096",
            source,
            variable.span,
        )
    return element * count, align


def _unsized(variable: Variable) -> int:
    if isinstance(variable.initial, InitialList):
        return len(variable.initial.elements)
    return 0


def parameters(variables: Iterable[Variable], source: Source | None = None) -> tuple[list[Param], int]:
    """Lay out kernel parameters in order, each at its alignment (section 5.1.6); return them and the buffer's size."""
    out: list[Param] = []
    offset = 0
    for variable in variables:
        size, align = size_and_alignment(variable, source)
        offset = align_up(offset, align)
        out.append(Param(variable.name, offset, size, align))
        offset += size
        if offset > PARAM_LIMIT:
            raise codes.problem(
                codes.TOO_MUCH_DATA, f"kernel parameters over {PARAM_LIMIT} bytes", source, variable.span
            )
    return out, offset


# --- module data ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Global:
    """A `.global` or `.const` variable: bytes `[offset, offset + size)` of the module's data."""

    name: str
    space: str
    offset: int
    size: int
    align: int
    managed: bool = False
    """Whether the host reads and writes it too (`.attribute(.managed)`, section 5.1.4)."""
    element: int = 0
    """The bytes of one element."""


@dataclass(frozen=True, slots=True)
class AddressOf:
    """An initialiser that names a variable: at `offset`, store `width` bytes of the address of data + `target`.

    Only the bits of `mask` count, moved down to bit 0 (section 5.4.2, `0xFF00(var)`).
    """

    offset: int
    target: int
    width: int
    mask: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel as the driver must know it: its parameters, the block shapes that it states, and how much PTX it is."""

    name: str
    params: tuple[Param, ...]
    param_bytes: int
    maxntid: tuple[int, int, int] = (0, 0, 0)
    reqntid: bool = False
    needs: tuple[str, ...] = ()
    text_bytes: int = 0
    tiles: bool = False
    pointer: int = 0
    """The number that stands for its address, where kernels of the module may launch others; else 0."""


@dataclass(frozen=True, slots=True)
class ModuleLayout:
    """A module's data image, its relocations and its kernels: what a loaded module is, beside code.

    `missing` maps variables declared `.extern` and defined nowhere to their state spaces; `dynamic_shared` those that name the
    dynamic shared memory.
    """

    ptx: tuple[int, int]
    target: tuple[str, ...]
    image: bytes
    align: int
    globals: Mapping[str, Global]
    addresses: tuple[AddressOf, ...] = ()
    entries: tuple[Entry, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict[str, str])
    diagnostics: tuple[str, ...] = ()
    references: Mapping[str, tuple[str, int]] = field(default_factory=dict[str, "tuple[str, int]"])
    """Variables that stand for textures, samplers and surfaces: type and offset of their 8 bytes."""


@dataclass(frozen=True, slots=True)
class Data:
    """The data of a module: initial bytes, alignment, variables, relocations, unresolved externs by space, and remarks."""

    image: bytes
    align: int
    globals: dict[str, Global]
    addresses: list[AddressOf]
    missing: dict[str, str]
    remarks: list[str]
    references: dict[str, tuple[str, int]]


def lay_out_data(items: Iterable[Item], source: Source | None = None) -> Data:
    """Place the `.global` and `.const` variables and compute their initial bytes. Raises AnywarpError."""
    items = tuple(items)
    variables, missing = _definitions(items)
    placed, end, widest = _place(variables, source)
    image = bytearray(end)
    functions = function_addresses(items)
    writer = _Writer(image, placed, functions, source)
    references = {v.name: (v.type, placed[v.name].offset) for v in variables if v.type in OPAQUE}
    for variable in variables:
        if variable.type in OPAQUE:
            writer.opaque(variable, placed[variable.name])
        elif variable.initial is not None:
            writer.variable(variable, placed[variable.name])
    return Data(bytes(image), widest, placed, writer.addresses, missing, writer.remarks, references)


def place_data(items: Iterable[Item], source: Source | None = None) -> dict[str, Global]:
    """Return where each `.global` and `.const` variable lies, as `lay_out_data` has it, without reading initial values."""
    return _place(_definitions(items)[0], source)[0]


def _place(variables: Iterable[Variable], source: Source | None) -> tuple[dict[str, Global], int, int]:
    """Place variables one behind the other; returns them, their end and the greatest alignment (at least 64)."""
    placed: dict[str, Global] = {}
    end, widest = 0, 64
    for variable in variables:
        size, align = size_and_alignment(variable, source)
        offset = align_up(end, align)
        managed = any("managed" in attribute for attribute in variable.attributes)
        placed[variable.name] = Global(
            variable.name, variable.space, offset, size, align, managed, element_size(variable)
        )
        end, widest = offset + size, max(widest, align)
        if end > DATA_LIMIT:
            raise codes.problem(codes.TOO_MUCH_DATA, f"module data over {DATA_LIMIT} bytes", source, variable.span)
    return placed, end, widest


def _definitions(items: Iterable[Item]) -> tuple[list[Variable], dict[str, str]]:
    """Return the data variables that are defined, and the externs that are not."""
    defined: dict[str, Variable] = {}
    extern: dict[str, str] = {}
    for item in items:
        if not isinstance(item, Variable) or item.space not in ("global", "const"):
            continue
        if item.linkage == "extern":
            extern[item.name] = item.space
        else:
            defined.setdefault(item.name, item)
    return list(defined.values()), {name: space for name, space in extern.items() if name not in defined}


_ADDRESS_MODES = ("wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border")
SAMPLER_MEMBERS: dict[str, tuple[int, tuple[str, ...]]] = {
    "filter_mode": (0, ("nearest", "linear")),
    "force_unnormalized_coords": (1, ("False", "True")),
    **{f"addr_mode_{n}": (4 + 4 * n, _ADDRESS_MODES) for n in range(3)},
}
"""Members of a sampler (section 5.3, 9.7.10): lowest bit in its 8 bytes, values by number."""
SAMPLER = 1 << 63
"""What marks the 8 bytes as a sampler's."""


class _Writer:
    """Writes initialisers into the image."""

    def __init__(
        self, image: bytearray, placed: Mapping[str, Global], functions: Mapping[str, int], source: Source | None
    ) -> None:
        self.image = image
        self.placed = placed
        self.functions = functions
        self.source = source
        self.addresses: list[AddressOf] = []
        self.remarks: list[str] = []

    def variable(self, variable: Variable, where: Global) -> None:
        """Write one variable's initialiser; elements that it leaves out stay zero."""
        width = max(1, WIDTHS[variable.type] // 8)
        dims = [d or 0 for d in variable.dims]
        if variable.dims and variable.dims[0] is None:
            dims[0] = where.size // max(1, width * variable.vector * _product(dims[1:]))
        if variable.vector > 1:
            dims.append(variable.vector)
        # An explicit stack of (initialiser, offset, dimensions below): nesting is the text's, not ours.
        assert variable.initial is not None
        work: list[tuple[Initial, int, list[int]]] = [(variable.initial, where.offset, dims)]
        while work:
            initial, offset, below = work.pop()
            if not isinstance(initial, InitialList):
                self._element(variable, initial, offset, width, where)
                continue
            step = width * _product(below[1:])
            for i, one in enumerate(initial.elements):
                work.append((one, offset + i * step, below[1:]))

    def opaque(self, variable: Variable, where: Global) -> None:
        """Write the 8 bytes of an opaque variable: zero until something is bound to it, but a sampler's state at once."""
        if variable.dims or variable.space != "global":
            raise self._bad(variable, f"is a .{variable.type} and neither an array nor outside the .global space")
        if variable.type != "samplerref":
            if variable.initial is not None:
                raise self._bad(variable, f"gives initial values to the members of a .{variable.type}")
            return
        members = variable.initial.elements if isinstance(variable.initial, InitialList) else ()
        bits = SAMPLER
        for member in members:
            if not isinstance(member, Member) or member.name not in SAMPLER_MEMBERS:
                raise self._bad(variable, "has an initial value that no sampler has")
            shift, names = SAMPLER_MEMBERS[member.name]
            value = names.index(member.value) if member.value in names else member.value
            if not isinstance(value, int) or not 0 <= value < len(names):
                raise self._bad(variable, f"has an unknown value for `{member.name}`")
            bits |= value << shift
        self.image[where.offset : where.offset + 8] = bits.to_bytes(8, "little")

    def _element(self, variable: Variable, initial: Initial, offset: int, width: int, where: Global) -> None:
        if offset + width > where.offset + where.size:
            raise self._bad(variable, "has more initial values than elements")
        if isinstance(initial, Integer):
            self.image[offset : offset + width] = (initial.value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        elif isinstance(initial, Float):
            self.image[offset : offset + width] = float_bytes(initial, variable.type, width)
        elif isinstance(initial, Name | Offset | GenericAddress | Masked):
            self._address(variable, initial, offset, width)
        else:
            raise self._bad(variable, "has an initial value of an unknown kind")

    def _address(
        self, variable: Variable, initial: Name | Offset | GenericAddress | Masked, offset: int, width: int
    ) -> None:
        mask = (1 << 8 * width) - 1
        if isinstance(initial, Masked):
            mask = initial.mask
            inner = initial.operand
            if not isinstance(inner, Name | Offset | GenericAddress) or mask <= 0 or mask >> 64:
                raise self._bad(variable, "has a masked initial value that is not an address")
            initial = inner
        if isinstance(initial, Offset):
            name, plus = initial.base.name, initial.value
        elif isinstance(initial, GenericAddress):
            name, plus = initial.name, initial.value
        else:
            name, plus = initial.name, 0
        target = self.placed.get(name)
        if target is not None:
            self.addresses.append(AddressOf(offset, target.offset + plus, width, mask))
        elif name in self.functions:
            lowest = (mask & -mask).bit_length() - 1
            value = ((self.functions[name] + plus) & mask) >> lowest
            self.image[offset : offset + width] = value.to_bytes(16, "little")[:width]
        else:
            raise self._bad(variable, f"is initialised with `{name[:200]}`, which is not a variable of the module")

    def _bad(self, variable: Variable, what: str) -> Exception:
        return codes.problem(codes.BAD_VARIABLE, f"`{variable.name[:200]}` {what}", self.source, variable.span)


def _product(values: Iterable[int]) -> int:
    out = 1
    for value in values:
        out *= value
    return out


def float_bytes(constant: Float, type: str, width: int) -> bytes:
    """Return a floating-point constant's bytes in a variable of `type`."""
    if constant.width == 8 * width:
        return constant.bits.to_bytes(width, "little")
    value = as_double(constant)
    if width == 8:
        return struct.pack("<d", value)
    if width == 4:
        return narrowed(value).to_bytes(4, "little")
    if width == 2 and type == "f16":
        return struct.pack("<e", value) if abs(value) < 65520 else (b"\x00\x7c" if value > 0 else b"\x00\xfc")
    raise codes.problem(codes.BAD_VARIABLE, f"a floating-point constant cannot initialise .{type}")


def as_double(constant: Float) -> float:
    """Return the value of a floating-point constant (exact)."""
    if constant.width == 64:
        return struct.unpack("<d", constant.bits.to_bytes(8, "little"))[0]
    return struct.unpack("<f", constant.bits.to_bytes(4, "little"))[0]


def narrowed(value: float) -> int:
    """Return the bits of the f32 nearest to `value`, infinity where it is too large."""
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def entry_of(
    function: Function,
    source: Source | None = None,
    needs: tuple[str, ...] = (),
    text_bytes: int = 0,
    tiles: bool = False,
    pointer: int = 0,
) -> Entry:
    """Describe a kernel from its header."""
    params, size = parameters(function.params, source)
    stated = {d.name: d.arguments for d in function.directives}
    shape = stated.get("reqntid") or stated.get("maxntid") or ()
    sizes = [a for a in shape if isinstance(a, int)][:3]
    x, y, z = (*sizes, *([1] * (3 - len(sizes)))) if sizes else (0, 0, 0)
    return Entry(function.name, tuple(params), size, (x, y, z), "reqntid" in stated, needs, text_bytes, tiles, pointer)

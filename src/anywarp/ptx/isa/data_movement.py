"""Moves between registers and memory: `mov`, `ld`, `ldu`, `st`, and the prefetches that cost nothing to ignore.

Caching and eviction modifiers are hints by the manual's own words, so they are accepted and carry no meaning.
"""

from __future__ import annotations

from typing import Any

from anywarp.ptx.isa.operands import Misfit, bits_type, is_signed, malformed, read, resize, take, value_type, write
from anywarp.ptx.isa.ops import BITS, AddressSpace, Ops, Order, Scope, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.isa.special_registers import special_name
from anywarp.ptx.tree import WIDTHS, Address, Instruction, Integer, Name, Offset, Operand, Vector

_SCOPES: tuple[Scope, ...] = ("cta", "cluster", "gpu", "sys")
SPACES = frozenset({"global", "shared", "local", "const", "param"})


@meaning("mov.<bits>", "mov.<int>", "mov.f32/f64/pred/b128")
def mov(ops: Ops, i: Instruction) -> None:
    """`mov`: copy, pack or unpack; an address when the source is a variable or function."""
    d, a = take(i, 2)
    type = value_type(i.types[0])
    if isinstance(d, Vector):
        _unpack(ops, d, read(ops, a, type))
    elif isinstance(a, Vector):
        write(ops, d, _pack(ops, a, BITS[type]))
    else:
        write(ops, d, read(ops, a, type))


@meaning("mov.v2/v4/v8.<bits>", "mov.v2/v4/v8.<int>", "mov.v2/v4/v8.f32/f64")
def mov_vector(ops: Ops, i: Instruction) -> None:
    """`mov.v4`: element by element. The manual has no such form; ptxas takes it, also of a whole special register (`%tid`)."""
    d, a = take(i, 2)
    type, count = value_type(i.types[0]), vector_length(i)
    if isinstance(a, Name) and a.member is None and special_name(Name(a.name, "x")) is not None:
        last = Integer(int(a.name in ("%ntid", "%nctaid")))  # no grid has a fourth dimension
        a = Vector(tuple(Name(a.name, m) if m != "w" else last for m in "xyzw"[:count]))
    if not isinstance(d, Vector) or not isinstance(a, Vector) or {len(d.elements), len(a.elements)} != {count}:
        raise malformed(i, f"it moves {count} elements")
    values = [read(ops, element, type) for element in a.elements]
    for element, value in zip(d.elements, values, strict=True):
        write(ops, element, value)


def _part(vector: Vector, width: int) -> int:
    """The width of each element when a register of `width` bits is packed or unpacked."""
    count = len(vector.elements)
    if count not in (2, 4) or width // count < 8:
        raise Misfit(f"{count} elements do not make up {width} bits")
    return width // count


def _pack(ops: Ops, sources: Vector, width: int) -> V:
    part, whole = _part(sources, width), bits_type(width)
    total: V = None
    for n, element in enumerate(sources.elements):
        value = ops.zext(read(ops, element, bits_type(part)), whole)
        total = value if n == 0 else ops.or_(total, ops.shl(value, ops.const(whole, n * part)))
    return total


def _unpack(ops: Ops, destination: Vector, value: V) -> None:
    part = _part(destination, BITS[value.type])
    parts = [
        ops.trunc(ops.lshr(value, ops.const(value.type, n * part)) if n else value, bits_type(part))
        for n in range(len(destination.elements))
    ]
    for element, found in zip(destination.elements, parts, strict=True):
        write(ops, element, found)


# --- memory ---------------------------------------------------------------------------------------------------------------


def space_of(i: Instruction) -> AddressSpace:
    """The state space a form names; generic when it names none."""
    for m in i.modifiers:
        base: Any = m.partition("::")[0]
        if base in SPACES:
            return base
    return "generic"


def location(ops: Ops, i: Instruction, operand: Operand) -> tuple[AddressSpace, V]:
    """The state space and address of a memory operand.

    Addresses in the small spaces are computed in 32 bits. The parameters of device functions are written `.param` but live
    where the target put them, so a named parameter's space is asked for.
    """
    space = space_of(i)
    if (
        isinstance(operand, Offset) and operand.indexed and i.opcode in ("ld", "st")
    ):  # `ld.u32 d, a[2]`, without brackets around
        operand = Address(operand)
    if not isinstance(operand, Address):
        raise malformed(i, "a memory operand is not written [address]")
    if space == "param" and isinstance(operand.base, Name):
        space = ops.space_of(operand.base.name)
    type = "i32" if space in ("shared", "local", "param") else "i64"
    base = read(ops, operand.base, type)
    return space, base if operand.offset == 0 else ops.add(base, ops.const(type, operand.offset))


def ordering(i: Instruction) -> dict[str, Any]:
    """The keyword arguments `volatile`, `order` and `scope` of a load or store."""
    order: Order = "weak"
    names: tuple[Order, ...] = ("relaxed", "acquire", "release")
    for name in names:
        if i.has(name):
            order = name
    return {"volatile": i.has("volatile", "mmio"), "order": order, "scope": scope_of(i, "sys")}


def scope_of(i: Instruction, default: Scope) -> Scope:
    """The scope a form names."""
    found: list[Scope] = [s for s in _SCOPES if i.has(s)]
    return found[0] if found else default


_WEAK = "{.weak}{.<space>}{.<cache>}{.nc}{.<l1>}{.<l2>}{.<hint>}{.<prefetch>}{.v2/v4/v8}.<data>"
_ORDERED = "{.<scope>}{.<space>}{.<l1>}{.<l2>}{.<hint>}{.<prefetch>}{.v2/v4/v8}.<data>"


@meaning(
    f"ld{_WEAK}",
    "ld.volatile{.<space>}{.v2/v4/v8}{.<prefetch>}.<data>",
    f"ld.relaxed/acquire{_ORDERED}",
    "ld.mmio.relaxed.sys{.global}.<data>",
    "ldu{.global}{.v2/v4}.<data>",
)
def ld(ops: Ops, i: Instruction) -> None:
    """`ld`, `ldu`; a signed type extends into a wider register."""
    destination, address = take(i, 2, 3)[:2]
    ptx = i.types[0]
    count = vector_length(i)
    targets = destination.elements if isinstance(destination, Vector) else (destination,)
    if len(targets) != count:
        raise malformed(i, f"{len(targets)} destinations for {count} elements")
    space, at = location(ops, i, address)
    values = ops.load(space, value_type(ptx), at, count, **ordering(i))
    for target, value in zip(targets, values, strict=True):
        write(ops, target, value, signed=is_signed(ptx))


def vector_length(i: Instruction) -> int:
    """How many elements a memory form moves."""
    return next((n for n in (2, 4, 8) if i.has(f"v{n}")), 1)


@meaning(
    "st{.weak}{.<space>}{.<cache>}{.<l1>}{.<l2>}{.<hint>}{.v2/v4/v8}.<data>",
    "st.volatile{.<space>}{.v2/v4/v8}.<data>",
    "st.relaxed/release{.<scope>}{.<space>}{.<l1>}{.<l2>}{.<hint>}{.v2/v4/v8}.<data>",
    "st.mmio.relaxed.sys{.global}.<data>",
)
def st(ops: Ops, i: Instruction) -> None:
    """`st`."""
    address, source = take(i, 2, 3)[:2]
    type, count = value_type(i.types[0]), vector_length(i)
    sources = source.elements if isinstance(source, Vector) else (source,)
    if len(sources) != count:
        raise malformed(i, f"{len(sources)} sources for {count} elements")
    space, at = location(ops, i, address)
    ops.store(space, at, [read(ops, s, type) for s in sources], **ordering(i))


@meaning(
    "prefetch{.global/local}.L1/L2", "prefetch.global.L2::evict_last/L2::evict_normal", "prefetch{.param/const}.tensormap",
    "prefetchu.L1", "applypriority{.global}.L2::evict_normal", "discard{.global}.L2",
)  # fmt: skip
def prefetch(ops: Ops, i: Instruction) -> None:
    """`prefetch`, `prefetchu`, `applypriority`: hints. `discard`: leaves memory undefined, so leaving it alone is right."""
    take(i, 1, 2)


@meaning(
    "createpolicy.fractional.L2::evict_last/L2::evict_normal/L2::evict_first/L2::evict_unchanged{.L2::evict_first/L2::evict_unchanged}.b64",
    "createpolicy.range{.global}.L2::evict_last/L2::evict_normal/L2::evict_first/L2::evict_unchanged{.L2::evict_first/L2::evict_unchanged}.b64",
    "createpolicy.cvt.L2.b64",
)
def createpolicy(ops: Ops, i: Instruction) -> None:
    """`createpolicy`: an opaque cache policy; ours says nothing."""
    write(ops, take(i, 1, 4)[0], ops.const("i64", 0))


def as_width(ops: Ops, value: V, ptx: str) -> V:
    """An address as the integer type `ptx` (u32 or u64)."""
    return resize(ops, value, bits_type(WIDTHS[ptx]))

"""Texture and surface instructions: `tex`, `tld4`, `txq`, `istypep`, `suld`, `sust`, `sured`, `suq`.

They are taken apart into words of 32 bits, and the sampling itself is one operation of the target: it depends on objects that
only the runtime knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anywarp.ptx.isa.operands import Misfit, bits_type, join, pair, read, resize, take, write
from anywarp.ptx.isa.ops import Ops, Type, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.isa.texture_form import (
    AXES,
    COMPONENTS,
    GEOMETRIES,
    LEVELS,
    OUTSIDE,
    QUERIES,
    REDUCTIONS,
    REFERENCES,
    TextureForm,
)
from anywarp.ptx.tree import Address, Instruction, Operand, Vector

_FLAT = "1d/2d/3d/a1d/a2d"
_PLAIN = "width/height/depth/channel_data_type/channel_order/array_size"


def _one(i: Instruction, among: Sequence[str], default: str = "") -> str:
    return next((m for m in among if i.has(m)), default)


def _elements(operand: Operand) -> tuple[Operand, ...]:
    return operand.elements if isinstance(operand, Vector) else (operand,)


def _object(operands: Sequence[Operand]) -> tuple[list[Operand], tuple[Operand, ...], tuple[Operand, ...]]:
    """Return the objects in brackets, the coordinates and the operands behind; old code writes no brackets."""
    first, *rest = operands
    if not isinstance(first, Address):
        if not rest:
            raise Misfit("it names no coordinates")
        return [first], _elements(rest[0]), tuple(rest[1:])
    if first.offset:
        raise Misfit("an opaque variable has no inside")
    inside = [first.base, *first.extra]
    if len(inside) not in (2, 3):
        raise Misfit("its brackets hold an object, perhaps a sampler, and coordinates")
    return inside[:-1], _elements(inside[-1]), tuple(rest)


def _words(ops: Ops, operands: Sequence[Operand], count: int, type: Type) -> Iterator[V]:
    """Read `count` operands of 32 bits; more of them are padding."""
    if len(operands) < count:
        raise Misfit(f"{len(operands)} elements where {count} belong")
    for operand in operands[:count]:
        value = read(ops, operand, type)
        yield value if type == "i32" else ops.bitcast(value, "i32")


def _coordinates(ops: Ops, form: TextureForm, given: tuple[Operand, ...]) -> list[V]:
    """Read the index of the layer and the coordinates; a sample's number is left out, for no texture here has several."""
    if form.geometry in ("2dms", "a2dms"):
        given = given[1:]
    words: list[V] = []
    if form.layered:
        words += _words(ops, given, 1, "i32")
        given = given[1:]
    surface = form.kind not in ("fetch", "gather")
    return words + list(_words(ops, given, AXES[form.geometry], "i32" if form.integers or surface else "f32"))


def _results(ops: Ops, i: Instruction, destination: Operand, found: Sequence[V]) -> None:
    """Write the four words of a fetch, and that its texels are resident."""
    d, p = pair(destination)
    targets = _elements(d)
    halves = i.types[0] in ("f16", "f16x2")
    values: list[V] = list(found)
    if halves:
        values = [ops.fconvert(ops.bitcast(v, "f32"), "f16") for v in found]
    if i.types[0] == "f16x2":
        values = [join(ops, values[0], values[1]), join(ops, values[2], values[3])]
    if len(targets) != len(values):
        raise Misfit(f"{len(targets)} destinations for {len(values)} elements")
    for target, value in zip(targets, values, strict=True):
        write(ops, target, value)
    write(ops, p, ops.const("i1", 1))


@meaning(
    f"tex{{.base/level}}.{_FLAT}.v4.u32/s32/f16/f32.s32/f32", f"tex{{.base/level}}.{_FLAT}.v2.f16x2.s32/f32",
    f"tex.grad.{_FLAT}.v4.u32/s32/f16/f32.s32/f32", f"tex.grad.{_FLAT}.v2.f16x2.s32/f32",
    "tex{.base/level/grad}.cube/acube.v4.u32/s32/f16/f32.f32", "tex{.base/level/grad}.cube/acube.v2.f16x2.f32",
    "tex{.base}.2dms/a2dms.v4.u32/s32/f16/f32.s32", "tex{.base}.2dms/a2dms.v2.f16x2.s32",
)  # fmt: skip
def tex(ops: Ops, i: Instruction) -> None:
    """`tex`: fetch a texel, or several of them blended.

    A depth reference is read and changes nothing: CUDA makes no depth textures.
    """
    destination, *rest = take(i, 2, 8)
    objects, given, behind = _object(rest)
    geometry = _one(i, GEOMETRIES)
    mode = _one(i, LEVELS, "base")
    integers = i.types[1] == "s32"
    axes = AXES[geometry]
    form = TextureForm("fetch", geometry, mode, integers=integers, sampler=len(objects) > 1)
    words = _coordinates(ops, form, given)
    needed = {"base": 0, "level": 1, "grad": 2}[mode]
    if len(behind) < needed:
        raise Misfit("its level of detail is missing")
    if mode == "level":
        words += _words(ops, behind[:1], 1, "i32" if integers else "f32")
    for gradient in behind[:needed] if mode == "grad" else ():
        words += _words(ops, _elements(gradient), axes, "f32")
    offsets = _offsets(ops, geometry, behind[needed:])
    form = TextureForm("fetch", geometry, mode, "", integers, bool(offsets), form.sampler)
    _results(ops, i, destination, ops.texture(form.code, objects, words + offsets, 4))


def _offsets(ops: Ops, geometry: str, behind: Sequence[Operand]) -> list[V]:
    """Read `{, e} {, f}`: offsets come in a vector (a depth reference is a scalar), and are taken from four bits."""
    behind = list(behind)
    words: list[V] = []
    if behind and isinstance(behind[0], Vector):
        if geometry in ("cube", "acube"):
            raise Misfit("cubemaps take no offsets")
        four = ops.const("i32", 28)
        for word in _words(ops, _elements(behind.pop(0)), AXES[geometry], "i32"):
            words.append(ops.ashr(ops.shl(word, four), four))
    if len(behind) > 1:
        raise Misfit("it has too many operands")
    for reference in behind:
        read(ops, reference, "f32")
    return words


@meaning("tld4.r/g/b/a.2d/a2d/cube/acube.v4.u32/s32/f32.f32")
def tld4(ops: Ops, i: Instruction) -> None:
    """`tld4`: one component of the four texels that linear filtering would blend."""
    destination, *rest = take(i, 2, 6)
    objects, given, behind = _object(rest)
    geometry = _one(i, GEOMETRIES)
    component, sampler = _one(i, COMPONENTS), len(objects) > 1
    words = _coordinates(ops, TextureForm("gather", geometry), given)
    offsets = _offsets(ops, geometry, behind)
    form = TextureForm("gather", geometry, "", component, False, bool(offsets), sampler)
    _results(ops, i, destination, ops.texture(form.code, objects, words + offsets, 4))


def _named(operand: Operand) -> Operand:
    """The object in `[a]`."""
    if not isinstance(operand, Address) or operand.offset or operand.extra:
        raise Misfit("an object belongs in the brackets, and nothing else")
    return operand.base


@meaning(
    f"txq.{_PLAIN}/normalized_coords/num_mipmap_levels/num_samples/force_unnormalized_coords/filter_mode/addr_mode_0/addr_mode_1/addr_mode_2.b32",
    "txq.level.width/height/depth.b32",
    f"suq.{_PLAIN}/memory_layout.b32",
)
def txq(ops: Ops, i: Instruction) -> None:
    """`txq`, `suq`: an attribute of a texture, sampler or surface."""
    level = i.has("level")
    d, a, *lod = take(i, 3 if level else 2)
    words = list(_words(ops, lod, 1, "i32")) if level else []
    form = TextureForm("query", mode="level" if level else "base", detail=_one(i, QUERIES))
    write(ops, d, ops.texture(form.code, [_named(a)], words, 1)[0])


@meaning("istypep.texref/samplerref/surfref")
def istypep(ops: Ops, i: Instruction) -> None:
    """`istypep`: whether a register points to an opaque variable of a type."""
    p, a = take(i, 2)
    form = TextureForm("is_type", detail=_one(i, REFERENCES))
    found = ops.texture(form.code, [a], [], 1)[0]
    write(ops, p, ops.icmp("ne", found, ops.const("i32", 0)))


# --- surfaces -------------------------------------------------------------------------------------------------------------

_CLAMP = "{.trap/clamp/zero}"


def _surface(ops: Ops, i: Instruction, kind: str, operand: Operand) -> tuple[TextureForm, list[Operand], list[V]]:
    """Return the form, the object and the coordinates of an access; an access that does not say so traps outside."""
    if not isinstance(operand, Address):
        raise Misfit("a surface belongs into brackets")
    objects, given, _ = _object([operand])
    if len(objects) != 1:
        raise Misfit("a surface takes no sampler")
    type = i.types[0]
    form = TextureForm(
        kind, _one(i, GEOMETRIES), _one(i, OUTSIDE, "trap"), _one(i, REDUCTIONS), bytes=int(type[1:]) // 8,
        count=4 if i.has("v4") else 2 if i.has("v2") else 1, type=type if "reduce" in kind else "u32",
    )  # fmt: skip
    return form, objects, _coordinates(ops, form, given)


def _data(ops: Ops, form: TextureForm, source: Operand) -> list[V]:
    """Read the values of a store or reduction as words."""
    operands = _elements(source)
    if len(operands) != form.count:
        raise Misfit(f"{len(operands)} sources for {form.count} elements")
    words: list[V] = []
    for operand in operands:
        if form.bytes == 8:
            value = read(ops, operand, "i64")
            words += [ops.trunc(value, "i32"), ops.trunc(ops.lshr(value, ops.const("i64", 32)), "i32")]
        else:
            words.append(resize(ops, read(ops, operand, bits_type(8 * form.bytes)), "i32"))
    return words


@meaning(
    f"suld.b.{_FLAT}{{.ca/cg/cs/cv}}{{.v2/v4}}{_CLAMP}.b8/b16/b32", f"suld.b.{_FLAT}{{.ca/cg/cs/cv}}{{.v2}}{_CLAMP}.b64",
)  # fmt: skip
def suld(ops: Ops, i: Instruction) -> None:
    """`suld`: read bytes of a surface."""
    destination, address = take(i, 2)
    form, objects, words = _surface(ops, i, "surface_load", address)
    targets = _elements(destination)
    if len(targets) != form.count:
        raise Misfit(f"{len(targets)} destinations for {form.count} elements")
    found = ops.texture(form.code, objects, words, form.count * (2 if form.bytes == 8 else 1))
    for n, target in enumerate(targets):
        if form.bytes == 8:
            write(ops, target, join(ops, found[2 * n], found[2 * n + 1]))
        else:
            write(ops, target, resize(ops, found[n], bits_type(8 * form.bytes)))


@meaning(
    f"sust.b.{_FLAT}{{.wb/cg/cs/wt}}{{.v2/v4}}{_CLAMP}.b8/b16/b32",
    f"sust.b.{_FLAT}{{.wb/cg/cs/wt}}{{.v2}}{_CLAMP}.b64",
    f"sust.p.{_FLAT}{{.v2/v4}}{_CLAMP}.b32",
)
def sust(ops: Ops, i: Instruction) -> None:
    """`sust`: write bytes (`.b`) or the channels of a texel (`.p`)."""
    address, source = take(i, 2)
    form, objects, words = _surface(ops, i, "formatted_store" if i.has("p") else "surface_store", address)
    ops.texture(form.code, objects, words + _data(ops, form, source), 0)


@meaning(
    f"sured.b.add.1d/2d/3d{_CLAMP}.u32/u64/s32", f"sured.b.min/max.1d/2d/3d{_CLAMP}.u32/s32/u64/s64",
    f"sured.b.and/or.1d/2d/3d{_CLAMP}.b32",
    f"sured.p.add/min/max/and/or.1d/2d/3d{_CLAMP}.b32", f"sured.p.min/max.1d/2d/3d{_CLAMP}.u32/s32/b64",
)  # fmt: skip
def sured(ops: Ops, i: Instruction) -> None:
    """`sured`: combine with what a surface holds, atomically; x counts bytes (`.b`) or texels (`.p`)."""
    address, source = take(i, 2)
    form, objects, words = _surface(ops, i, "formatted_reduce" if i.has("p") else "surface_reduce", address)
    ops.texture(form.code, objects, words + _data(ops, form, source), 0)

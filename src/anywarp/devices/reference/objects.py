"""Which texture, sampler or surface an operand names on the reference device, and one lane's instruction on it.

Objects are given to a launch by handle, or by the name of the opaque variable that they are bound to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from anywarp.devices.reference import surface, texture
from anywarp.devices.reference.program import Place, Program
from anywarp.devices.reference.surface import Surface, Trap
from anywarp.devices.reference.texture import Sampler, Texture
from anywarp.ptx.isa.texture_form import TextureForm
from anywarp.ptx.tree import OPAQUE, InitialList, Member, Variable

Object: TypeAlias = "Texture | Surface | Sampler"
Objects: TypeAlias = "Mapping[int | str, Texture | Surface]"


def find(program: Program, objects: Objects, value: int) -> Object | None:
    """Return what a handle, or the address of an opaque variable, stands for."""
    if value in objects:
        return objects[value]
    variable = _variable_at(program, value)
    if variable is None:
        return None
    if variable.type == "samplerref":
        members = variable.initial.elements if isinstance(variable.initial, InitialList) else ()
        return Sampler({m.name: m.value for m in members if isinstance(m, Member)})
    return objects.get(variable.name)


def _variable_at(program: Program, address: int) -> Variable | None:
    for symbol in program.names.symbols.values():
        if isinstance(symbol, Place) and symbol.variable.type in OPAQUE and symbol.address == address:
            return symbol.variable
    return None


def run(program: Program, objects: Objects, form: TextureForm, named: Sequence[int], words: Sequence[int]) -> list[int]:
    """Carry out one lane's instruction; returns its words. Trap for what ends the kernel."""
    if form.kind == "is_type":
        if named[0] in objects:
            return [int(surface.kind_of(objects[named[0]]) == form.detail)]
        variable = _variable_at(program, named[0])
        return [int(variable is not None and variable.type == form.detail)]
    found = find(program, objects, named[0])
    if found is None:
        raise Trap("there is no texture or surface object of that handle")
    if isinstance(found, Sampler):
        if form.kind != "query":
            raise Trap("a sampler where a texture belongs")
        return [texture.sampler_attribute(found, form.detail)]
    if form.kind == "query":
        return [surface.query(found, form, words)]
    if isinstance(found, Surface):
        if form.kind in ("fetch", "gather"):
            raise Trap("a surface where a texture belongs")
        return surface.access(found, form, words)
    if form.kind not in ("fetch", "gather"):
        raise Trap("a texture where a surface belongs")
    if form.geometry in ("cube", "acube") and found.kind != "cube":
        raise Trap("a cubemap fetch from a texture that is no cubemap")
    if form.sampler:
        sampler = find(program, objects, named[1])
        if not isinstance(sampler, Sampler):
            raise Trap("there is no sampler at that address")
        found = texture.with_sampler(found, sampler)
    return (texture.sample if form.kind == "fetch" else texture.gather)(found, form, words)

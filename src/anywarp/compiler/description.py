"""A module's layout as the container that the driver library reads (docs/contracts.md section 1, `kind module`).

The library knows no PTX: what it must tell a program about a module, and what it must put into memory, stands here.
"""

from __future__ import annotations

from collections.abc import Iterator

from anywarp.compiler.artifact import pack_container, percent
from anywarp.compiler.layout import Entry, ModuleLayout


def pack_module(layout: ModuleLayout) -> bytes:
    """Return the container of a module description; its payload is the initial image of the module's data."""
    return pack_container("".join(f"{line}\n" for line in _lines(layout)), layout.image)


def _lines(layout: ModuleLayout) -> Iterator[str]:
    major, minor = layout.ptx
    yield "kind module"
    yield f"ptx {major}.{minor} {percent(layout.target[0] if layout.target else '-')}"
    yield f"data {len(layout.image)} {layout.align}"
    for entry in layout.entries:
        yield from _entry(entry)
    for variable in layout.globals.values():
        yield f"global {percent(variable.name)} {variable.space} {variable.offset} {variable.size} {variable.align}"
        if variable.managed:
            yield f"managed {percent(variable.name)}"
    for name, (kind, offset) in layout.references.items():
        yield f"reference {percent(name)} {kind} {offset}"
    for place in layout.addresses:
        yield f"address {place.offset} {place.target} data {place.width} {place.mask}"
    for text in layout.diagnostics:
        yield f"diagnostic {percent(text)}"


def _entry(entry: Entry) -> Iterator[str]:
    name = percent(entry.name)
    x, y, z = entry.maxntid
    yield f"entry {name} {entry.param_bytes} {x} {y} {z} {int(entry.reqntid)}"
    if entry.text_bytes:
        yield f"text {name} {entry.text_bytes}"
    if entry.tiles:
        yield f"tiles {name}"
    if entry.pointer:
        yield f"pointer {name} {entry.pointer}"
    for param in entry.params:
        yield f"param {name} {param.offset} {param.size} {param.align}"
    for form in entry.needs:
        yield f"needs {name} {percent(form)}"

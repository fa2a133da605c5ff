"""The page about the kernel IR, `docs/ir.md`: every operation with its operands, attributes and effect, from the tables."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields
from typing import get_args, get_type_hints

from anywarp.compiler.attributes import Attributes
from anywarp.compiler.operation_table import ENDINGS, OPERATIONS, Ending, Operation
from anywarp.compiler.signatures import CLASSES

EFFECTS = {
    "pure": "depends on nothing but operands and launch constants",
    "warp": "depends on which lanes are active: not moved across control flow",
    "ordered": "kept in place and order; removed where nobody reads its result",
    "acting": "kept in place and order in any case",
}
TRAPS = {
    "never": "has a result for all operands: what is pure, too, lanes may run for nothing, and earlier or again",
    "faults": "accesses memory at an address that it is given",
    "ends": "may end the grid, or wait for ever",
}
MEMORY = {
    "none": "touches no memory of the program",
    "read": "reads it",
    "readwrite": "writes it, or lets others write it meanwhile: no access is moved across",
}


def page() -> str:
    """Return the page as Markdown."""
    families = {o.attributes: None for o in (*OPERATIONS.values(), *ENDINGS.values()) if o.attributes is not Attributes}
    return "\n".join([
        "# The kernel IR",
        "",
        "Made by `python -m anywarp.compiler.ir_page` from `compiler/operation_table.py` and `compiler/attributes.py`, by which the verifier checks every",
        "kernel after each pass. What the operations compute is said in `ptx/isa/ops.py`; `anywarp compile --emit ir` prints a kernel.",
        "",
        "A kernel is one graph of blocks in SSA form: phis, operations, a terminator. In a signature a letter stands for one type, `*` for any",
        "number, `?` for none or one. Classes of types:",
        "",
        *(f"- `{name}`: {' '.join(f'`{t}`' for t in sorted(types, key=_width))}" for name, types in CLASSES.items()),
        "",
        "Effects:",
        "",
        *(f"- {name}: {words}" for name, words in EFFECTS.items()),
        "",
        "Traps:",
        "",
        *(f"- {name}: {words}" for name, words in TRAPS.items()),
        "",
        "Memory:",
        "",
        *(f"- {name}: {words}" for name, words in MEMORY.items()),
        "",
        "## Operations",
        "",
        "| operation | signature | attributes | effect | traps | memory | |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_row(group) for group in _alike()),
        "",
        "## Terminators",
        "",
        "| terminator | operands | targets | attributes | |",
        "| --- | --- | --- | --- | --- |",
        *(_end(one) for one in ENDINGS.values()),
        "",
        "## Attributes",
        "",
        *(line for family in families for line in _family(family)),
    ])  # fmt: skip


def _width(type: str) -> tuple[bool, int, str]:
    return type[0] != "i", int(type.lstrip("ibf")), type


def _alike() -> list[list[Operation]]:
    """Operations declared together stand in one row."""
    groups: list[list[Operation]] = []
    for one in OPERATIONS.values():
        last = groups[-1][-1] if groups else None
        if last is not None and _shown(last) == _shown(one):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _shown(one: Operation) -> tuple[object, ...]:
    return one.signature.text, one.attributes, one.effect, one.trap, one.memory, one.note, one.guarded


def _row(group: list[Operation]) -> str:
    one = group[0]
    names = " ".join(f"`{o.name}`" for o in group)
    signature = one.signature.text if one.makes else one.signature.text.partition("->")[0].strip()
    notes = [
        note for note in (one.note, "obeys its guard" if one.guarded else "", "" if one.makes else "no result") if note
    ]
    return f"| {names} | {_code(signature)} | {_link(one.attributes)} | {one.effect} | {one.trap} | {one.memory} | {'; '.join(notes)} |"


def _end(one: Ending) -> str:
    least, most = one.targets
    targets = str(least) if most == least else f"{least} or more"
    return f"| `{one.name}` | {_code(one.signature.text)} | {targets} | {_link(one.attributes)} | {one.note} |"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


def _link(family: type[Attributes]) -> str:
    return "" if family is Attributes else f"[{family.__name__}](#{family.__name__.lower()})"


def _family(family: type[Attributes]) -> list[str]:
    hints = get_type_hints(family)
    lines = [f"### {family.__name__}", "", inspect.cleandoc(family.__doc__ or ""), ""]
    for field in fields(family):
        words = [a for a in get_args(hints[field.name]) if isinstance(a, str)]
        kind = " ".join(f"`{w}`" for w in words) if words else f"`{field.type}`"
        usual = "" if field.default is MISSING else f" (usually `{field.default}`)"
        lines.append(f"- `{field.name}`: {kind}{usual}")
    return [*lines, ""]


if __name__ == "__main__":
    print(page(), end="")

"""Derive the table that our headers of CUPTI are written from: names, types and values of NVIDIA's public headers.

scripts/derive runs it (`derive_cupti CUPTI.H VERSION INCLUDE...`); it needs the package libclang.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from anywarp.catalogue import c_facts, dated
from anywarp.catalogue.c_facts import Facts, Type
from anywarp.catalogue.declarations import COLUMNS, DATA, Declaration

_PARTS = (
    "result", "version", "common", "callbacks", "activity", "activity_deprecated", "events", "metrics", "driver_cbid", "runtime_cbid",
)  # fmt: skip
_OWN = (*(f"/cupti_{part}.h" for part in _PARTS), "/generated_cuda_meta.h", "/generated_cuda_runtime_api_meta.h")

_GIVEN = re.compile(
    r"(?:cuda|cu)(?:Launch|Memcpy|Memset|Mem(?:Alloc|Free)|Malloc|Free|Host(?:Alloc|Free)|Stream|Event|GraphLaunch)\w*_params"
)
"""The structs of parameters of those functions whose parameters callbacks get here (docs/cupti.md)."""

_SIZE = re.compile(r"CUPTI_\w+_STRUCT_SIZE \( (\w+) , (\w+) \)")
_WITHOUT_VALUE = ("CUPTIAPI", "CUPTIUTILAPI")
_OTHERS = re.compile(r"\w+_PACKED_ALIGNMENT|PACKED_ALIGNMENT|ACTIVITY_RECORD_ALIGNMENT|invalidNumaId")


def of_headers(facts: Facts) -> Iterator[Declaration]:
    """Yield what the headers declare, each type behind those that it names."""
    for name, value in facts.macros.items():
        if name in _WITHOUT_VALUE or (value and value != "()" and not _OTHERS.fullmatch(name)):
            size = r"(offsetof(\1, \2) + sizeof(((\1 *)0)->\2))"
            yield Declaration("macro", name, "", _SIZE.sub(size, value))
    for name, value in facts.constants.get("", {}).items():
        yield Declaration("macro", name, "", str(value))
    for entry in facts.types.values():
        wanted = _GIVEN.fullmatch(entry.name) if "_params" in entry.name else entry.name in facts.own
        if wanted:
            yield _type(entry, facts)
    for function in facts.functions.values():
        if function.name.startswith("cupti"):
            yield Declaration("function", function.name, function.result, function.declared())


def _type(entry: Type, facts: Facts) -> Declaration:
    if entry.kind == "enum":
        values = facts.constants[entry.name].items()
        return Declaration("enum", entry.name, "", " ".join(f"{name}={value}" for name, value in values))
    record = facts.types[f"{entry.name}_st"] if "_params" in entry.name else entry
    if record.kind in ("struct", "union"):
        return Declaration(record.kind, entry.name, "packed" if record.packed else "", record.definition)
    return Declaration("alias", entry.name, entry.definition, "")


def main(arguments: Sequence[str]) -> int:
    """Run as a command; returns the exit code."""
    if len(arguments) < 3:
        print("usage: python -m anywarp.catalogue.derive_cupti CUPTI.H VERSION INCLUDE...", file=sys.stderr)
        return 2
    header = Path(arguments[0])
    facts = c_facts.read(header, [header.parent, *map(Path, arguments[2:])], _OWN)
    lines = ["\t".join(COLUMNS), *("\t".join(each) for each in of_headers(facts))]
    dated.write(DATA / "cupti_declarations.tsv", f"declarations of cupti, from NVIDIA's {arguments[1]}", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Write our own nvml.h, nvJitLink.h and headers of CUPTI from the tables of declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from anywarp.catalogue import declarations
from anywarp.catalogue.c_facts import spell
from anywarp.catalogue.declarations import Declaration

MADE = "// Facts of NVIDIA's public interface, written by anywarp.catalogue.binding_headers; change that instead.\n"


@dataclass(frozen=True, slots=True)
class Header:
    """One header: the tables that it is written from, if any, and what it includes."""

    name: str
    tables: tuple[str, ...]
    includes: tuple[str, ...] = ()


HEADERS = (
    Header("nvml.h", ("nvml_declarations", "nvml_manual")),
    Header("nvJitLink.h", ("nvjitlink_declarations",), ("stddef.h", "stdint.h")),
    Header("cupti.h", ("cupti_declarations",), ("stddef.h", "stdint.h", "string.h", "cuda.h", "cuda_runtime_api.h")),
    *(Header(f"cupti_{part}.h", (), ("cupti.h",))
      for part in ("result", "version", "common", "callbacks", "activity", "events", "metrics", "driver_cbid", "runtime_cbid")),
    *(Header(f"generated_{part}_meta.h", (), ("cupti.h",)) for part in ("cuda", "cuda_runtime_api")),
)  # fmt: skip


def write(folder: Path) -> list[Path]:
    """Write the headers; returns the files."""
    written = [folder / header.name for header in HEADERS]
    for header, path in zip(HEADERS, written, strict=True):
        path.write_text(text_of(header), encoding="utf-8")
    return written


def text_of(header: Header) -> str:
    """Return the whole text of one header."""
    found = [each for table in header.tables for each in declarations.load(table)]
    guard = "ANYWARP_" + re.sub(r"\W", "_", header.name).upper()
    parts = [MADE, f"#ifndef {guard}\n#define {guard}\n\n", *(f"#include <{name}>\n" for name in header.includes), "\n"]
    if not found:
        return "".join([*parts, "#endif\n"])
    parts += _written(found, "macro")
    parts.append('\n#ifdef __cplusplus\nextern "C" {\n#endif\n\n')
    parts += _written(found, "enum", "struct", "union", "handle", "alias")
    parts.append("\n")
    parts += _written(found, "function")
    parts.append("\n#ifdef __cplusplus\n}\n#endif\n\n")
    parts += _versions(found)
    if renames := _written(found, "rename"):
        parts += ["\n#ifndef NVML_NO_UNVERSIONED_FUNC_DEFS\n", *renames, "#endif\n"]
    return "".join([*parts, "\n#endif\n"])


def _written(found: Iterable[Declaration], *kinds: str) -> list[str]:
    return [_FORMS[each.kind](each) for each in found if each.kind in kinds]


def _versions(found: list[Declaration]) -> list[str]:
    """Return a macro for each version of a struct, unless a function has its name."""
    functions = {each.name for each in found if each.kind == "function"}
    names = [each.name.removesuffix("_t") for each in found if each.is_versioned]
    lines: list[str] = []
    for name in names:
        base, _, version = name.removeprefix("nvml").rpartition("_v")
        lines += [f"#define {name} NVML_STRUCT_VERSION({base}, {version})\n"] if name not in functions else []
    return lines


def _enum(each: Declaration) -> str:
    constants = "".join(f"  {member.replace('=', ' = ')},\n" for member in each.members.split())
    return f"typedef enum {_tag(each, 'enum')} {{\n{constants}}} {each.name};\n"


def _record(each: Declaration) -> str:
    packed = " __attribute__((packed, aligned(8)))" if each.type == "packed" else ""
    return f"typedef {each.kind}{packed} {_tag(each, 'st')} {{ {each.members} }} {each.name};\n"


def _tag(each: Declaration, ending: str) -> str:
    return re.sub(r"_t$", f"_{ending}", each.name)


def _handle(each: Declaration) -> str:
    tag = re.sub(r"Handle$|_t$", lambda match: "_st" if match[0] == "_t" else "", each.name)
    return f"typedef struct {tag} *{each.name};\n"


_FORMS: dict[str, Callable[[Declaration], str]] = {
    "enum": _enum,
    "struct": _record,
    "union": _record,
    "handle": _handle,
    "alias": lambda each: f"typedef {spell(each.type, each.name)};\n",
    "function": lambda each: f"{each.type} {each.name}({each.members});\n",
    "macro": lambda each: f"#define {each.name} {each.members}\n",
    "rename": lambda each: f"#define {each.name} {each.type}\n",
}

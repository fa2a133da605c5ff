"""Check the tables that pair CUDA's libraries with ROCm's against what each version of ROCm exports, and against themselves.

A wrong row becomes a wrong call in somebody's program, so nothing is taken on trust: names, versions, parameters, enumerations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anywarp.catalogue.rocm import CONSTANT_COLUMNS, DATA, FUNCTION_COLUMNS, TYPE_COLUMNS, parameters_of, read

STEMS = (
    "cublas", "cublaslt", "cufft", "curand", "cusparse", "cusolver", "nccl", "runtime", "driver", "nvrtc", "nvml", "nvtx",
)  # fmt: skip
"""The libraries whose tables `derive_libraries` writes."""

CONVERSIONS = ("same", "enum", "struct", "handle", "bits", "custom", "none")
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Symbols:
    """What one version of a library of ROCm has; `complete` where it comes from the library or its header, not from bindings."""

    names: frozenset[str]
    complete: bool


@dataclass(frozen=True, slots=True)
class Tables:
    """The rows of one library's four tables."""

    functions: tuple[Row, ...]
    types: tuple[Row, ...]
    constants: tuple[Row, ...]
    back: tuple[Row, ...]


def load_tables(stem: str, folder: Path = DATA) -> Tables:
    """Read the tables of one library as they are."""
    back = ("type", "name", "value", "cuda_type", "cuda_name", "reason")
    wanted = (
        ("", (*FUNCTION_COLUMNS, "earlier")),
        ("_types", TYPE_COLUMNS),
        ("_constants", CONSTANT_COLUMNS),
        ("_back", back),
    )
    return Tables(*(tuple(row for row, _ in read(folder / f"{stem}{end}.tsv", columns)) for end, columns in wanted))


def load_symbols(folder: Path = DATA / "symbols") -> dict[str, dict[str, Symbols]]:
    """Read the lists of symbols: by library, by version of ROCm, oldest first."""
    found: dict[str, dict[str, Symbols]] = {}
    for path in sorted(folder.glob("*.txt"), key=lambda p: number(p.stem.rpartition("-")[2])):
        name, _, version = path.stem.rpartition("-")
        first, *names = path.read_text(encoding="utf-8").split("\n")
        found.setdefault(name, {})[version] = Symbols(frozenset(n for n in names if n), "bindings" not in first)
    return found


def number(version: str) -> tuple[int, ...]:
    """Return a version as numbers, for comparing."""
    return tuple(int(part) for part in version.split("."))


def problems(tables: Tables, symbols: Mapping[str, Mapping[str, Symbols]]) -> list[str]:
    """Return what is wrong with the tables of one library."""
    found: list[str] = []
    names = [row["name"] for row in tables.functions]
    if names != sorted(set(names)):
        found.append("functions are out of order or there twice")
    for row in tables.functions:
        found += [f"{row['name']}: {text}" for text in _function(row, symbols)]
    for row in tables.types:
        if row["conversion"] not in CONVERSIONS:
            found.append(f"{row['name']}: unknown conversion {row['conversion']!r}")
        if row["conversion"] == "none" and not row["reason"]:
            found.append(f"{row['name']}: no counterpart and no reason")
    return found + _constants(tables) + _back(tables)


def _function(row: Row, symbols: Mapping[str, Mapping[str, Symbols]]) -> list[str]:
    found: list[str] = []
    if row["route"] not in ("forward", "custom", "absent"):
        return [f"unknown route {row['route']!r}"]
    if row["route"] == "absent" and not row["reason"]:
        found.append("absent without a reason")
    if row["route"] == "forward":
        found += _forward(row)
    if row["target"]:
        found += _versions(row, symbols.get(row["library"], {}))
    return found


def _forward(row: Row) -> list[str]:
    if not row["target"] or not row["target_result"]:
        return ["forwarded without the counterpart's declaration"]
    theirs = len(parameters_of(row["target_parameters"]))
    second = row["parameters_12"] if row["parameters_13"] == "=" else row["parameters_13"]
    texts = {12: row["parameters_12"], 13: second}
    counts = {m: len(parameters_of(texts[m])) for m in (12, 13) if str(m) in row["majors"].split()}
    return [f"takes {n} parameters in CUDA {m}, {row['target']} {theirs}" for m, n in counts.items() if n != theirs]


def _versions(row: Row, versions: Mapping[str, Symbols]) -> list[str]:
    if not versions:
        return [f"there is no list of what {row['library']} exports"]
    earlier = dict(part.split("=") for part in row.get("earlier", "").split())
    found: list[str] = []
    for version, symbols in versions.items():
        claimed = (not row["since"] or number(version) >= number(row["since"])) and (
            not row["removed"] or number(version) < number(row["removed"])
        )
        name = earlier.get(version, row["target"])
        if claimed and symbols.complete and name not in symbols.names:
            found.append(f"{row['library']} of ROCm {version} has no {name}")
        if not claimed and name in symbols.names:
            found.append(f"{row['library']} of ROCm {version} has {name}, the row says otherwise")
    if not any(row["target"] in symbols.names for symbols in versions.values()):
        found.append(f"no version of {row['library']} has {row['target']}")
    return found


def _constants(tables: Tables) -> list[str]:
    found: list[str] = []
    seen: set[tuple[str, str]] = set()
    for row in tables.constants:
        key = (row["type"], row["name"])
        if key in seen:
            found.append(f"{row['name']} is there twice")
        seen.add(key)
        if not row["target"] and not row["reason"]:
            found.append(f"{row['name']}: no counterpart and no reason")
        if row["target"] and row["type"] != "#define" and not re.fullmatch(r"-?\d+", row["target_value"]):
            found.append(f"{row['name']}: {row['target']} has no number")
    return found


def _back(tables: Tables) -> list[str]:
    return [
        f"{row['name']} comes back as nothing, without a reason"
        for row in tables.back
        if not row["cuda_name"] and not row["reason"]
    ]


def enums_not_covered(tables: Tables) -> list[str]:
    """Return enumerations that forwarded functions take or give back and that have no rows of constants, or no way back."""
    aliases = {row["name"]: row["definition"] for row in tables.types if row["kind"] == "alias"}
    kinds = {row["name"]: row["kind"] for row in tables.types}
    converted = (row["name"] for row in tables.types if row["conversion"] in ("enum", "same"))
    enums = {name for name in converted if kinds.get(_settled(name, aliases)) == "enum"}
    known = {row["type"] for row in tables.constants}
    returned = {row["cuda_type"] for row in tables.back}
    found: list[str] = []
    for row in tables.functions:
        if row["route"] != "forward":
            continue
        bases = [p.base for p in parameters_of(row["parameters_12"] or row["parameters_13"])] + [row["result"]]
        for base in bases:
            real = _settled(base, aliases)
            if base in enums and real not in known:
                found.append(f"{row['name']}: {base} has no constants")
            if base in enums and real not in returned:
                found.append(f"{row['name']}: {base} has no way back")
    return sorted(set(found))


def _settled(base: str, aliases: Mapping[str, str]) -> str:
    for _ in range(4):
        if base not in aliases:
            break
        base = aliases[base].replace("enum ", "").replace("struct ", "").strip()
    return base


def demanded(tables: Tables) -> Sequence[Row]:
    """Return the functions that measured clients import."""
    return [row for row in tables.functions if int(row["clients"])]

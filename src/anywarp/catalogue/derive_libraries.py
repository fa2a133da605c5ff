"""Derive the tables that pair CUDA's libraries with ROCm's from their public headers, exports and bindings.

`scripts/derive` fills the folder of packages and runs it when NVIDIA or AMD publish versions. It needs the package libclang. What no rule can know stands in LIBRARY_choices.tsv beside the tables.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from anywarp.catalogue import c_facts, cython_facts, dated
from anywarp.catalogue.c_facts import Facts
from anywarp.catalogue.demand import demand_of
from anywarp.catalogue.library_rows import (
    DATA,
    MAJORS,
    Derivation,
    back_rows,
    choices_of,
    constant_rows,
    function_rows,
    is_header,
    settle_enums,
    type_pairs,
    type_rows,
)  # fmt: skip
from anywarp.catalogue.library_sources import DEFINES, SHARED_TYPES, SOURCES, Side, Source
from anywarp.catalogue.packages import Packages
from anywarp.catalogue.releases import LENDER
from anywarp.catalogue.shared_objects import exports_of

HEADINGS = {
    "": "name majors result parameters_12 parameters_13 route target library since removed target_result target_parameters clients"
    " reason earlier",
    "_types": "name kind majors definition target target_definition conversion reason",
    "_constants": "type name value_12 value_13 target target_value since removed reason earlier",
    "_back": "type name value cuda_type cuda_name cuda_value_12 cuda_value_13 reason earlier",
}


def read_cuda(packages: Packages, source: Source, major: int, builtin: Path) -> Facts:
    """Read the headers of one library in one major version of CUDA."""
    version = source.folders[MAJORS.index(major)]
    facts = Facts()
    for name in source.headers:
        bindings = packages.find(version, name) if name.endswith(".pxd") else None
        if bindings is not None:
            facts.merge(cython_facts.read(bindings))
            facts.own.update(dict.fromkeys(facts.types, name))
            continue
        header = packages.find(version, f"include/{name}")
        if header is None:
            print(f"{source.stem}: CUDA {major} has no {name}", file=sys.stderr)
            continue
        include = [header.parent, *packages.include(version)]
        for language in source.languages:
            system = [builtin] if language == "c" else [*_cxx_folders(), builtin]
            for define in source.defines:
                facts.merge(
                    c_facts.read(
                        header, [*include, *system], source.own, language=language, define=define, inline=source.inline
                    )
                )
    return facts


def _cxx_folders() -> list[Path]:
    newest = max(Path("/usr/include/c++").iterdir(), key=lambda p: int(p.name))
    return [newest, Path("/usr/include/x86_64-linux-gnu/c++") / newest.name]


def read_rocm(packages: Packages, side: Side, builtin: Path) -> dict[str, Facts]:
    """Read one library of ROCm in every version that the folder has, oldest first."""
    found: dict[str, Facts] = {}
    for version in side.versions:
        folder = f"rocm-{version}"
        header = packages.find(folder, f"include/{side.header}") if side.header else None
        bindings = packages.find(folder, side.bindings) if side.bindings else None
        if header is not None:
            system = [builtin] if side.language == "c" else [*_cxx_folders(), builtin]
            include = [
                *packages.include(folder),
                *packages.include(f"rocm-{LENDER}"),
                *system,
            ]  # what it lacks is borrowed
            found[version] = c_facts.read(header, include, side.own, language=side.language, define=DEFINES)
        elif bindings is not None:
            found[version] = cython_facts.read(bindings)
            below = packages.find(folder, "cyhip.pxd")
            if below is not None and below != bindings:
                base = cython_facts.read(below)
                found[version].merge(Facts({}, base.types, base.constants, {}, base.resolved))
        else:
            print(f"{side.name}: ROCm {version} is not in the folder", file=sys.stderr)
    _only_exported(packages, side, found)
    return found


def shared_object(packages: Packages, side: Side, version: str) -> Path | None:
    """Return the library itself, if the folder has it."""
    if not side.shared:
        return None
    return next((f for f in packages.all(f"rocm-{version}") if f.name.startswith(side.shared + ".")), None)


def _only_exported(packages: Packages, side: Side, found: Mapping[str, Facts]) -> None:
    # HIP's headers declare functions that its library does not have.
    shared = {version: shared_object(packages, side, version) for version in found}
    exported = {version: set(exports_of(path)) for version, path in shared.items() if path is not None}
    for version, facts in found.items():
        if version in exported:
            known = exported[version]
        elif exported and is_header(facts):  # a header alone: what a library of a neighbouring version has
            known = set[str]().union(*exported.values())
        else:
            continue
        for name in [n for n in facts.functions if n not in known]:
            del facts.functions[name]


def write_symbols(packages: Packages, side: Side, rocm: Mapping[str, Facts]) -> None:
    """Write what each version of a library of ROCm exports, or declares where its shared object is not at hand."""
    for version, facts in rocm.items():
        shared = shared_object(packages, side, version)
        declared = {n for n in facts.functions if n.startswith(side.prefix)}
        names = {n for n in exports_of(shared) if n.startswith(side.prefix)} if shared else declared
        what = (
            f"exports of {shared.name}"
            if shared
            else "declarations of its " + ("header" if is_header(facts) else "bindings")
        )
        path = DATA / "symbols" / f"{side.name}-{version}.txt"
        dated.write(path, f"{side.name} of ROCm {version}: {what}", sorted(names))


def write_table(stem: str, ending: str, source: str, rows: list[list[str]]) -> None:
    """Write one table with its source and heading."""
    columns = HEADINGS[ending].split()
    for row in rows:
        if len(row) != len(columns) or any("\t" in cell or "\n" in cell for cell in row):
            raise ValueError(f"{stem}{ending}: a row does not fit its columns: {row}")
    dated.write(DATA / f"{stem}{ending}.tsv", source, ["\t".join(columns), *("\t".join(row) for row in rows)])


def derive(packages: Packages, source: Source, builtin: Path) -> Derivation:
    """Write the tables of one library."""
    cuda = {m: read_cuda(packages, source, m, builtin) for m in MAJORS}
    exported: dict[int, set[str]] = {}
    for major in MAJORS:
        name = source.shared[MAJORS.index(major)]
        shared = packages.find(source.folders[MAJORS.index(major)], name)
        names = exports_of(shared) if shared else []
        if name.endswith(".tsv"):  # no package holds the driver
            names = [line.split("\t")[0] for line in (DATA.parent / name).read_text(encoding="utf-8").split("\n")[2:-1]]
        exported[major] = {n for n in names if re.fullmatch(source.exported, n)}
    rocm = {side.name: read_rocm(packages, side, builtin) for side in source.sides}
    d = Derivation(source, cuda, exported, rocm, choices_of(source.stem), demand_of(source.demand))
    d.listed = source.shared[0].endswith(".tsv")
    d.pairs = {**{k: v for k, v in SHARED_TYPES.items() if v}, **type_pairs(d)}
    functions = function_rows(d)
    types = type_rows(d, functions)
    constants = constant_rows(d, types, functions)
    text = f"{source.stem}: headers and exports of CUDA 12 and 13 against {d.both().replace(' or ', ', ')}, by anywarp.catalogue.derive_libraries"
    settle_enums(types, constants)
    write_table(source.stem, "", text, functions)
    write_table(source.stem, "_types", text, types)
    write_table(source.stem, "_constants", text, constants)
    write_table(source.stem, "_back", text, back_rows(d, types, constants))
    for side in source.sides:
        write_symbols(packages, side, rocm[side.name])
    return d


def main(arguments: Sequence[str]) -> int:
    """Run as a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m anywarp.catalogue.derive_libraries", description=__doc__)
    parser.add_argument("packages", type=Path, help="a folder with cuda12, cuda13, rocm-6.4 ... of unpacked packages")
    parser.add_argument("libraries", nargs="*", help="which tables to write; all by default")
    parser.add_argument(
        "--builtin", type=Path, required=True, help="the include folder of a C compiler's own headers (stddef.h)"
    )
    options = parser.parse_args(arguments)
    packages = Packages(options.packages)
    for source in SOURCES:
        if not options.libraries or source.stem in options.libraries:
            derive(packages, source, options.builtin)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

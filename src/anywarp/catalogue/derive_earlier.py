"""Derive the names that CUDA 11 and 10 had and CUDA 12 has no more, with their counterparts in ROCm, which kept many of them.

A developer runs it (`PACKAGES --builtin INCLUDE`): the folder is that of `derive_libraries`, with `cuda11` beside the others and
a `rocm-*` whose headers or bindings declare the counterparts. Since when ROCm has a counterpart is read from `symbols/`. It needs libclang.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from anywarp.catalogue import c_facts, cython_facts
from anywarp.catalogue.c_facts import Facts, Function
from anywarp.catalogue.library_sources import SOURCES, Source
from anywarp.catalogue.packages import Packages
from anywarp.catalogue.pairing import counterpart_names
from anywarp.catalogue.rocm import DATA, read
from anywarp.catalogue.rocm_checks import Symbols, load_symbols, number

COLUMNS = "name subject kind majors parameters target library since removed target_parameters reason".split()
TABLE = "earlier"
STEMS = ("cublas", "cufft", "curand", "cusparse", "cusolver", "runtime", "driver", "nvrtc")
MIRRORED = {"cusparse": r"(?!hipsparse(?:GetGitRevision|[SD]prune\w+_bufferSize\Z))hipsparse(\w+)"}
"""Libraries of ROCm that have CUDA 10's functions under their names, and what of them was never CUDA's."""
_DECLARATION = re.compile(r"\bhipsparseStatus_t\s+(hipsparse\w+)\s*\(([^()]*)\)\s*;")


def rows_of(packages: Packages, source: Source, builtin: Path) -> Iterator[list[str]]:
    """Yield the rows of one library."""
    cuda = _cuda(packages, source, builtin)
    side = source.sides[0]
    declared = _declared(packages, side.header, side.bindings)
    symbols = load_symbols().get(side.name, {})
    known = set[str]().union(*(_known(stem) for stem in STEMS))
    for function in cuda.functions.values():
        if function.name not in known:
            target = _counterpart(source, function.name, symbols)
            parameters = function.declared() or "void"
            yield _row(function.name, source.stem, "11", parameters, target, side.name, symbols, declared)
    words = _words(packages, side.header, side.bindings)
    enums = {name for values in cuda.constants.values() for name in values}
    for name in sorted((set(cuda.own) | enums) - known):
        targets = [each for each in counterpart_names(name, source.names) if each != name]
        if targets:
            target = next((each for each in targets if each in words), "")
            if target:
                yield _plain(name, source.stem, "constant" if name in enums else "type", "11", target)
    for target in sorted(word for word in words if re.fullmatch(r"hipsparseHyb\w+|HIPSPARSE_HYB_\w+", word)):
        if source.stem == "cusparse":
            kind, name = ("constant", target[3:]) if target.isupper() else ("type", target[3:])
            yield _plain(("CU" if kind == "constant" else "cu") + name, source.stem, kind, "10", target)
    pattern = MIRRORED.get(source.stem)
    if pattern is not None:
        taken = {row["target"] for row, _ in read(DATA / f"{source.stem}.tsv", ("name", "target"))}
        for target in sorted(set[str]().union(*(each.names for each in symbols.values())) - taken):
            match = re.fullmatch(pattern, target)
            name = source.stem + match[1] if match is not None else ""
            first = min(symbols, key=number)
            if (
                name
                and name not in cuda.functions
                and name not in known
                and target in symbols[first].names
                and target in declared
            ):
                yield _row(name, source.stem, "10", "", target, side.name, symbols, declared)


def _cuda(packages: Packages, source: Source, builtin: Path) -> Facts:
    facts = Facts()
    for name in source.headers:
        header = packages.find("cuda11", f"include/{name}")
        if header is not None:
            include = [header.parent, *packages.include("cuda11"), builtin]
            facts.merge(c_facts.read(header, include, source.own, language="c", define=(), inline=source.inline))
    return facts


def _declared(packages: Packages, header: str, bindings: str) -> dict[str, str]:
    """Return the parameters of what a library of ROCm declares, by name: headers know handles that bindings do not."""
    found: dict[str, str] = {}
    for folder in sorted(packages.root.glob("rocm-*")):
        file = packages.find(folder.name, bindings) if bindings else None
        if file is not None:
            functions: Mapping[str, Function] = cython_facts.read(file).functions
            found |= {name: each.declared() for name, each in functions.items()}
    for folder in sorted(packages.root.glob("rocm-*")):
        file = packages.find(folder.name, header.rpartition("/")[2])
        if file is not None:
            text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", file.read_text("utf-8"), flags=re.DOTALL)
            found |= {match[1]: re.sub(r"\s+", " ", match[2]).strip() for match in _DECLARATION.finditer(text)}
    return found


def _known(stem: str) -> set[str]:
    found = {row["name"] for row, _ in read(DATA / f"{stem}.tsv", ("name",))}
    for ending in ("types", "constants"):
        found |= {row["name"] for row, _ in read(DATA / f"{stem}_{ending}.tsv", ("name",))}
    return found


def _words(packages: Packages, header: str, bindings: str) -> set[str]:
    """Return the words of what declares a library of ROCm, types and enumerations among them."""
    names = (header.rpartition("/")[2], bindings)
    files = [packages.find(folder.name, name) for folder in packages.root.glob("rocm-*") for name in names if name]
    return {word for file in files if file is not None for word in re.findall(r"\w+", file.read_text("utf-8"))}


def _counterpart(source: Source, name: str, symbols: Mapping[str, Symbols]) -> str:
    names = counterpart_names(name, source.names)
    return next((each for each in names if any(each in known.names for known in symbols.values())), "")


def _plain(name: str, subject: str, kind: str, majors: str, target: str) -> list[str]:
    return [name, subject, kind, majors, "", target, "", "", "", "", "" if target else _gone(subject)]


def _gone(subject: str) -> str:
    return f"CUDA 12 has it no more, and ROCm has nothing by its name: {subject}'s newer functions take its place"


def _row(
    name: str,
    subject: str,
    majors: str,
    parameters: str,
    target: str,
    library: str,
    symbols: Mapping[str, Symbols],
    declared: Mapping[str, str],
) -> list[str]:
    since = removed = ""
    reason = _gone(subject)
    if target:
        versions = sorted(symbols, key=number)
        having = [version for version in versions if target in symbols[version].names]
        since = having[0] if having[0] != versions[0] else ""
        later = [version for version in versions if number(version) > number(having[-1]) and symbols[version].complete]
        removed = later[0] if later else ""
        reason = ""
    cells = [name, subject, "function", majors, parameters, target, library if target else "", since, removed]
    return [*cells, declared.get(target, ""), reason]


def main(arguments: Sequence[str]) -> int:
    """Run as a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m anywarp.catalogue.derive_earlier", description=__doc__)
    parser.add_argument("packages", type=Path, help="a folder with cuda11, rocm-6.2 ... of unpacked packages")
    parser.add_argument("--builtin", type=Path, required=True, help="the include folder of a C compiler's own headers")
    options = parser.parse_args(arguments)
    packages = Packages(options.packages)
    rows = [row for source in SOURCES if source.stem in STEMS for row in rows_of(packages, source, options.builtin)]
    first = "# names of CUDA 11 and 10 that CUDA 12 has no more, by anywarp.catalogue.derive_earlier: headers of CUDA 11.8, hipSPARSE's of ROCm 6.2.2, bindings of ROCm 10.0"
    lines = [first, "\t".join(COLUMNS), *("\t".join(row) for row in sorted(rows))]
    (DATA / f"{TABLE}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

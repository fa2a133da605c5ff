"""Write the tables of libraries that nobody has paired with ROCm's, from their headers and exports.

So all is absent on `hip`. The packages are one for CUDA 12 and 13 each, of the same interface.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from anywarp.catalogue import dated
from anywarp.catalogue.demand import demand_of
from anywarp.catalogue.derive_cudnn import Header, preprocessed, read_header
from anywarp.catalogue.rocm import CONSTANT_COLUMNS, DATA, FUNCTION_COLUMNS, SYMBOL_COLUMNS, TYPE_COLUMNS

MAJORS = "12 13"


@dataclass(frozen=True)
class Unpaired:
    """One library: its header and file, what its functions, types and macros of the version are called, and why it is not paired.

    `definitions` are types that the patterns do not find: name to kind and definition. `symbols`: its exports have a table.
    """

    title: str
    header: str
    soname: str
    functions: str
    types: str
    macros: str
    reason: str
    definitions: dict[str, tuple[str, str]]
    version_header: str = ""
    symbols: bool = False
    demand: str = ""


LIBRARIES = {
    "cutensor": Unpaired(
        "cuTENSOR", "cutensor.h", "libcutensor.so.2", "cutensor", "cutensor", r"CUTENSOR_(?:MAJOR|MINOR|PATCH)",
        "ROCm's hipTensor has another interface, which nobody has paired",
        {"cutensorLoggerCallback_t": ("callback", "void (*)(int32_t logLevel, const char *functionName, const char *message)")},
        symbols=True, demand="libcutensor",
    ),
    "cufile": Unpaired(
        "cuFile", "cufile.h", "libcufile.so.0", "cuFile", "(?:CU[fF]|cuf)ile", "CUFILEOP_BASE_ERR",
        "ROCm's hipFile has another interface, which nobody has paired",
        {
            "CUfileFileHandleType": ("enum", ""), "CUfileHandle_t": ("handle", "void*"), "CUfileBatchHandle_t": ("handle", "void*"),
            "sockaddr_t": ("alias", "struct sockaddr"),
        },
        demand="libcufile",
    ),
    "cusparselt": Unpaired(
        "cuSPARSELt", "cusparseLt.h", "libcusparseLt.so.0", "cusparseLt", "cusparse(?:Lt|ComputeType)", r"CUSPARSELT_VER_(?:MAJOR|MINOR|PATCH)",
        "nobody has paired it with ROCm's hipSPARSELt", {}, demand="libcusparseLt",
    ),
    "nvshmem": Unpaired(
        "NVSHMEM", "nvshmem_host.h", "libnvshmem_host.so.3", "nvshmem", "nvshmemx_status", r"NVSHMEM_VENDOR_(?:MAJOR|MINOR|PATCH)_VERSION",
        "nobody has paired it with ROCm's rocSHMEM", {"nvshmemx_status": ("enum", "")}, "non_abi/nvshmem_version.h", True, "libnvshmem_host",
    ),
}  # fmt: skip


LINKED = ("nvshmem_selected_device_transport",)
"""Objects that no header declares and a client links nevertheless: libtorch_nvshmem of PyTorch 2.15."""


def exports(library: Path, functions: str) -> list[tuple[str, str, str]]:
    """Return what a library exports to C: name, `function` or `object`, and the version that the linker gives it.

    Objects are those that the header declares, which are spelt in capitals, and LINKED.
    """
    command = ["readelf", "-W", "--dyn-syms", str(library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = rf"FUNC +GLOBAL +DEFAULT +\d+ ({functions}\w+)|OBJECT +GLOBAL +DEFAULT +\d+ ({functions.upper()}_\w+|{'|'.join(LINKED)})"
    found = re.finditer(rf"(?:{names})(?:@@(\S+))?$", text, re.MULTILINE)
    return sorted((m[1] or m[2], "function" if m[1] else "object", m[3] or "") for m in found)


def macros(header: Path, pattern: str) -> list[tuple[str, str]]:
    """Return macros that are numbers, the parts of the version among them."""
    text = header.read_text(encoding="utf-8", errors="replace")
    return re.findall(rf"#\s*define ({pattern}) (\d+)", text)


def enums_of(header: Header, text: str, library: Unpaired) -> dict[str, list[tuple[str, int]]]:
    """Return the library's enums, those without a typedef too."""
    enums = {name: list(values) for name, values in header.enums.items() if re.match(library.types, name)}
    for name, (kind, _) in library.definitions.items():
        if kind == "enum":
            body = re.search(rf"\benum {name} ?\{{([^}}]*)\}}", text)
            assert body is not None, name
            enums[name] = _counted(body[1])
    return enums


def _counted(body: str) -> list[tuple[str, int]]:
    values: list[tuple[str, int]] = []
    for item in filter(None, (part.strip() for part in body.split(","))):
        name, _, value = (part.strip() for part in item.partition("="))
        number = int(value, 0) if value else (values[-1][1] + 1 if values else 0)
        values.append((name, number))
    return values


def type_rows(header: Header, text: str, library: Unpaired, enums: dict[str, list[tuple[str, int]]]) -> list[list[str]]:
    """Return the rows of STEM_types.tsv."""
    rest = [MAJORS, "", "", "", "none", library.reason]
    rows = [[name, "enum", *rest] for name in enums]
    one = r"(?:[^{}]|\{[^{}]*\})*"  # a struct of structs and unions, of which one may hold another
    for body, name in re.findall(rf"typedef struct ?\w* ?\{{((?:[^{{}}]|\{{{one}\}})*)\}} ?(\w+) ?;", text):
        if re.match(library.types, name):
            rows.append(
                [name, "struct", MAJORS, body.strip().replace("_Alignas", "alignas"), "", "", "none", library.reason]
            )
    for name, (kind, definition) in library.definitions.items():
        if kind != "enum":
            rows.append([name, kind, MAJORS, definition, "", "", "none", library.reason])
    named = " ".join(parameters for _, parameters in header.functions.values())
    for name in sorted(set(re.findall(rf"\b{library.functions}\w+_t\b", named)) - {row[0] for row in rows}):
        rows.append([name, "handle", *rest])
    return rows


def derive(stem: str, package: Path) -> None:
    """Write the tables of one library from its unpacked package, with include/ and lib/."""
    library = LIBRARIES[stem]
    include = package / "include"
    text = preprocessed(include, library.header)
    header = read_header(include, library.header, library.functions)
    exported = exports(package / "lib" / library.soname, library.functions)
    demand = demand_of((library.demand,))
    numbers = macros(include / (library.version_header or library.header), library.macros)
    version = [value for name, value in numbers if re.search("MAJOR|MINOR|PATCH", name)] or _package_version(package)
    words = f"{library.title} {'.'.join(version)}"
    functions: list[list[str]] = []
    for name, kind, _ in exported:
        if kind == "function":
            result, parameters = header.functions.get(name, ("", ""))
            functions.append(
                [name, MAJORS, result, parameters, "=", "absent", *[""] * 6, str(demand.get(name, 0)), library.reason]
            )
    enums = enums_of(header, text, library)
    values = [["#define", name, value, "=", *[""] * 5] for name, value in numbers]
    for kind, constants in enums.items():
        values += [[kind, name, str(value), "=", *[""] * 5] for name, value in constants]
    tables: list[tuple[str, tuple[str, ...], list[list[str]]]] = [
        (f"{stem}.tsv", FUNCTION_COLUMNS, functions),
        (f"{stem}_types.tsv", TYPE_COLUMNS, type_rows(header, text, library, enums)),
        (f"{stem}_constants.tsv", CONSTANT_COLUMNS, values),
    ]
    if library.symbols:
        tables.append((f"{stem}_symbols.tsv", SYMBOL_COLUMNS, [list(row) for row in exported]))
    for name, columns, rows in tables:
        dated.write(DATA / name, words, ["\t".join(columns), *("\t".join(row) for row in rows)])


def _package_version(package: Path) -> list[str]:
    """Return the first three parts of the version of the wheel that was unpacked, where the header has none."""
    place = next(each for each in package.parents if list(each.glob("*.dist-info")))
    [folder] = place.glob("*.dist-info")
    return folder.name.removesuffix(".dist-info").split("-")[1].split(".")[:3]


def main() -> None:
    """Write the tables of a library: STEM and the folder of its unpacked package."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("stem", choices=LIBRARIES)
    parser.add_argument("package", type=Path, help="the package's folder, with include/ and lib/")
    given = parser.parse_args()
    derive(given.stem, given.package)


if __name__ == "__main__":
    main()

"""Write the tables of cuTENSOR from its header and its exports.

ROCm's hipTensor has another interface and is not paired, so all is absent there. The package is one for CUDA 12 and 13 each, of the same interface.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

from anywarp.catalogue import dated
from anywarp.catalogue.demand import demand_of
from anywarp.catalogue.derive_cudnn import Header, read_header
from anywarp.catalogue.rocm import CONSTANT_COLUMNS, DATA, FUNCTION_COLUMNS, SYMBOL_COLUMNS, TYPE_COLUMNS

REASON = "ROCm's hipTensor has another interface, which nobody has paired"
MAJORS = "12 13"


def symbols(library: Path) -> list[tuple[str, str, str]]:
    """Return what a library exports: name, `function` or `object`, and the version that the linker gives it."""
    command = ["readelf", "-W", "--dyn-syms", str(library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kinds = {"FUNC": "function", "OBJECT": "object"}
    found = re.finditer(r"(FUNC|OBJECT) +GLOBAL +DEFAULT +\d+ (cutensor\w+|CUTENSOR_\w+)@@(libcutensor\.[\d.]+)", text)
    return sorted((m[2], kinds[m[1]], m[3]) for m in found)


def macros(header: Path) -> list[tuple[str, str]]:
    """Return the parts of the version."""
    text = header.read_text(encoding="utf-8", errors="replace")
    return [
        (f"CUTENSOR_{part}", value)
        for part, value in re.findall(r"#\s*define CUTENSOR_(MAJOR|MINOR|PATCH) (\d+)", text)
    ]


def type_rows(header: Header, callbacks: dict[str, str]) -> list[list[str]]:
    """Return the rows of cutensor_types.tsv."""
    rows = [[name, "enum", MAJORS, "", "", "", "none", REASON] for name in header.enums if name.startswith("cutensor")]
    rows += [[name, "callback", MAJORS, text, "", "", "none", REASON] for name, text in callbacks.items()]
    named = " ".join(parameters for _, parameters in header.functions.values())
    for name in sorted(set(re.findall(r"\bcutensor\w+_t\b", named)) - {row[0] for row in rows}):
        rows.append([name, "handle", MAJORS, "", "", "", "none", REASON])
    return rows


def main() -> None:
    """Write the tables from the unpacked package cutensor-cu13."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("package", type=Path, help="the package's folder, with include/ and lib/")
    package: Path = parser.parse_args().package
    header = read_header(package / "include", "cutensor.h", "cutensor")
    exported = symbols(package / "lib/libcutensor.so.2")
    demand = demand_of(("libcutensor",))
    version = macros(package / "include/cutensor.h")
    words = f"cuTENSOR {'.'.join(value for _, value in version)}"
    functions: list[list[str]] = []
    for name, kind, _ in exported:
        if kind == "function":
            result, parameters = header.functions.get(name, ("", ""))
            functions.append(
                [name, MAJORS, result, parameters, "=", "absent", *[""] * 6, str(demand.get(name, 0)), REASON]
            )
    values = [["#define", name, value, "=", *[""] * 5] for name, value in version]
    for kind, constants in header.enums.items():
        if kind.startswith("cutensor"):
            values += [[kind, name, str(value), "=", *[""] * 5] for name, value in constants]
    callbacks = {
        "cutensorLoggerCallback_t": "void (*)(int32_t logLevel, const char *functionName, const char *message)"
    }
    for name, columns, rows in (
        ("cutensor.tsv", FUNCTION_COLUMNS, functions),
        ("cutensor_types.tsv", TYPE_COLUMNS, type_rows(header, callbacks)),
        ("cutensor_constants.tsv", CONSTANT_COLUMNS, values),
        ("cutensor_symbols.tsv", SYMBOL_COLUMNS, [list(row) for row in exported]),
    ):
        dated.write(DATA / name, words, ["\t".join(columns), *("\t".join(row) for row in rows)])


if __name__ == "__main__":
    main()

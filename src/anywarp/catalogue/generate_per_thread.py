"""Write the variants of libcuda's functions for programs whose null stream is the thread's own (`_ptsz`, `_ptds`).

The build runs it (`python generate_per_thread.py DATA HEADER OUTDIR`, with the standard library only). A variant calls the function
itself while `PerThreadDefault` says which stream is the null stream; it calls it as programs do, by a symbol that the linker sets
(`aw_base_NAME`), so that no second declaration of the function stands beside its own. How a parameter is passed follows from its type in HEADER, the
cuda.h that is made from the catalogue; a type of which the header says nothing stops the build.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

if __name__ == "__main__" and not __package__:  # run as a file by the build, where nothing is installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from anywarp.catalogue.generate_hip import as_answered, load_answers, signatures, split_parameters
from anywarp.catalogue.load import Table, TableError, load

_SCALARS = {"cuuint32_t": "uint32_t", "cuuint64_t": "uint64_t", "CUdevice": "CUdevice", "CUdeviceptr": "CUdeviceptr"}
_STRUCTURES = ("CUmemLocation",)
"""Structures that are passed by value; our cuda_api.h has them under their names."""
_C = frozenset("char short int long unsigned signed float double size_t".split())
_BASE = "aw_base_"
_HEAD = """// Made by anywarp/catalogue/generate_per_thread.py; change the tables instead.
#include "cuda/api.h"
#include "cuda/thread.h"

using namespace aw;
"""


def passed_types(header: str) -> Mapping[str, str]:
    """Return by name of a type of cuda.h what a value of it is passed as: `int` for enums, `void*` for handles and functions."""
    out = dict.fromkeys(re.findall(r"^typedef struct \w+ \*(\w+);", header, re.M), "void*")
    out |= dict.fromkeys(re.findall(r"^typedef \w+ \(\*(\w+)\)\(", header, re.M), "void*")
    out |= dict.fromkeys(re.findall(r"^typedef enum\s*\w*\s*\{[^}]*\} (\w+);", header, re.M), "int")
    aliases = re.findall(r"^typedef (\w+) (\w+);", header, re.M)
    for _ in range(3):  # an alias may stand before what it is an alias of
        out |= {name: out[target] for target, name in aliases if target in out}
    return out | _SCALARS | {name: name for name in _STRUCTURES}


def parameter(kind: str, passed: Mapping[str, str]) -> str:
    """Return the C++ type that passes a parameter of the C type `kind`; TableError for one that `passed` does not know."""
    plain = " ".join(word for word in kind.split() if word != "const")
    if plain.endswith("*"):
        return "void*"
    if set(plain.split()) <= _C:
        return plain
    if plain not in passed:
        raise TableError(f"cuda.h does not say how {kind!r} is passed")
    return passed[plain]


def variant(name: str, signature: str, passed: Mapping[str, str]) -> str:
    """Return the definition of the variant `name` of a function with the C parameters `signature`."""
    parameters = split_parameters(signature)
    typed = ", ".join(f"{parameter(kind, passed)} {argument}" for kind, argument in parameters)
    given, base = ", ".join(argument for _, argument in parameters), name.rpartition("_")[0]
    return (
        f'\nextern "C" CUresult {_BASE}{base}({typed});\nAW_EXPORT CUresult {name}({typed}) {{\n'
        f'  return api<"{name}">([&] {{\n    PerThreadDefault scope;\n    return {_BASE}{base}({given});\n  }});\n}}\n'
    )


def variants(table: Table, known: Mapping[str, str], passed: Mapping[str, str]) -> str:
    """Return a C++ file with every variant that the table serves."""
    return _HEAD + "".join(variant(name, known[name.rpartition("_")[0]], passed) for name in served(table))


def served(table: Table) -> list[str]:
    """Return the names of the variants that the table serves."""
    return [row.name for row in table.rows if row.per_thread and row.route == "custom"]


def symbols(table: Table) -> str:
    """Return a linker script that sets the symbols by which variants call; give it to the linker as an input file."""
    bases = sorted({name.rpartition("_")[0] for name in served(table)})
    return "/* what per-thread variants call */\n" + "".join(f"{_BASE}{base} = {base};\n" for base in bases)


def generate(data: Path, header: Path, directory: Path) -> list[Path]:
    """Write the files of both drivers into `directory`; returns those written."""
    table, known = load(data / "cuda.tsv"), signatures(data / "cuda_signatures.tsv")
    passed = passed_types(header.read_text(encoding="utf-8"))
    over_hip = as_answered(table, load_answers(data / "rocm" / "cuda_hip.tsv"))
    files = {
        "cuda_per_thread.cpp": variants(table, known, passed),
        "cuda_per_thread.ld": symbols(table),
        "hip_per_thread.cpp": variants(over_hip, known, passed),
        "hip_per_thread.ld": symbols(over_hip),
    }
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / name).write_text(content, encoding="utf-8")
    return [directory / name for name in files]


def main(arguments: Sequence[str]) -> int:
    """Run as a command: the catalogue's data, cuda.h, the output folder; returns the exit code."""
    if len(arguments) != 3:
        print("usage: generate_per_thread.py DATA HEADER DIRECTORY", file=sys.stderr)
        return 2
    generate(*map(Path, arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

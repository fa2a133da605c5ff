"""Write the tables that pair cuDNN 8 and 9 with MIOpen from the headers of both and the choices made by hand.

The build makes its headers, conversions and absent functions from these tables, so that no fact stands twice. Headers are read
after the preprocessor, which leaves facts and no words. Columns `_12` and `_13`, and majors 12 and 13, mean cuDNN 8 and 9 here.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anywarp.catalogue import dated
from anywarp.catalogue.demand import demand_of
from anywarp.catalogue.releases import having
from anywarp.catalogue.rocm import CONSTANT_COLUMNS, DATA, FUNCTION_COLUMNS, TYPE_COLUMNS

SOURCES = Path(__file__).resolve().parents[3] / "native" / "rocm" / "cudnn"
FIRST, LATER = having("miopen")
"""The releases of ROCm whose MIOpen is read."""
_STUBS = {
    "hip/hip_runtime_api.h": "typedef struct ihipStream_t* hipStream_t;\n",
    "hip/hip_version.h": "#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 4\n#define HIP_VERSION_PATCH 3\n",
    "cuda_runtime.h": "typedef struct CUstream_st* cudaStream_t; typedef struct CUgraph_st* cudaGraph_t;\n",
    "cuda_runtime_api.h": '#include "cuda_runtime.h"\n',
    "driver_types.h": "",
    "cuda.h": "typedef struct CUstream_st* CUstream;\n",
    "cuda_bf16.h": "",
    "cuda_fp16.h": "",
    "library_types.h": "typedef enum libraryPropertyType_t { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;\n",
}


@dataclass(frozen=True)
class Header:
    """What a preprocessed header declares: functions (result, parameters), enums (name, value) and bodies of structs."""

    functions: Mapping[str, tuple[str, str]]
    enums: Mapping[str, Sequence[tuple[str, int]]]
    structs: Mapping[str, str]


def preprocessed(include: Path, name: str) -> str:
    """Preprocess `name` of the folder `include`, with empty stand-ins for what it includes of CUDA and HIP."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in _STUBS.items():
            place = Path(folder) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        command = ["cc", "-E", "-P", "-x", "c", "-I", folder, "-I", str(include), str(include / name)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    return re.sub(r"\s+", " ", text)


def read_header(include: Path, name: str, prefix: str) -> Header:
    """Read what a header declares of names with a prefix, and its enums."""
    text = preprocessed(include, name)
    functions: dict[str, tuple[str, str]] = {}
    for match in re.finditer(rf"((?:const )?[A-Za-z_]\w*(?: ?\*)*) ?\b({prefix}\w+) ?\(([^()]*)\) ?;", text):
        functions[match[2]] = (match[1].replace(" *", "*"), re.sub(r" ?\* ?", "* ", match[3]).strip())
    known: dict[str, int] = {}
    enums = {m[2]: _constants(m[1], known) for m in re.finditer(r"typedef enum ?\w* ?\{([^}]*)\} ?(\w+) ?;", text)}
    structs = {m[2]: m[1].strip() for m in re.finditer(r"typedef struct ?\w* ?\{([^{}]*)\} ?(\w+) ?;", text)}
    return Header(functions, enums, {name: body for name, body in structs.items() if name.startswith(prefix)})


def _constants(body: str, known: dict[str, int]) -> list[tuple[str, int]]:
    """Return names and values of an enum; `known` are those of the enums before it, which it may name."""
    own: list[tuple[str, int]] = []
    last = -1
    for item in filter(None, (part.strip() for part in body.split(","))):
        name, _, value = (part.strip() for part in item.partition("="))
        last = last + 1 if not value else _value(value, known)
        known[name] = last
        own.append((name, last))
    return own


def _value(text: str, known: Mapping[str, int]) -> int:
    total = 0
    for term in re.split(r"[|+]", text.strip("() ")):
        number, _, shift = (part.strip() for part in term.partition("<<"))
        base = known[number] if number in known else int(number.rstrip("uU"), 0)
        total += base << int(shift or 0)
    return total


def served(folder: Path = SOURCES) -> set[str]:
    """Name the functions that the C++ sources define."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.cpp")))
    return set(re.findall(r"^AW_CUDNN(?:_VALUE\([^,]+, |\()(cudnn\w+)", text, re.M))


def choices(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Read the choices made by hand: (kind, name) to (target, reason)."""
    lines = [
        line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")
    ]
    return {(kind, name): (target, reason) for kind, name, target, reason in lines[1:]}


def _absence(name: str, chosen: Mapping[tuple[str, str], tuple[str, str]]) -> str:
    if ("function", name) in chosen:
        return chosen["function", name][1]
    for (kind, pattern), (_, reason) in chosen.items():
        if kind == "functions" and re.fullmatch(pattern, name):
            return reason
    raise SystemExit(f"{name} is neither defined nor absent with a reason: add a line to cudnn_choices.tsv")


def function_rows(
    old: Header, new: Header, exports: Sequence[set[str]], miopen: Header, later: Header, demand: Mapping[str, int]
) -> list[list[str]]:
    """Return the rows of cudnn.tsv."""
    chosen, ours = choices(DATA / "cudnn_choices.tsv"), served()
    rows: list[list[str]] = []
    for name in sorted(exports[0] | exports[1]):
        before, after = old.functions.get(name), new.functions.get(name)
        majors = " ".join(major for major, names in zip(("12", "13"), exports, strict=True) if name in names)
        result, parameters = before or after or ("int", "void")
        second = "" if name not in exports[1] else "=" if before and after == before else (after or ("", "void"))[1]
        route = "custom" if name in ours else "absent"
        target = chosen.get(("target", name), ("", ""))[0]
        reason = "" if route == "custom" else _absence(name, chosen)
        if target and target not in later.functions:
            raise SystemExit(f"{name}: MIOpen has no {target}")
        since = "" if not target or target in miopen.functions else LATER
        declared = later.functions.get(target, ("", ""))
        first = parameters if name in exports[0] else ""
        if not before and after:
            first, second = "", after[1]
        rows.append([name, majors, result, first, second, route, target, "MIOpen" if target else "", since, "",
                     *declared, str(demand.get(name, 0)), reason])  # fmt: skip
    return rows


def constant_rows(old: Header, new: Header, miopen: Header, later: Header) -> list[list[str]]:
    """Return the rows of cudnn_constants.tsv: values in both versions, and MIOpen's constant where one was chosen."""
    chosen = choices(DATA / "cudnn_choices.tsv")
    targets = {name: value for group in later.enums.values() for name, value in group}
    first = {name for group in miopen.enums.values() for name, _ in group}
    rows: list[list[str]] = []
    for kind in dict.fromkeys([*new.enums, *old.enums]):
        before, after = dict(old.enums.get(kind, ())), dict(new.enums.get(kind, ()))
        for name in dict.fromkeys([*after, *before]):
            target, reason = chosen.get(("constant", name), ("", ""))
            value, second = str(before.get(name, "")), str(after.get(name, ""))
            since = "" if not target or target in first else LATER
            rows.append([kind, name, value, "=" if value and value == second else second, target,
                         str(targets[target]) if target else "", since, "", reason])  # fmt: skip
    return rows


def type_rows(old: Header, new: Header, later: Header) -> list[list[str]]:
    """Return the rows of cudnn_types.tsv: enums, structs and handles, and what stands for them at MIOpen."""
    chosen = choices(DATA / "cudnn_choices.tsv")
    owner = {name: kind for kind, group in later.enums.items() for name, _ in group}
    rows: list[list[str]] = []
    for kind in dict.fromkeys([*new.enums, *old.enums]):
        names = [name for group in (old.enums.get(kind, ()), new.enums.get(kind, ())) for name, _ in group]
        kinds = {owner[target] for name in names if (target := chosen.get(("constant", name), ("",))[0])}
        if len(kinds) > 1:
            raise SystemExit(f"{kind} is paired with {' and '.join(sorted(kinds))}")
        target = next(iter(kinds), "")
        reason = "" if target else "read by our own code"
        rows.append(
            [kind, "enum", _majors(kind, old.enums, new.enums), "", target, "", "enum" if target else "none", reason]
        )
    for name in dict.fromkeys([*new.structs, *old.structs]):
        body = new.structs.get(name) or old.structs[name]
        rows.append(
            [name, "struct", _majors(name, old.structs, new.structs), body, "", "", "none", "filled by our own code"]
        )
    signatures = " ".join(text for header in (old, new) for _, text in header.functions.values())
    for name in sorted(set(re.findall(r"\bcudnn\w+_t\b", signatures)) - {row[0] for row in rows}):
        target = chosen.get(("handle", name), ("", ""))[0]
        kind = "callback" if "Callback" in name else "handle"
        rows.append([name, kind, "12 13", "", target, "", "handle" if target else "none", "an object of ours"])
    return rows


def _majors(name: str, old: Mapping[str, object], new: Mapping[str, object]) -> str:
    return " ".join(major for major, table in (("12", old), ("13", new)) if name in table)


def _write(name: str, words: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    dated.write(DATA / name, words, ["\t".join(columns), *("\t".join(row) for row in rows)])
    print(f"{name}: {len(rows)} rows")


def _version(package: Path, header: str, prefix: str, parts: int) -> str:
    """Return the first parts of a library's version as its header has it, without a patch level of 0."""
    text = (package / "include" / header).read_text(encoding="utf-8", errors="replace")
    found = [
        re.search(rf"#\s*define\s+{prefix}_{part}\w*\s+(\d+)", text) for part in ("MAJOR", "MINOR", "PATCH")[:parts]
    ]
    return ".".join(match[1] for match in found if match is not None and (match[1] != "0" or match is not found[-1]))


def _exports(library: Path) -> set[str]:
    text = subprocess.run(
        ["readelf", "-W", "--dyn-syms", str(library)], capture_output=True, text=True, check=True
    ).stdout
    return {m[1] for m in re.finditer(r"FUNC +GLOBAL +DEFAULT +\d+ (cudnn\w+)@", text)}


def main() -> None:
    """Write the tables from unpacked packages: nvidia-cudnn-cu12 of both versions and libmiopen-dev of both."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    for name in ("cudnn8", "cudnn9", "miopen-first", "miopen-later"):
        parser.add_argument(
            f"--{name}", type=Path, required=True, help="the package's folder, with include/ (and lib/)"
        )
    options = parser.parse_args()
    old, new = (read_header(path / "include", "cudnn.h", "cudnn") for path in (options.cudnn8, options.cudnn9))
    first, later = (
        read_header(path / "include", "miopen/miopen.h", "miopen")
        for path in (options.miopen_first, options.miopen_later)
    )
    exports = [_exports(options.cudnn8 / "lib/libcudnn.so.8"), _exports(options.cudnn9 / "lib/libcudnn.so.9")]
    demand = demand_of(("libcudnn",))
    eight, nine = (_version(p, "cudnn_version.h", "CUDNN", 3) for p in (options.cudnn8, options.cudnn9))
    three, four = (
        _version(p, "miopen/version.h", "MIOPEN_VERSION", 2) for p in (options.miopen_first, options.miopen_later)
    )
    words = f"cuDNN {eight} (columns _12) and {nine} (_13) and MIOpen {three} (ROCm {FIRST}) and {four} ({LATER})"
    _write("cudnn.tsv", words, FUNCTION_COLUMNS, function_rows(old, new, exports, first, later, demand))
    _write("cudnn_types.tsv", words, TYPE_COLUMNS, type_rows(old, new, later))
    _write("cudnn_constants.tsv", words, CONSTANT_COLUMNS, constant_rows(old, new, first, later))
    words = f"MIOpen's interface: {three} (ROCm {FIRST}) and {four} (ROCm {LATER})"
    rows = [[name, *later.functions[name], "" if name in first.functions else LATER, ""] for name in later.functions]
    _write("miopen.tsv", words, ("name", "result", "parameters", "since", "removed"), rows)
    known = {name for group in first.enums.values() for name, _ in group}
    values = [[kind, name, str(value), "" if name in known else LATER, ""]
              for kind, group in later.enums.items() if kind.startswith("miopen") for name, value in group]  # fmt: skip
    _write("miopen_constants.tsv", words, ("type", "name", "value", "since", "removed"), values)


if __name__ == "__main__":
    main()

"""Write the C++ that follows from the tables of cuDNN and MIOpen: both interfaces, conversions of enums, exports, absent functions.

The build runs it (`python generate.py DATA OUTDIR`, with the standard library only). Columns _12 and _13 mean cuDNN 8 and 9.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

MADE = "// Made by native/rocm/cudnn/generate.py; change the tables instead.\n"
Row = dict[str, str]
MIOPEN_STRUCTS = {"miopenConvAlgoPerf_t", "miopenConvSolution_t", "miopenTensorArgument_t"}


def read(path: Path) -> list[Row]:
    """Read a table of the catalogue."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("# ")]
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]


def enums(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Group constants by their type."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["type"], []).append(row)
    return groups


def value(row: Row) -> str:
    """Return a constant's value in cuDNN 9, or where only version 8 has it, there."""
    return row["value_12"] if row["value_13"] in ("", "=") else row["value_13"]


def parameters(row: Row) -> str:
    """Return the parameters of a function; both versions declare the same where both have it."""
    return row["parameters_12"] or row["parameters_13"]


def split(text: str) -> list[str]:
    """Split a parameter list."""
    return [] if text in ("", "void") else [part.strip() for part in text.split(",")]


def names(text: str) -> str:
    """Return a parameter list's names as arguments."""
    return ", ".join(re.findall(r"(\w+)\s*(?:\[\])?$", part)[0] for part in split(text))


def cudnn_header(functions: list[Row], types: list[Row], constants: list[Row]) -> str:
    """Return cudnn_api.h: types, and what serves each function of ours."""
    out = [MADE, "#pragma once", "#include <cstddef>", "#include <cstdint>", ""]
    out += ["using cudaStream_t = struct CUstream_st*;", "using cudaGraph_t = struct CUgraph_st*;"]
    for name, rows in enums(constants).items():
        listed = ", ".join(f"{row['name']} = {value(row)}" for row in rows)
        out.append(f"enum {name} : int {{ {listed} }};")
    out += [f"using {t['name']} = struct {t['name'][:-2]}_s*;" for t in types if t["kind"] == "handle"]
    for row in types:
        if row["kind"] == "callback":
            out.append(
                f"using {row['name']} = void (*)(cudnnSeverity_t, void*, const struct cudnnDebug_t*, const char*);"
            )
    out += [f"struct {t['name']} {{ {t['definition']} }};" for t in types if t["kind"] == "struct"]
    out += ["", "namespace aw::dnn {"]
    for row in functions:
        if row["route"] == "custom":
            result = "void" if row["result"] == "cudnnStatus_t" else row["result"]
            out.append(f"{result} serve_{row['name']}({parameters(row)});")
    return "\n".join([*out, "}  // namespace aw::dnn", ""])


def miopen_header(functions: list[Row], constants: list[Row]) -> str:
    """Return miopen_api.h: types, and every function as one line of a list."""
    groups = enums(constants)
    out = [MADE, "#pragma once", "#include <cstddef>", "#include <cstdint>", ""]
    for name, rows in groups.items():
        listed = ", ".join(f"{row['name']} = {row['value']}" for row in rows)
        out.append(f"enum {name} : unsigned {{ {listed} }};")
    text = " ".join(row["parameters"] for row in functions)
    opaque = sorted(set(re.findall(r"\bmiopen\w+_t\b", text)) - set(groups) - MIOPEN_STRUCTS)
    out += [
        f"using {name} = {'void*' if name == 'miopenAcceleratorQueue_t' else f'struct {name[:-2]}*'};"
        for name in opaque
    ]
    out += [
        "using miopenAllocatorFunction = void* (*)(void*, size_t);",
        "using miopenDeallocatorFunction = void (*)(void*, void*);",
    ]
    out += [
        '#include "rocm/cudnn/miopen_structs.h"',
        "",
        "// X(name, result, parameters)",
        "#define AW_MIOPEN_FUNCTIONS(X) \\",
    ]
    lines = [f"  X({r['name']}, {r['result']}, ({r['parameters'].replace('_Bool', 'bool')}))" for r in functions]
    return "\n".join([*out, " \\\n".join(lines), ""])


def conversions(types: list[Row], constants: list[Row]) -> tuple[str, str]:
    """Return the header and the source of conversions: `to_rocm` and `from_rocm` for each pair of enums, and the statuses."""
    header = [MADE, "#pragma once", '#include "cudnn_api.h"', '#include "miopen_api.h"', "namespace aw::dnn {"]
    source = [MADE, '#include "conversions.h"', '#include "rocm/cudnn/runtime.h"', "namespace aw::dnn {"]
    groups = enums(constants)
    for row in types:
        if row["conversion"] != "enum":
            continue
        name, target = row["name"], row["target"]
        rows = [f'{{{value(c)}, {c["target_value"] or -1}, "{c["name"]}", "{c["reason"]}"}}' for c in groups[name]]
        source.append(f"static const EnumPair pairs_{name}[] = {{{', '.join(rows)}}};")
        header.append(f"{target} to_rocm({name});")
        source.append(f'{target} to_rocm({name} v) {{ return {target}(to_rocm(pairs_{name}, v, "{name}")); }}')
        header.append(f"void from_rocm({target}, {name}*);")
        source.append(
            f'void from_rocm({target} v, {name}* to) {{ *to = {name}(from_rocm(pairs_{name}, int(v), "{name}")); }}'
        )
    statuses = [f'{{{value(c)}, {c["value_12"] or -1}, "{c["name"]}"}}' for c in groups["cudnnStatus_t"]]
    source.append(
        f"extern const StatusRow kStatuses[]; const StatusRow kStatuses[] = {{{', '.join(statuses)}, {{0, 0, nullptr}}}};"
    )
    return "\n".join([*header, "}", ""]), "\n".join([*source, "}", ""])


def exports(functions: list[Row]) -> str:
    """Return the exported functions: ours go through `run`, absent ones say so."""
    out = [
        MADE,
        '#include "cudnn_api.h"',
        '#include "rocm/cudnn/runtime.h"',
        "using namespace aw::dnn;",
        'extern "C" {',
    ]
    out.append('#define AW_OUT __attribute__((visibility("default")))')
    for row in functions:
        name, text = row["name"], parameters(row)
        if row["route"] == "absent":
            out.append(f'AW_OUT int {name}() {{ return absent("{name}", "{row["reason"]}"); }}')
        elif row["result"] != "cudnnStatus_t":
            out.append(f"AW_OUT {row['result']} {name}({text}) {{ return serve_{name}({names(text)}); }}")
        else:
            out.append(f"AW_OUT int {name}({text}) {{ static Site site(\"{name}\");"
                       f" return run(site, [&] {{ serve_{name}({names(text)}); }}); }}")  # fmt: skip
    return "\n".join([*out, "}", ""])


def main(data: Path, out: Path) -> None:
    """Write all files into `out`."""
    functions, types, constants = (read(data / f"cudnn{part}.tsv") for part in ("", "_types", "_constants"))
    files = {
        "cudnn_api.h": cudnn_header(functions, types, constants),
        "miopen_api.h": miopen_header(read(data / "miopen.tsv"), read(data / "miopen_constants.tsv")),
        "cudnn_exports.cpp": exports(functions),
    }
    files["conversions.h"], files["conversions.cpp"] = conversions(types, constants)
    for major, column in ((8, "12"), (9, "13")):
        listed = "".join(f" {row['name']};" for row in functions if column in row["majors"].split())
        files[f"cudnn_{major}.map"] = f"libcudnn.so.{major} {{ global:{listed} local: *; }};\n"
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

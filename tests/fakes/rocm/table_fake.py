"""Make a library that has the functions of a table, writes down each call field by field, and answers what a test can foresee.

The real libraries need a card. What can be shown without one is which calls reach them, with which arguments and in which order.
A call is one line of JSON in the file that FAKE_ROCM_LOG names. Objects that the library creates are numbered ("Tensor#1"), arrays are
written out where a parameter says how long they are, factors (alpha, beta) are read as floats, results of size are numbers that
follow from the function's name (`foreseen`).
"""

from __future__ import annotations

import re
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

COUNTS = ("nbDims", "spatialDim", "num_lens", "nDim")
"""Parameters that say how long the arrays of the same call are."""

PRELUDE = """#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static FILE* out(void) {
  static FILE* file;
  if (!file) file = fopen(getenv("FAKE_ROCM_LOG") ? getenv("FAKE_ROCM_LOG") : "/dev/null", "a");
  return file;
}
static void begin(const char* name) { fprintf(out(), "{\\"call\\": \\"%s\\"", name); }
static void end(void) { fprintf(out(), "}\\n"), fflush(out()); }
static void whole(const char* name, long long v) { fprintf(out(), ", \\"%s\\": %lld", name, v); }
static void large(const char* name, unsigned long long v) { fprintf(out(), ", \\"%s\\": %llu", name, v); }
static void real(const char* name, double v) { fprintf(out(), ", \\"%s\\": %.17g", name, v); }
static void factor(const char* name, const void* v) {
  float f;
  if (!v) { fprintf(out(), ", \\"%s\\": null", name); return; }
  memcpy(&f, v, sizeof f), real(name, f);
}
static void list(const char* name, const int* v, int n) {
  fprintf(out(), ", \\"%s\\": [", name);
  for (int i = 0; v && i < n; i++) fprintf(out(), "%s%d", i ? ", " : "", v[i]);
  fprintf(out(), "]");
}
struct made { char name[40]; uint64_t alive; };
static struct made* make(const char* kind) {
  static int numbers[64]; static const char* kinds[64];
  int k = 0;
  while (kinds[k] && strcmp(kinds[k], kind)) k++;
  kinds[k] = kind;
  struct made* m = calloc(1, sizeof *m);
  m->alive = 0xA11FEu, snprintf(m->name, sizeof m->name, "%s#%d", kind, ++numbers[k]);
  return m;
}
static void object(const char* name, const void* v) {
  const struct made* m = v;
  fprintf(out(), ", \\"%s\\": \\"%s\\"", name, !m ? "null" : m->alive == 0xA11FEu ? m->name : "INVALID");
}
"""


@dataclass(frozen=True)
class Function:
    """A function as a table declares it."""

    name: str
    result: str
    parameters: str


def read(table: Path, result: str = "result", parameters: str = "parameters") -> list[Function]:
    """Read the functions of a table of the catalogue."""
    lines = [line for line in table.read_text(encoding="utf-8").splitlines() if line and not line.startswith("# ")]
    names = lines[0].split("\t")
    rows = [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]
    return [Function(row["name"], row[result], row[parameters]) for row in rows]


def foreseen(function: str, parameter: str) -> int:
    """Return the number that the fake `function` writes to where `parameter` points: a size between 4096 and 69631."""
    return 4096 + zlib.crc32(f"{function}.{parameter}".encode()) % 65536


def source(functions: Sequence[Function], prefix: str, own: Mapping[str, str], more: str = "", types: str = "") -> str:
    """Return the library as C; `own` holds bodies that come after the writing, with all parameters in sight."""
    names = sorted(set(re.findall(rf"\b{prefix}\w+_t\b", " ".join(f"{f.result} {f.parameters}" for f in functions))))
    opaque = [name for name in names if f" {name};" not in types]
    parts = [
        PRELUDE,
        types,
        *(f"typedef void* {name};" if _is_handle(name, functions) else f"typedef unsigned {name};" for name in opaque),
        more,
    ]
    parts += [_function(f, own.get(f.name, ""), prefix, types) for f in functions]
    return "\n".join(parts)


def _is_handle(name: str, functions: Sequence[Function]) -> bool:
    made = {m for f in functions if re.search(r"Create|Init", f.name) for m in re.findall(r"(\w+_t)\*", f.parameters)}
    return name in made or "Queue" in name or "Solution_t" in name


def _function(function: Function, own: str, prefix: str, types: str) -> str:
    parameters = [] if function.parameters in ("", "void") else [p.strip() for p in function.parameters.split(",")]
    lines = [f"{function.result} {function.name}({function.parameters}) {{", f'  begin("{function.name}");']
    counts = [name for name in (_name(p) for p in parameters) if name in COUNTS]
    for text in parameters:
        lines.append("  " + _write(text, counts[0] if counts else "", prefix, types))
    lines.append("  end();")
    for text in parameters:
        name, kind = _name(text), _kind(text)
        if kind == "size_t*" and name not in own:
            lines.append(f"  if ({name}) *{name} = {foreseen(function.name, name)};")
        made = re.fullmatch(rf"({prefix}\w+_t)\*", kind)
        if made and "Create" in function.name:
            short = made[1].removeprefix(prefix).removesuffix("_t").removesuffix("Descriptor")
            lines.append(f'  *{name} = make("{short}");')
        if function.name.startswith(f"{prefix}Destroy") and not kind.endswith("*"):
            lines.append(f"  if ({name}) ((struct made*){name})->alive = 0;")
    if own:
        lines.append(own)
    if function.result == "const char*":
        lines.append('  return "an error of the fake";')
    elif function.result != "void":
        lines.append('  return getenv("FAKE_ROCM_FAIL") && !strcmp(getenv("FAKE_ROCM_FAIL"), __func__) ? 6 : 0;')
    return "\n".join([*lines, "}"])


def _name(text: str) -> str:
    return re.findall(r"\w+", text)[-1]


def _kind(text: str) -> str:
    return re.sub(r"\bconst\b", "", text[: text.rindex(_name(text))]).replace(" ", "")


def _write(text: str, count: str, prefix: str, types: str) -> str:
    name, kind = _name(text), _kind(text)
    if re.match(r"alpha|beta", name) and kind == "void*":
        return f'factor("{name}", {name});'
    if kind == "int*" and text.startswith("const") and count:
        return f'list("{name}", {name}, {count});'
    if kind.endswith("*"):
        return f'large("{name}", (unsigned long long)(uintptr_t){name});'
    if kind in ("float", "double"):
        return f'real("{name}", {name});'
    if (
        kind in ("int", "bool", "_Bool", "size_t", "uint64_t", "unsignedint", "unsigned", "unsignedlonglong")
        or f"enum_{kind}" in types
    ):
        return (
            f'large("{name}", (unsigned long long){name});'
            if kind in ("size_t", "uint64_t", "unsignedlonglong")
            else f'whole("{name}", {name});'
        )
    if kind == f"{prefix}AcceleratorQueue_t" or kind.endswith("Function"):
        return f'large("{name}", (unsigned long long)(uintptr_t){name});'
    if kind.endswith("Descriptor_t") or kind in (
        f"{prefix}Handle_t",
        f"{prefix}Problem_t",
        f"{prefix}FindOptions_t",
        f"{prefix}Solution_t",
        f"{prefix}OperatorArgs_t",
    ):
        return f'object("{name}", {name});'
    return f'whole("{name}", (long long){name});'


def build(text: str, path: Path) -> Path:
    """Compile the C `text` to the shared library `path`, whose name is its soname."""
    place = path.with_suffix(path.suffix + ".c")
    place.write_text(text, encoding="utf-8")
    command = ["cc", "-shared", "-fPIC", "-O0", "-w", f"-Wl,-soname,{path.name}", "-o", str(path), str(place)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return path

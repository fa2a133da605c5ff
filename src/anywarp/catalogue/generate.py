"""Write the C++ that follows from a table of functions: absent functions, entry points, exports.

The build runs it (`python generate.py cuda.tsv OUTDIR`, with the standard library only), so that no function is listed twice.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__" and not __package__:  # run as a file by the build, where nothing is installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from anywarp.catalogue.load import Row, Table, load

NOT_SUPPORTED = {"cuda": 801, "nvml": 3}
"""By table: the code that its library returns for what it cannot do."""

QUIET = ("nvml",)
"""Tables of libraries whose clients expect that answer of some devices, so that nothing is said about it."""

_MADE = "// Made by anywarp/catalogue/generate.py; change the table instead.\n"

_HEADER = """#pragma once

#include <cstddef>

// One variant of one function that programs look up by base name, version and stream flag.
struct aw_entry {
  const char* name;  // base name, e.g. "cuMemAlloc"
  int version;       // the CUDA version that brought this variant, e.g. 3020
  int per_thread;    // 1 for the variant that uses the per-thread default stream
  void* function;
  int absent;        // 1 when it only says that it is not supported
};

// In order of name, then per_thread, then version.
extern const aw_entry aw_entries[];
extern const std::size_t aw_entry_count;
"""


def absent_functions(table: Table, code: int, reporter: str = "report_absent") -> str:
    """Return a C++ file that defines every absent function; each gives itself to `reporter` and returns `code`."""
    lines = [
        _MADE,
        "namespace aw {",
        f"void {reporter}(const char* name, const char* reason);",
        "}",
        "",
        "#define AW_ABSENT(name, reason) \\",
        '  extern "C" __attribute__((visibility("default"))) int name() { \\',
        f"    aw::{reporter}(#name, reason); \\",
        f"    return {code}; \\",
        "  }",
        "",
        *(f"AW_ABSENT({row.name}, {_text(row.reason)})" for row in table.rows if row.route == "absent"),
    ]
    return "\n".join(lines) + "\n"


def entry_points(table: Table, header: str) -> str:
    """Return a C++ file with the table of entry points declared in `header`."""
    rows = sorted(table.rows, key=_entry_order)
    lines = [
        f'{_MADE}#include "{header}"',
        "",
        'extern "C" {',
        *(f"void {row.name}();" for row in rows),
        "}",
        "",
        "#define AW_ENTRY(base, version, per_thread, symbol, absent) \\",
        "  {#base, version, per_thread, reinterpret_cast<void*>(&symbol), absent},",
        "",
        "const aw_entry aw_entries[] = {",
        *(
            f"    AW_ENTRY({row.base}, {row.since}, {int(row.per_thread)}, {row.name}, {int(row.route == 'absent')})"
            for row in rows
        ),
        "};",
        "const std::size_t aw_entry_count = sizeof(aw_entries) / sizeof(aw_entries[0]);",
    ]
    return "\n".join(lines) + "\n"


def _entry_order(row: Row) -> tuple[str, bool, int]:
    return row.base, row.per_thread, row.since


def exports(table: Table) -> str:
    """Return a linker version script that exports the functions of the table, and ours (docs/contracts.md), and nothing else."""
    return (
        "{\n  global:\n"
        + "".join(f"    {row.name};\n" for row in table.rows)
        + "    anywarp_*;\n  local:\n    *;\n};\n"
    )


def aliases(table: Table) -> str:
    """Return a linker script that defines the aliases; give it to the linker as an input file."""
    return "/* aliases */\n" + "".join(f"{r.name} = {r.target};\n" for r in table.rows if r.route == "alias")


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def generate(path: Path, directory: Path) -> list[Path]:
    """Write the files for the table at `path` into `directory`; returns those written."""
    table, stem = load(path), path.stem
    files = {
        f"{stem}_absent.cpp": absent_functions(
            table, NOT_SUPPORTED[stem], "count_absent" if stem in QUIET else "report_absent"
        ),
        f"{stem}_entries.h": _MADE + _HEADER,
        f"{stem}_entries.cpp": entry_points(table, f"{stem}_entries.h"),
        f"{stem}_exports.map": exports(table),
        f"{stem}_aliases.ld": aliases(table),
    }
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / name).write_text(content, encoding="utf-8")
    return [directory / name for name in files]


def main(arguments: Sequence[str]) -> int:
    """Run as a command: TABLE DIRECTORY; returns the exit code."""
    if len(arguments) != 2:
        print("usage: generate.py TABLE DIRECTORY", file=sys.stderr)
        return 2
    generate(Path(arguments[0]), Path(arguments[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Write the library that passes every call of the driver interface on: a few instructions for each function, which need no signature.

The build runs it: `python generate.py cuda.tsv OUTPUT_DIRECTORY`. The arguments of some functions go into the trace; where they lie
follows from their sizes.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))

from anywarp.catalogue.load import load  # noqa: E402
from anywarp.runtime.trace_arguments import sizes  # noqa: E402

SPARE = 1024
"""Places for functions that only cuGetProcAddress knows."""

MADE = "Made by native/trace/generate.py."


def thunks(names: list[str]) -> str:
    """Return the assembly: each function loads its number and goes to the common part."""
    lines = [f"# {MADE}", ".text"]
    for number, name in enumerate([*names, *(f"aw_spare_{i}" for i in range(SPARE))]):
        lines += [f".globl {name}", f".type {name}, @function", ".p2align 4", f"{name}:", "  endbr64",
                  f"  movl ${number}, %eax", "  jmp aw_forward_common", f".size {name}, .-{name}"]  # fmt: skip
    return "\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""])


def table(names: list[str]) -> str:
    """Return the names, in order, with the sizes of their arguments, and the addresses of the thunks."""
    rows = [f'    {{"{name}", "{sizes(name)}", {name}}},' for name in names]
    declared = [f"void {name}();" for name in [*names, *(f"aw_spare_{i}" for i in range(SPARE))]]
    spare = [f"    aw_spare_{i}," for i in range(SPARE)]
    return "\n".join(
        [f"// {MADE}", 'extern "C" {', *declared, "}", "namespace aw::forward {", "const Function kFunctions[] = {", *rows,
         "};", "void (*const kSpare[])() = {", *spare, "};", "}", ""]
    )  # fmt: skip


def main(source: Path, directory: Path) -> None:
    """Write the files."""
    names = [row.name for row in load(source).rows]
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "forward_thunks.S").write_text(thunks(names), encoding="utf-8")
    (directory / "forward_table.inc").write_text(table(names), encoding="utf-8")
    exports = (
        "{\n  global:\n"
        + "".join(f"    {name};\n" for name in names)
        + "    anywarp_activity_*;\n  local:\n    *;\n};\n"
    )
    (directory / "forward_exports.map").write_text(exports, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

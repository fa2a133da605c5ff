"""Write what follows from exports.txt: the functions of CUPTI that nothing here implements, and the map of exported symbols.

The build runs it: `python generate.py MAJOR OUTPUT_DIRECTORY`. A function is implemented when a source beside this file defines it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOT_SUPPORTED = 27
DEFINED = re.compile(r"^(?:AW_CUPTI|extern \"C\" .*? int) (\w+)\(", re.MULTILINE)


def exported(major: int) -> list[str]:
    """Return the names that NVIDIA's library of this major exports."""
    lines = (HERE / "exports.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return [name for name, *majors in rows if str(major) in majors]


def implemented() -> set[str]:
    """Return the names that our sources define."""
    return {name for path in HERE.glob("*.cpp") for name in DEFINED.findall(path.read_text(encoding="utf-8"))}


def main(major: int, directory: Path) -> None:
    """Write the absent functions and the map of exports of one major."""
    names, ours = exported(major), implemented()
    reason = (
        "it asks for counters and samples of an NVIDIA GPU's hardware, or comes from an interface that is not served"
    )
    absent = [
        f'extern "C" __attribute__((visibility("default"))) int {name}() {{\n'
        f'  aw::report_absent("{name}", "{reason}");\n  return {NOT_SUPPORTED};\n}}\n'
        for name in names
        if name not in ours
    ]
    head = "// Made by native/cupti/generate.py.\nnamespace aw {\nvoid report_absent(const char* name, const char* reason);\n}\n"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"cupti_absent_{major}.cpp").write_text(head + "\n".join(absent), encoding="utf-8")
    node = (
        f"libcupti.so.{major} {{\n  global:\n" + "".join(f"    {name};\n" for name in names) + "  local:\n    *;\n};\n"
    )
    (directory / f"cupti_exports_{major}.map").write_text(node, encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))

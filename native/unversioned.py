"""Write the source of a library without a version in its name: `unversioned.py NM LIBRARY OUTPUT`.

Who links with `-lcuda` needs a library of that name with all symbols. Its name within is that of the library with the version, which therefore is
what a program that was linked with it asks for, as with the stubs of NVIDIA's toolkit. It is no filter of the other (ld's `--filter`): when a
filter is opened, glibc 2.36 does not find the unwinding tables of the library behind it, and every exception in there aborts.
"""

import subprocess
import sys
from pathlib import Path


def main(nm: str, library: str, output: str) -> None:
    """List the functions that a library exports, and define them so that nobody gets beyond them."""
    listed = subprocess.run(
        [nm, "-D", "--defined-only", "-P", library], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in listed.splitlines()]
    names = sorted({row[0].partition("@")[0] for row in rows if row[1] in "TWi"})
    if not names:
        raise SystemExit(f"{library} exports no functions")
    head = '// Made by native/unversioned.py.\n#define AW(name) [[gnu::visibility("default")]] void name() { __builtin_trap(); }\n'
    body = "".join(f"AW({name})\n" for name in names)
    Path(output).write_text(f'{head}extern "C" {{\n{body}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The identity of the compiler: a hash over the sources that decide what a kernel compiles to.

It is part of each cache key, so that a changed compiler never serves what an older one made. `scripts/build` and the wheel
write it beside libcuda.so.1 for programs that are started without `anywarp run` (docs/contracts.md, section 2).
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from anywarp import settings

PACKAGE = Path(__file__).resolve().parents[1]
COMPILED_BY = ("ptx", "compiler", "devices")
FILE_NAME = "build_id"


def build_id() -> str:
    """Return the identity in force: what the environment says, else that of the sources of this installation."""
    return settings.BUILD_ID.get() or of_sources(PACKAGE)


def of_sources(package: Path) -> str:
    """Return 16 hex digits over the paths and contents of the compiler's Python sources below `package`."""
    digest = hashlib.sha256()
    for room in COMPILED_BY:
        for path in sorted((package / room).rglob("*.py")):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(package).as_posix()}\n{len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def main() -> None:
    """Write the identity of the sources into the directory given, under the name that the native libraries read."""
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    (place / FILE_NAME).write_text(of_sources(PACKAGE) + "\n")


if __name__ == "__main__":
    main()

"""The identity of the compiler: a hash over what decides what a kernel compiles to, our sources and the release of LLVM.

It is part of each cache key and of the name of the service's socket, so that a changed compiler never serves what an older one
made. `scripts/build` and the wheel write it beside libcuda.so.1 for programs that are started without `anywarp run`
(docs/contracts.md, section 2); the compile service brings it up to date there, since a wheel is made before it is known with
which LLVM it will be used.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from anywarp import settings

PACKAGE = Path(__file__).resolve().parents[1]
COMPILED_BY = ("ptx", "compiler", "devices", "toolchain", "runtime/modules.py", "runtime/translation.py")
NOT_OURS = frozenset({"__pycache__", "include"})
"""Folders that are left out: bytecode, and headers for CUDA C++, whose state is kept with each result (contracts, section 1)."""
FILE_NAME = "build_id"


def build_id() -> str:
    """Return the identity in force: what the environment says, else that of this installation."""
    return settings.BUILD_ID.get() or of_installation(PACKAGE)


def of_installation(package: Path) -> str:
    """Return 16 hex digits over the paths and contents of the compiler's files below `package`, and llvmlite's version."""
    digest = hashlib.sha256(f"llvmlite {_version('llvmlite')}\n".encode())
    for room in COMPILED_BY:
        for path in _files(package / room):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(package).as_posix()}\n{len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def bring_up_to_date(folder: Path) -> None:
    """Write the identity of this installation into `folder` anew, if another is written there."""
    if (folder / FILE_NAME).is_file():
        write(folder, of_installation(PACKAGE))


def write(folder: Path, identity: str) -> None:
    """Write the identity into `folder`, under the name that the native libraries read; readers see the old file or the new one."""
    place = folder / FILE_NAME
    with contextlib.suppress(OSError):
        if place.read_text() == f"{identity}\n":
            return
    folder.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f"{FILE_NAME}.{os.getpid()}")
    try:
        beside.write_text(f"{identity}\n")
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def _version(package: str) -> str:
    """Return a package's version, and "" for one that is not there (where a wheel is built, say)."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _files(room: Path) -> Iterator[Path]:
    if room.is_file():
        yield room
        return
    for path in sorted(room.rglob("*")):
        if path.is_file() and not NOT_OURS.intersection(path.relative_to(room).parts):
            yield path


def main() -> None:
    """Write the identity of this installation into the directory given."""
    write(Path(sys.argv[1]), of_installation(PACKAGE))


if __name__ == "__main__":
    main()

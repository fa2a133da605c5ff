"""What is installed of a package, read from its files: it is not imported. Only the standard library is at hand in a program's own environment."""

from __future__ import annotations

import mmap
import re
import struct
import sys
from collections.abc import Sequence
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from anywarp.frameworks.neighbours.neighbour import Found

_VERSION = re.compile(r"^__version__\s*=\s*['\"]([\w.+!-]{1,60})['\"]", re.MULTILINE)
_FATBIN, _ENTRY = struct.Struct("<IHHQ"), struct.Struct("<HHIQ")
_MAGIC, _PTX = struct.pack("<I", 0xBA55ED50), 1
_MOST_ENTRIES = 1 << 16


def look(name: str, distributions: Sequence[str], oldest: tuple[int, ...], kernels: Sequence[str]) -> Found:
    """Say what is installed of package `name`, which one of `distributions` brings; `kernels` are patterns of its libraries for cards, from where packages lie.

    Broken is what is half there, older than `oldest`, or of two versions at once.
    """
    spec, said = _spec(name), _recorded(distributions)
    folder = Path(spec.origin).parent if spec is not None and spec.origin else None
    if folder is None:
        if not said and (spec is None or not _left_over(spec, name)):
            return Found("absent", "", "is not installed")
        return Found(
            "broken", said, "is half installed: its files or its record are missing; install it again or remove it"
        )
    own = _own_version(folder)
    if said and own and _release(said) != _release(own):
        return Found(
            "broken", said, f"is of two versions, {said} by its record and {own} by its files; install it again"
        )
    version = own or said
    if version and _numbers(version) < oldest:
        wanted = ".".join(map(str, oldest))
        return Found("broken", version, f"{version} is too old: {wanted} or newer is served")
    libraries = [path for pattern in kernels for path in sorted(folder.parent.glob(pattern))]
    if kernels and not any(has_ptx(path) for path in libraries):
        why = "has kernels in machine code for NVIDIA's cards alone" if libraries else "has no compiled kernels"
        return Found("machine code", version, f"{version or 'of an unknown version'} {why}")
    return Found("usable", version, f"{version or 'of an unknown version'} is installed")


def has_ptx(path: Path) -> bool:
    """Tell whether a library carries PTX: an entry of its kind in one of its fat binaries (CUDA Binary Utilities)."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.find(_MAGIC)
            while at >= 0:
                if _PTX in _kinds(data, at):
                    return True
                at = data.find(_MAGIC, at + 4)
    except (OSError, ValueError):
        return False
    return False


def _kinds(data: mmap.mmap, at: int) -> set[int]:
    """Return the kinds of the entries of the fat binary at an offset; what does not fit into the file ends it."""
    found: set[int] = set()
    if at + _FATBIN.size > len(data):
        return found
    _, _, head, size = _FATBIN.unpack_from(data, at)
    at, end = at + head, min(len(data), at + head + size)
    for _ in range(_MOST_ENTRIES):
        if at + _ENTRY.size > end:
            break
        kind, _, head, size = _ENTRY.unpack_from(data, at)
        found.add(kind)
        if head < _ENTRY.size:
            break
        at += head + size
    return found


def _spec(name: str) -> ModuleSpec | None:
    return PathFinder.find_spec(name, sys.path)


def _left_over(spec: ModuleSpec, name: str) -> bool:
    """Tell whether a folder without __init__.py is what is left of a package: it has Python files or libraries below."""
    places = [Path(each) for each in spec.submodule_search_locations or ()]
    return any(True for place in places if "site-packages" in place.parts for _ in place.rglob("*.py"))


def _recorded(distributions: Sequence[str]) -> str:
    """Return the version that is on record of the first distribution there is; "" without one."""
    for name in distributions:
        context = metadata.DistributionFinder.Context(name=name, path=sys.path)
        for found in metadata.MetadataPathFinder.find_distributions(context):  # what lies there, and no answer of ours
            try:
                return str(found.version or "of an unknown version")
            except (
                Exception
            ):  # a record without METADATA, or a damaged one: importlib.metadata promises no kind of error
                return "of an unknown version"
    return ""


def _own_version(folder: Path) -> str:
    for file in ("__init__.py", "version.py", "_version.py"):
        try:
            match = _VERSION.search((folder / file).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if match:
            return match.group(1)
    return ""


def _release(version: str) -> str:
    return version.partition("+")[0]


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, match.group().split("."))) if match else (sys.maxsize,)

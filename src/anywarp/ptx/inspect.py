"""What GPU code a file carries and which of its kernels can run here.

Whether a library can be used at all depends on the PTX its maker shipped; this answers it without running anything.
"""

from __future__ import annotations

import mmap
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.ptx import codes, elf, fatbin
from anywarp.ptx.carried import Carried, carried
from anywarp.ptx.index import ModuleIndex, index_module
from anywarp.ptx.isa.registry import supports

MEMBER_LIMIT = 4 << 30
"""Most bytes one file of an archive may have when unpacked."""
RATIO_LIMIT = 200
"""Most times a file of an archive may be larger than its compressed form; libraries stay below 20."""

Progress = Callable[[int, int], None]
Key = tuple[str, str, tuple[int, int], str]


@dataclass(slots=True)
class Kernel:
    """A kernel of one library: its SASS targets, the best target it has PTX for, and what that PTX needs and we lack."""

    name: str
    sass: set[str] = field(default_factory=set[str])
    ptx: str = ""
    arch: int = -1
    lacks: tuple[str, ...] = ()

    @property
    def runs(self) -> bool:
        """Tell whether the kernel can be run from its PTX."""
        return bool(self.ptx) and not self.lacks


@dataclass(slots=True)
class Part:
    """One library, executable or image: its kernels, and its images counted by kind, target, version and compression."""

    name: str
    images: Counter[Key] = field(default_factory=Counter[Key])
    names: dict[Key, set[str]] = field(default_factory=dict[Key, set[str]])
    kernels: dict[str, Kernel] = field(default_factory=dict[str, Kernel])
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    runtime: Carried = ""
    """Whether NVIDIA's runtime is linked into it statically."""

    def missing(self) -> Counter[str]:
        """Count, for each thing that we lack, the kernels that need it."""
        return Counter(thing for kernel in self.kernels.values() for thing in kernel.lacks)

    def counts(self) -> dict[str, int]:
        """Count kernels: all, with PTX, that run, that need what we lack, and with SASS only."""
        kernels = self.kernels.values()
        return {
            "kernels": len(self.kernels),
            "with_ptx": sum(bool(k.ptx) for k in kernels),
            "run": sum(k.runs for k in kernels),
            "blocked": sum(bool(k.lacks) for k in kernels),
            "sass_only": sum(not k.ptx for k in kernels),
        }

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        return {
            "name": self.name,
            **self.counts(),
            "runtime": self.runtime or None,
            "images": [
                {
                    "kind": kind,
                    "target": target,
                    "ptx_version": f"{version[0]}.{version[1]}" if kind == "ptx" else None,
                    "compression": compression,
                    "images": count,
                    "kernels": len(self.names[kind, target, version, compression]),
                }
                for (kind, target, version, compression), count in sorted(self.images.items(), key=_by_arch)
            ],
            "missing": dict(self.missing().most_common()),
            "details": [
                {"name": k.name, "sass": sorted(k.sass), "ptx": k.ptx or None, "runs": k.runs, "lacks": list(k.lacks)}
                for k in self.kernels.values()
            ],
            "problems": [p.as_json() for p in self.problems],
        }


def inspect_file(
    path: Path, progress: Progress = lambda done, total: None, supplied: frozenset[str] = frozenset()
) -> list[Part]:
    """Look into a wheel, library, executable, fat binary, cubin or PTX file; a library without GPU code gives no part.

    `progress` is called with the bytes done and in all; `supplied` names the device functions that the runtime has. Raises AnywarpError when the file as a whole cannot be read; damage
    in one image or library is kept among the problems of its part.
    """
    with _content(path) as data:
        if bytes(data[:4]) != b"PK\x03\x04":
            return [
                part
                for part in [_part(path.name, data, supplied, progress)]
                if part.images or part.problems or part.runtime
            ]
        return _archive(path, progress, supplied)


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of a file, or of each member of a zip archive (a wheel) that can hold GPU code.

    Raises AnywarpError for what cannot be read.
    """
    with _content(path) as data:
        if bytes(data[:4]) != b"PK\x03\x04":
            yield path.name, bytes(data)
            return
    yield from _members(path)


def _archive(path: Path, progress: Progress, supplied: frozenset[str]) -> list[Part]:
    """Look into the files of a zip archive that are ELF files or GPU images."""
    parts = [_tried(name, content, supplied) for name, content in _members(path, progress)]
    return [part for part in parts if part.images or part.problems or part.runtime]


def _members(path: Path, progress: Progress = lambda done, total: None) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file of a zip archive that can hold GPU code."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if not m.is_dir()]
            total, done = sum(m.compress_size for m in members), 0
            for member in members:
                content = _member(archive, member)
                if content is not None:
                    yield member.filename, content
                done += member.compress_size
                progress(done, total)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise codes.problem(codes.DAMAGED_ARCHIVE, f"the archive {path.name} cannot be read: {error}") from error


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | None:
    """Return a member's content if it can hold GPU code."""
    with archive.open(member) as opened:
        start = opened.read(4)
        magic = int.from_bytes(start, "little")
        known = start == elf.MAGIC or magic in (fatbin.FATBIN_MAGIC, fatbin.WRAPPER_MAGIC)
        if not known and not member.filename.endswith(".ptx"):
            return None
        if member.file_size > min(MEMBER_LIMIT, RATIO_LIMIT * member.compress_size + (1 << 20)):
            message = (
                f"{member.filename[:200]} claims to unpack from {member.compress_size} to {member.file_size} bytes"
            )
            raise codes.problem(codes.TOO_LARGE, message, help="this is no ordinary package; do not trust it")
        return start + opened.read(member.file_size)


def _tried(name: str, content: bytes, supplied: frozenset[str]) -> Part:
    """Look into one file of an archive; one that cannot be read becomes a part with a problem."""
    try:
        return _part(name, memoryview(content), supplied)
    except AnywarpError as error:
        return Part(name, problems=[error.diagnostic])


def _part(name: str, data: memoryview, supplied: frozenset[str], progress: Progress = lambda done, total: None) -> Part:
    """Look into every image of one file."""
    part = Part(name, runtime=_runtime(data))
    found = list(fatbin.images(data))
    total, done = sum(len(i.stored) for i in found), 0
    for image in found:
        key = (image.kind, image.target, image.version, image.compression)
        part.images[key] += 1
        part.names.setdefault(key, set())
        try:
            part.names[key].update(_kernels(part, image, supplied))
        except AnywarpError as error:
            part.problems.append(error.diagnostic)
        done += len(image.stored)
        progress(done, total)
    return part


def _runtime(data: memoryview) -> Carried:
    """Return how NVIDIA's runtime is linked into a file; a file that needs the shared one carries none."""
    if bytes(data[:4]) != elf.MAGIC:
        return ""
    try:
        read = elf.read(data)
    except AnywarpError:
        return ""  # damaged tables are told where its images are looked for
    needed = read.section(".dynstr")
    return "" if needed is not None and b"libcudart.so" in bytes(needed) else carried(read)


def _kernels(part: Part, image: fatbin.Image, supplied: frozenset[str]) -> tuple[str, ...]:
    """Enter an image's kernels into the part and return their names."""
    if image.kind == "cubin":
        names = fatbin.kernels(image.payload())
        for name in names:
            part.kernels.setdefault(name, Kernel(name)).sass.add(image.target)
        return names
    if image.kind != "ptx":
        return ()
    index = index_module(image.payload(), f"{part.name} ({image.target} PTX)")
    for name in index.entries:
        kernel = part.kernels.setdefault(name, Kernel(name))
        if image.arch > kernel.arch:
            kernel.arch, kernel.ptx = image.arch, image.target
            kernel.lacks = lacks(index, name, supplied)
    return index.entries


def lacks(index: ModuleIndex, name: str, supplied: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return what the function `name`, with all that it calls in its module, needs and we lack.

    These are instruction forms, and kinds of calls that cannot be compiled; `supplied` names the functions that the runtime has.
    """
    found: set[str] = set()
    calls: dict[str, list[str]] = {}
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in calls:
            found.update(form for form in index.opcodes(current) if not _supported(form))
            calls[current] = _calls(index, current, supplied, found)
            waiting += calls[current]
    return tuple(sorted(found))


def _calls(index: ModuleIndex, name: str, supplied: frozenset[str], found: set[str]) -> list[str]:
    """Return the functions of the module that `name` calls, adding to `found` the calls that cannot be made."""
    if all(f.header.kind == "entry" for f in index.functions.values()):
        return []
    callees = index.callees(name)
    inside: list[str] = []
    for callee in callees:
        entry = index.functions.get(callee)
        if entry is not None and entry.body is not None:
            inside.append(callee)
        elif entry is not None and callee not in supplied:
            found.add(f"call {callee} (not defined)")
    return [*inside, *(n for n in index.pointed_to(name) if index.functions[n].body is not None)]


def _supported(form: str) -> bool:
    opcode, *modifiers = form.split(".")
    return supports(opcode, tuple(modifiers))


@contextmanager
def _content(path: Path) -> Generator[memoryview]:
    """Map a file into memory. Raises AnywarpError for what is no ordinary file."""
    with ExitStack() as stack:
        try:
            if not path.is_file():
                raise OSError("not an ordinary file")
            opened = stack.enter_context(path.open("rb"))
            empty = path.stat().st_size == 0
            mapped = b"" if empty else mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror or error}"
            raise codes.problem(codes.UNREADABLE, message) from error
        yield memoryview(mapped)


def _by_arch(item: tuple[Key, int]) -> tuple[str, int, str]:
    kind, target = item[0][:2]
    return kind, int("".join(c for c in target if c.isdigit()) or 0), target

"""What an image holds, as far as the layer upon it must know: interpreters of Python, the C library, shared libraries.

Layers are read as streams, lowest first, and nothing is unpacked to disk. What a later layer removes (whiteouts) or puts in the place
of something is gone. Links are followed inside the image only, as the container would.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import posixpath
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, cast

import zstandard

from anywarp.deploy.image import codes
from anywarp.deploy.image.headers import BoundedInfo
from anywarp.deploy.image.layout import CHUNK, Descriptor, Layout, chunks
from anywarp.migrate.shown import shorten

EXPANDS, _FIRST = 200, 1 << 30
"""How many times its size a layer may expand, beyond the first gibibyte; real ones expand two to four times."""
MOST_ENTRIES = 3_000_000
_MOST_LINKS = 40
_LIBRARY = re.compile(r"\.so(?:\.[\w.]+)?$")
_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?$")
_STDLIB = "/ctypes/__init__.py"
"""A part of the standard library that minimal packages of Python leave out."""
_READ = ("libc.so.6", "libc-2.", "libstdc++.so.6")
_LARGEST_READ = 32 << 20
_METADATA = re.compile(r"(?:site|dist)-packages/(?:[^/]+\.dist-info/(?:METADATA|RECORD)|torch/version\.py)$")
_MOST_METADATA = 512 << 20
_LIBC = re.compile(rb"GNU C Library [^\n]{0,80}?release version (\d+)\.(\d+)")
_CXX = re.compile(rb"GLIBCXX_(\d+)\.(\d+)\.(\d+)")
_ERRORS = (tarfile.TarError, zlib.error, zstandard.ZstdError, EOFError, OSError, ValueError, OverflowError)

WHITEOUT, OPAQUE = ".wh.", ".wh..wh..opq"


@dataclass(slots=True)
class Contents:
    """The files of interest of an image, by path without a leading slash: links with where they lead, others with ""."""

    links: dict[str, str] = field(default_factory=dict[str, str])
    files: dict[str, str] = field(default_factory=dict[str, str])
    """Interpreters and shared libraries; the value is what `_fact` found in their content."""
    metadata: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """METADATA and RECORD of installed packages of Python, and what says for whose cards a torch is built, where these are asked for."""

    def resolve(self, path: str) -> str:
        """Return the path of what a path leads to, every link on the way followed; "" for a circle."""
        parts = [part for part in path.split("/") if part not in ("", ".")]
        done: list[str] = []
        followed = 0
        while parts:
            part = parts.pop(0)
            if part == "..":
                done = done[:-1]
                continue
            done.append(part)
            target = self.links.get("/".join(done))
            if target is None:
                continue
            followed += 1
            if followed > _MOST_LINKS:
                return ""
            parts = [one for one in target.split("/") if one not in ("", ".")] + parts
            done = [] if target.startswith("/") else done[:-1]
        return "/".join(done)

    def is_file(self, path: str) -> bool:
        """Tell whether a path leads to a file of interest."""
        return self.resolve(path) in self.files

    def libraries(self) -> set[str]:
        """Return the file names of the shared libraries, links to them included."""
        names = {posixpath.basename(path) for path in self.files}
        return names | {posixpath.basename(path) for path in self.links if _LIBRARY.search(path) and self.is_file(path)}

    def facts(self, kind: str) -> list[tuple[int, ...]]:
        """Return what was found in libraries of a kind (`glibc`, `glibcxx`), the versions in order."""
        told = [fact.split(" ") for fact in self.files.values() if fact.startswith(kind + " ")]
        return sorted(tuple(int(part) for part in version.split(".")) for _, version in told)

    def has_stdlib(self, version: tuple[int, int]) -> bool:
        """Tell whether a Python's standard library is whole, as far as one of its parts shows."""
        end = f"/python{version[0]}.{version[1]}{_STDLIB}"
        return any(path.endswith(end) for path in self.files)

    def has_musl(self) -> bool:
        """Tell whether the image's C library is musl."""
        return any(
            posixpath.basename(path).startswith(("ld-musl-", "libc.musl-")) for path in (*self.files, *self.links)
        )


def read(
    layout: Layout,
    layers: Sequence[Descriptor],
    diffs: Sequence[str],
    step: Callable[[int], None],
    packages: bool = False,
) -> Contents:
    """Read the layers of an image, lowest first; each must have the digest, packed and unpacked, that the image says.

    With `packages`, the metadata of packages of Python are kept.

    `step` is told how many bytes were read. AnywarpError (Y120) for a layer that is damaged, or larger than can be meant.
    """
    found = Contents()
    for layer, diff in zip(layers, diffs, strict=True):
        _apply(found, layout, layer, diff, step, packages)
    return found


def _apply(
    found: Contents, layout: Layout, layer: Descriptor, diff: str, step: Callable[[int], None], packages: bool
) -> None:
    """Lay one layer upon what the lower ones hold: first it takes away, then it puts down, whatever the order in its archive."""
    links: dict[str, str] = {}
    files: dict[str, str] = {}
    metadata: dict[str, bytes] = {}
    others: set[str] = set()
    removed: set[str] = set()
    emptied: set[str] = set()
    packed = _Packed(chunks(layout, layer), step)
    plain = _Plain(packed, layer)
    try:
        with tarfile.open(fileobj=cast(IO[bytes], plain), mode="r|", tarinfo=BoundedInfo, errorlevel=1) as archive:
            for count, info in enumerate(_members(archive)):
                if count > MOST_ENTRIES:
                    raise codes.damaged(f"the layer {layer.digest[:19]} has more than {MOST_ENTRIES} entries")
                path = _path(info.name, layer)
                folder, name = posixpath.split(path)
                if name == OPAQUE:
                    emptied.add(folder)
                elif name.startswith(WHITEOUT):
                    removed.add(posixpath.join(folder, name[len(WHITEOUT) :]))
                elif info.issym():
                    links[path] = info.linkname
                elif info.islnk():
                    target = _path(
                        info.linkname, layer
                    )  # a hard link: its file lies in this layer, or is not of interest
                    if target in files or _matters(path):
                        files[path] = files.get(target, found.files.get(target, ""))
                elif info.isreg() and _matters(path):
                    files[path] = _fact(archive, info, name)
                elif packages and info.isreg() and _METADATA.search(path):
                    metadata[path] = _whole(archive, info, sum(map(len, metadata.values())), layer)
                elif not info.isdir():
                    others.add(path)
                elif path in found.links:
                    others.add(path)  # a folder takes the place of a link
        plain.finish(diff)
    except _ERRORS as error:
        raise codes.damaged(f"the layer {layer.digest[:19]} is damaged: {shorten(str(error), 120)}") from error
    _take_away(found, removed, emptied, {*links, *files, *metadata, *others})
    found.links.update(links)
    found.files.update(files)
    found.metadata.update(metadata)


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while (info := archive.next()) is not None:
        yield info
        vars(archive)["members"] = []  # a stream is read once; to keep a million headers costs a gigabyte


def _take_away(found: Contents, removed: set[str], emptied: set[str], replaced: set[str]) -> None:
    gone = removed | replaced
    for held in (found.links, found.files, found.metadata):
        for path in [path for path in held if _is_gone(path, gone, emptied)]:
            del held[path]


def _is_gone(path: str, gone: set[str], emptied: set[str]) -> bool:
    if path in gone:
        return True
    while path:
        path = posixpath.dirname(path)
        if path in emptied or (path and path in gone):
            return True
    return False


def _path(name: str, layer: Descriptor) -> str:
    """Return a member's path from the root; AnywarpError (Y120) for one that leads out of the image."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in name:
        raise codes.damaged(
            f"the layer {layer.digest[:19]} has a name that leads out of the image: {shorten(name, 80)}"
        )
    return "/".join(parts)


def _matters(path: str) -> bool:
    name = path.rpartition("/")[2]
    known = _PYTHON.match(name) is not None or _LIBRARY.search(name) is not None
    return known or path.endswith(_STDLIB) or name == "pyvenv.cfg"


def _whole(archive: tarfile.TarFile, info: tarfile.TarInfo, before: int, layer: Descriptor) -> bytes:
    """Return the content of a small file; AnywarpError (Y120) where there is more of such than can be meant."""
    if before + info.size > _MOST_METADATA:
        raise codes.damaged(
            f"the layer {layer.digest[:19]} has more than {_MOST_METADATA >> 20} MiB of packages' metadata"
        )
    file = archive.extractfile(info)
    return file.read() if file is not None else b""


def _fact(archive: tarfile.TarFile, info: tarfile.TarInfo, name: str) -> str:
    """Return what the content of a library says of its version: `glibc 2.35`, `glibcxx 3.4.30`; "" for others."""
    if not name.startswith(_READ) or info.size > _LARGEST_READ:
        return ""
    file = archive.extractfile(info)
    data = file.read() if file is not None else b""
    if name.startswith("libstdc++"):
        versions = [tuple(int(part) for part in found.groups()) for found in _CXX.finditer(data)]
        return "glibcxx " + ".".join(map(str, max(versions))) if versions else ""
    found = _LIBC.search(data)
    return f"glibc {int(found[1])}.{int(found[2])}" if found else ""


class _Packed(io.RawIOBase):
    """A layer's bytes as they lie in the layout, counted."""

    def __init__(self, data: Iterator[bytes], step: Callable[[int], None]) -> None:
        self._data, self._step, self._rest, self.count = data, step, b"", 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not self._rest:
            self._rest = next(self._data, b"")
            self._step(len(self._rest))
        data, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)


class _Plain(io.RawIOBase):
    """A layer unpacked, as long as it stands in proportion to what was read, with the digest of all of it."""

    def __init__(self, packed: _Packed, layer: Descriptor) -> None:
        self._packed, self._layer, self._count = packed, layer, 0
        self._digest = hashlib.sha256()
        held = io.BufferedReader(packed, CHUNK)
        head = held.peek(4)[:4]
        if head.startswith(b"\x1f\x8b"):
            self._stream: IO[bytes] = cast(IO[bytes], gzip.GzipFile(fileobj=held))
        elif head == b"\x28\xb5\x2f\xfd":
            reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(held, read_across_frames=True)
            self._stream = cast(IO[bytes], reader)
        else:
            self._stream = cast(IO[bytes], held)

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        data = self._stream.read(CHUNK if size is None or size < 0 else size)
        self._count += len(data)
        if self._count > _FIRST + EXPANDS * self._packed.count:
            raise codes.damaged(f"the layer {self._layer.digest[:19]} expands to more than {EXPANDS} times its size")
        self._digest.update(data)
        return data

    def finish(self, diff: str) -> None:
        """Read what stands behind the archive's end, and hold everything against the digest that the configuration says."""
        while self.read(CHUNK):
            pass
        while self._packed.read(CHUNK):
            pass
        if diff.startswith("sha256:") and diff != "sha256:" + self._digest.hexdigest():
            raise codes.damaged(
                f"the layer {self._layer.digest[:19]} is, unpacked, not what the configuration says (diff_ids)"
            )

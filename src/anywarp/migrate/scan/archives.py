"""Opens archives: zip (wheels, eggs, conda packages), tar, plain or compressed (sdists, layers and saved images).

Nothing is unpacked to disk under a name of the archive's choosing, and what comes out is bounded: an archive of some megabytes may
claim to hold terabytes.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePath, PurePosixPath
from typing import IO, BinaryIO, cast

import zstandard

from anywarp.diagnostics import Diagnostic
from anywarp.migrate import codes
from anywarp.migrate.findings import Use
from anywarp.migrate.scan import Member
from anywarp.migrate.shown import shorten

MOST_MEMBERS = 500_000
EXPANDS = 64
"""How many times its size an archive may expand, beyond the first gibibyte; layers of images expand about three times."""

_FIRST = 1 << 30
_IN_MEMORY = 32 << 20
_GZIP, _BZIP2, _XZ, _ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_COMPRESSED = (_GZIP, _BZIP2, _XZ, _ZSTD)
_TAR_NAMES = (".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst")
_ERRORS = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError, EOFError, OSError, ValueError,
    NotImplementedError, RuntimeError, IndexError, OverflowError,
)  # fmt: skip
"""What the standard library raises for damaged archives; RuntimeError for encrypted ones."""


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether this is a zip or tar archive; a compressed file counts when its name says tar, or says nothing, as layers do."""
    if head.startswith(b"PK\x03\x04") or head[257:262] == b"ustar":
        return True
    name = path.name.lower()
    if not head.startswith(_COMPRESSED):
        return False
    return ".tar" in name or name.endswith(_TAR_NAMES) or not path.suffix


def members(file: BinaryIO, path: PurePath) -> Iterator[Member | Use | Diagnostic]:
    """Yield the regular files of an archive, in its order; what ends it early is a Diagnostic (M007, M008), unsafe names are one (M009)."""
    unsafe: list[str] = []
    try:
        head = file.read(512)
        whole = _Rejoined(head, file)
        found = _zip(whole) if head.startswith(b"PK\x03\x04") else _tar(whole, head)
        for count, member in enumerate(found):
            if count >= MOST_MEMBERS:
                yield codes.diagnostic(codes.ARCHIVE_LIMIT, f"it has more than {MOST_MEMBERS:,} members")
                break
            if _leaves(member.name):
                unsafe.append(member.name)
            yield member
    except _Bomb:
        yield codes.diagnostic(codes.ARCHIVE_LIMIT, f"it expands to more than {EXPANDS} times its size")
    except _ERRORS as error:
        yield codes.diagnostic(codes.DAMAGED_ARCHIVE, f"the archive is damaged: {shorten(str(error), 200)}")
    if unsafe:
        text = f"{len(unsafe)} members have names that lead out of the archive, the first is {shorten(unsafe[0], 200)}"
        yield codes.diagnostic(codes.LEAVES_ARCHIVE, text, severity="warning")


class _Bomb(Exception):
    """More came out of an archive than can be meant."""


class _Rejoined(io.RawIOBase):
    """A stream from which a head was read, as if it had not been; counts what was read."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest, self.count = head, rest, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        data = self._head[: len(buffer)] if self._head else self._rest.read(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)


class _Bounded(io.RawIOBase):
    """What is unpacked from a stream, as long as it stands in proportion to what was read."""

    def __init__(self, unpacked: io.BufferedIOBase, packed: _Rejoined) -> None:
        self._unpacked, self._packed, self._count = unpacked, packed, 0
        self.error: BaseException | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            data = self._unpacked.read1(len(buffer))
        except _ERRORS as error:  # told at the end: what lies before the damage is worth having
            self.error, data = error, b""
        self._count += len(data)
        if self._count > _FIRST + EXPANDS * self._packed.count:
            raise _Bomb
        buffer[: len(data)] = data
        return len(data)


def _tar(whole: _Rejoined, head: bytes) -> Iterator[Member]:
    packed = io.BufferedReader(whole, 1 << 18)
    bounded = _Bounded(_unpacked(packed, head), whole)
    stream = io.BufferedReader(bounded, 1 << 18)
    try:
        with tarfile.open(fileobj=stream, mode="r|", errorlevel=1) as archive:
            while (info := archive.next()) is not None:
                if info.isreg():
                    yield Member(info.name, max(info.size, 0), lambda i=info: cast(BinaryIO, archive.extractfile(i)))
                vars(archive)["members"] = []  # a stream is read once; to keep half a million headers costs a gigabyte
    except tarfile.ReadError as error:
        raise bounded.error or error from None
    if bounded.error is not None:
        raise bounded.error


def _unpacked(packed: io.BufferedReader[_Rejoined], head: bytes) -> io.BufferedIOBase:
    if head.startswith(_GZIP):
        return gzip.GzipFile(fileobj=packed)
    if head.startswith(_BZIP2):
        return bz2.BZ2File(packed)
    if head.startswith(_XZ):
        return lzma.LZMAFile(packed)
    if head.startswith(_ZSTD):
        reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed, read_across_frames=True)
        return cast(io.BufferedIOBase, reader)
    return packed


def _zip(whole: _Rejoined) -> Iterator[Member]:
    """Yield the members of a zip archive, whose list is at its end: so a stream is kept aside first."""
    with _aside(whole) as file:
        size = file.seek(0, os.SEEK_END)
        budget = _FIRST + EXPANDS * size
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if info.is_dir():
                    continue
                budget -= info.file_size
                if budget < 0:
                    raise _Bomb
                yield Member(info.filename, info.file_size, lambda i=info: cast(BinaryIO, archive.open(i)))


def _aside(stream: io.RawIOBase) -> IO[bytes]:
    """Return what is left of a stream as a file that seeks: in memory while it is small, else without a name on disk."""
    held = io.BytesIO()
    file: IO[bytes] = held
    while more := stream.read(1 << 20):
        if file is held and held.tell() + len(more) > _IN_MEMORY:
            file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
            file.write(held.getvalue())
        file.write(more)
    return file


def _leaves(name: str) -> bool:
    return name.startswith(("/", "\\")) or ".." in PurePosixPath(name.replace("\\", "/")).parts

"""What a layer is made of, and the layer as an archive: the same entries give the same bytes, whoever packs them and when."""

from __future__ import annotations

import gzip
import hashlib
import io
import posixpath
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, cast

import zstandard

Compression = Literal["gzip", "zstd"]
MOMENT = 315532800
"""1980-01-01: when everything in the layer was changed, and the layer made (zip archives know no earlier time)."""
MOMENT_TEXT = "1980-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the layer: its path from the image's root, its content (bytes, a file to read, or with `link` what it leads to)."""

    path: str
    content: bytes | Path = b""
    mode: int = 0o644
    link: str = ""


@dataclass(frozen=True, slots=True)
class Packed:
    """A layer in a file: its digest and size, the digest of what it unpacks to, and that size."""

    digest: str
    size: int
    diff: str
    plain_size: int


class _Counted:
    """A file that is written to, with the digest of what was written."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile) -> None:
        self._file, self.digest, self.size = file, hashlib.sha256(), 0

    def write(self, data: bytes) -> int:
        """Write some bytes."""
        self._file.write(data)
        self.digest.update(data)
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: what lies below is flushed at its end."""


def pack(entries: Iterable[Entry], path: Path, compression: Compression, step: Callable[[int], None]) -> Packed:
    """Write a layer to a file; `step` is told how many bytes of content were written."""
    with path.open("wb") as file:
        outer = _Counted(file)
        packer = _packer(outer, compression)
        inner = _Counted(packer)
        with tarfile.open(fileobj=cast(IO[bytes], inner), mode="w|", format=tarfile.PAX_FORMAT) as archive:
            folders: set[str] = set()
            for entry in sorted(entries, key=lambda one: one.path):
                _folders(archive, posixpath.dirname(entry.path), folders)
                step(_add(archive, entry))
        packer.close()
    return Packed(f"sha256:{outer.digest.hexdigest()}", outer.size, f"sha256:{inner.digest.hexdigest()}", inner.size)


def _packer(outer: _Counted, compression: Compression) -> gzip.GzipFile:
    target = cast(IO[bytes], outer)
    if compression == "gzip":
        return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=target, mtime=0)
    writer = zstandard.ZstdCompressor(level=9, threads=0).stream_writer(target, closefd=False)
    return cast(gzip.GzipFile, writer)


def _folders(archive: tarfile.TarFile, path: str, done: set[str]) -> None:
    """Write the folders that lead to a path and are ours; `opt` may be the image's."""
    if not path or path in done:
        return
    _folders(archive, posixpath.dirname(path), done)
    done.add(path)
    info = _info(path, 0o755)
    info.type = tarfile.DIRTYPE
    archive.addfile(info)


def _add(archive: tarfile.TarFile, entry: Entry) -> int:
    info = _info(entry.path, entry.mode)
    if entry.link:
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, entry.link, 0o777
        archive.addfile(info)
    elif isinstance(entry.content, bytes):
        info.size = len(entry.content)
        archive.addfile(info, io.BytesIO(entry.content))
    else:
        with entry.content.open("rb") as file:
            info.size = file.seek(0, io.SEEK_END)
            file.seek(0)
            archive.addfile(info, file)
    return info.size


def _info(path: str, mode: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.mode, info.mtime = mode, MOMENT
    return info

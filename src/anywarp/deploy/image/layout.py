"""OCI layouts, as folders and as tar archives (OCI image specification 1.1, image layout): read with every digest verified, and written.

A layout may be hostile: sizes are bounded before anything is read, names are never followed out of it, and what does not have the
digest by which it is named is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

from anywarp.deploy.image import codes
from anywarp.deploy.image.headers import BoundedInfo
from anywarp.migrate.shown import shorten

Json = dict[str, Any]

LARGEST_DOCUMENT = 4 << 20
"""Bytes of an index, a manifest or a configuration; registries take no more of a manifest."""
MOST_MEMBERS = 20_000
CHUNK = 1 << 20
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What names a blob: its digest and size, and what it is. `told` is the whole entry as it stands in its document."""

    digest: str
    size: int
    media_type: str
    told: Json

    @staticmethod
    def read(told: Any) -> Descriptor:
        """Read an entry of an index or a manifest; AnywarpError (Y120) for one that names no blob."""
        if not isinstance(told, dict):
            raise codes.damaged("an entry of the image is no descriptor")
        entry = cast(Json, told)
        digest, size, media = entry.get("digest"), entry.get("size"), entry.get("mediaType", "")
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise codes.damaged(f"{shorten(str(digest), 80)} is no digest of SHA-256 or SHA-512")
        if isinstance(size, bool) or not isinstance(size, int) or size < 0 or not isinstance(media, str):
            raise codes.damaged(f"the entry of {digest[:19]} has no size or type")
        if entry.get("urls"):
            raise codes.damaged(f"the layer {digest[:19]} lies elsewhere (urls), and nothing is fetched")
        return Descriptor(digest, size, media, entry)

    @property
    def name(self) -> str:
        """The blob's path in a layout."""
        return "blobs/" + self.digest.replace(":", "/")


class Layout(Protocol):
    """An opened layout: its members by name."""

    def open(self, name: str) -> IO[bytes]:
        """Open a member for reading; AnywarpError (Y120) where there is none."""
        ...


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def open(self, name: str) -> IO[bytes]:
        """Open a member, following no link: each part is opened in the one before."""
        parts = name.split("/")
        folder = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = inner
            file = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except OSError as error:
            raise codes.damaged(f"{name} is not in the layout, or is a link: {error.strerror}") from error
        finally:
            os.close(folder)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise codes.damaged(f"{name} is no file")
        return open(file, "rb")


class _Archive:
    """A tar archive that is not compressed: members are found once and read at their places."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}
        try:
            with tarfile.open(fileobj=file, mode="r:", tarinfo=BoundedInfo) as archive:
                for count, info in enumerate(archive):
                    if count >= MOST_MEMBERS:
                        raise codes.damaged(f"the archive has more than {MOST_MEMBERS} members")
                    name = os.path.normpath(info.name.lstrip("/"))
                    if info.isreg() and not info.issparse():
                        self._places[name] = info.offset_data, info.size
        except (tarfile.TarError, OSError, ValueError, OverflowError, EOFError) as error:
            help = "a compressed archive is unpacked first (gunzip); a folder is taken, too"
            raise codes.problem(
                codes.DAMAGED, f"this is no tar archive of an OCI layout: {shorten(str(error), 120)}", help
            ) from error

    def open(self, name: str) -> IO[bytes]:
        if name not in self._places:
            raise codes.damaged(f"{name} is not in the archive")
        return cast(IO[bytes], io.BufferedReader(_Part(self._file, *self._places[name]), CHUNK))


class _Part(io.RawIOBase):
    """A part of a file as a file."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        self._file, self._place, self._end = file, start, start + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        data = os.pread(self._file.fileno(), min(len(buffer), self._end - self._place), self._place)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


@contextlib.contextmanager
def opened(path: Path) -> Generator[Layout]:
    """Open a layout, folder or archive; AnywarpError (Y120) for what is none."""
    with contextlib.ExitStack() as until:
        if path.is_dir():
            layout: Layout = _Folder(path)
        else:
            try:
                layout = _Archive(until.enter_context(path.open("rb")))
            except OSError as error:
                raise codes.problem(
                    codes.DAMAGED,
                    f"{path} cannot be read: {error.strerror}",
                    "name an OCI layout, a folder or an archive",
                ) from error
        mark = document(layout, "oci-layout")
        if not str(mark.get("imageLayoutVersion", "")).startswith("1."):
            raise codes.damaged(f"{path} is no OCI layout of version 1")
        yield layout


def document(layout: Layout, name: str) -> Json:
    """Return a member that holds an object of JSON."""
    with layout.open(name) as file:
        return parsed(file.read(LARGEST_DOCUMENT + 1), name)


def parsed(data: bytes, name: str) -> Json:
    """Return the object of JSON in some bytes; AnywarpError (Y120) for anything else."""
    if len(data) > LARGEST_DOCUMENT:
        raise codes.damaged(f"{name} has more than {LARGEST_DOCUMENT} bytes")
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise codes.damaged(f"{name} is no JSON: {shorten(str(error), 100)}") from None
    if not isinstance(found, dict):
        raise codes.damaged(f"{name} holds no object")
    return cast(Json, found)


def named(layout: Layout, descriptor: Descriptor) -> Json:
    """Return the document that a descriptor names, its digest verified."""
    if descriptor.size > LARGEST_DOCUMENT:
        raise codes.damaged(f"{descriptor.name} has more than {LARGEST_DOCUMENT} bytes")
    return parsed(b"".join(chunks(layout, descriptor)), descriptor.name)


def chunks(layout: Layout, descriptor: Descriptor) -> Iterator[bytes]:
    """Yield a blob's bytes; AnywarpError (Y120) at the end, or before, where size or digest are not as named."""
    algorithm, _, expected = descriptor.digest.partition(":")
    digest = hashlib.new(algorithm)
    left = descriptor.size
    with layout.open(descriptor.name) as file:
        while data := file.read(CHUNK):
            left -= len(data)
            if left < 0:
                raise codes.damaged(f"{descriptor.name} has more bytes than its manifest says")
            digest.update(data)
            yield data
    if left or digest.hexdigest() != expected:
        raise codes.damaged(
            f"{descriptor.name} does not have the {'size' if left else 'digest'} that its manifest says"
        )


def encoded(told: Json) -> bytes:
    """Return a document as bytes, the same for the same content."""
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()


class Writer:
    """A layout being written: blobs in a folder beside the place where it goes, and moved there whole at the end."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._folder = Path()
        self._names: set[str] = set()

    def __enter__(self) -> Writer:
        try:
            if self._out.is_symlink() or (
                self._out.exists() and not (self._out.is_dir() and not any(self._out.iterdir()))
            ):
                raise codes.problem(
                    codes.CANNOT_WRITE, f"{self._out} is there already", "choose a place where nothing is"
                )
            self._out.parent.mkdir(parents=True, exist_ok=True)
            self._folder = Path(tempfile.mkdtemp(prefix=f".{self._out.name}.", dir=self._out.parent))
            (self._folder / "blobs" / "sha256").mkdir(parents=True)
        except OSError as error:
            raise _unwritten(error) from error
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def add(self, data: bytes) -> tuple[str, int]:
        """Write a blob; return its digest and size."""
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        self._write("blobs/" + digest.replace(":", "/"), iter((data,)))
        return digest, len(data)

    def copy(self, layout: Layout, descriptor: Descriptor) -> None:
        """Copy a blob, its digest verified; once, however often it is asked for."""
        if descriptor.name not in self._names:
            self._write(descriptor.name, chunks(layout, descriptor))

    @contextlib.contextmanager
    def scratch(self) -> Generator[Path]:
        """Give the path of a file that `take` makes a blob of."""
        yield self._folder / "scratch"

    def take(self, path: Path, digest: str) -> None:
        """Make a blob of a file that was written at `scratch`."""
        name = "blobs/" + digest.replace(":", "/")
        os.replace(path, self._folder / name)
        self._names.add(name)

    def finish(self, index: Json) -> None:
        """Write the index and put the layout in its place: a folder, or an archive where the place ends in .tar."""
        self._write("oci-layout", iter((encoded({"imageLayoutVersion": "1.0.0"}),)))
        self._write("index.json", iter((encoded(index),)))
        try:
            if self._out.suffix == ".tar":
                self._archive()
            else:
                os.chmod(self._folder, 0o755)
                os.replace(self._folder, self._out)
        except OSError as error:
            raise _unwritten(error) from error

    def _archive(self) -> None:
        made = self._folder / "archive"
        with tarfile.open(made, "w", format=tarfile.PAX_FORMAT) as archive:
            for name in sorted(self._names):
                info = tarfile.TarInfo(name)
                info.size, info.mode = (self._folder / name).stat().st_size, 0o644
                with (self._folder / name).open("rb") as file:
                    archive.addfile(info, file)
        os.replace(made, self._out)

    def _write(self, name: str, data: Iterator[bytes]) -> None:
        try:
            (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
            with (self._folder / name).open("wb") as file:
                for chunk in data:
                    file.write(chunk)
        except OSError as error:
            raise _unwritten(error) from error
        self._names.add(name)


def _unwritten(error: OSError) -> codes.AnywarpError:
    text = f"{error.filename or 'the layout'} cannot be written: {error.strerror}"
    return codes.problem(codes.CANNOT_WRITE, text, "choose a folder of your own with enough room")

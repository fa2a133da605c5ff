"""Where the files of a bundle are read from: a folder, or a .tar that is not unpacked. Links are not followed in either."""

from __future__ import annotations

import os
import stat
import tarfile
from pathlib import Path
from typing import BinaryIO, Protocol

from anywarp.check.bundle import limits
from anywarp.check.bundle.problems import damaged, excessive, not_there, shown


class Place(Protocol):
    """Files by their names with slashes, below the bundle."""

    def read(self, name: str, most: int) -> bytes | None:
        """Return a file's content, None when there is no such file; AnywarpError: V003 when it is longer than `most`, V002 when it is no file."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


class Folder:
    """A folder: every step down is opened by the folder above it, and no step follows a link."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._root = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise not_there(path, error.strerror or str(error)) from None

    def read(self, name: str, most: int) -> bytes | None:
        *folders, last = name.split("/")
        at, opened = self._root, list[int]()
        try:
            for folder in folders:
                at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
                opened.append(at)
            file = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
            opened.append(file)
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise damaged(name, "it is no ordinary file")
            if found.st_size > most:
                raise excessive(name, f"it has {found.st_size:,} bytes")
            return _whole(file, found.st_size)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise damaged(name, error.strerror or str(error)) from None
        finally:
            for each in opened:
                os.close(each)

    def close(self) -> None:
        os.close(self._root)


def _whole(file: int, size: int) -> bytes:
    parts, left = list[bytes](), size
    while left > 0 and (part := os.read(file, min(left, 1 << 24))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


class Archive:
    """A .tar, read where it lies; its bundle is at the top, or in one folder."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise not_there(path, error.strerror or str(error)) from None
        try:
            self._members = _members(self._file, path)
        except BaseException:
            self._file.close()
            raise

    def read(self, name: str, most: int) -> bytes | None:
        if name not in self._members:
            return None
        offset, size = self._members[name]
        if size > most:
            raise excessive(name, f"it has {size:,} bytes")
        self._file.seek(offset)
        content = self._file.read(size)
        if len(content) != size:
            raise damaged(name, "the archive ends within it")
        return content

    def close(self) -> None:
        self._file.close()


def _members(file: BinaryIO, path: Path) -> dict[str, tuple[int, int]]:
    """Return where each ordinary file's content is in an archive."""
    length = os.fstat(file.fileno()).st_size
    _check_headers(file, length)
    found: dict[str, tuple[int, int]] = {}
    file.seek(0)
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            for member in archive:
                if member.isdir():
                    continue
                if not member.isreg() or member.issparse():
                    raise excessive(member.name, "it is a link or no ordinary file")
                name = _plain_name(member.name)
                if name in found:
                    raise damaged(member.name, "it is twice in the archive")
                if member.size < 0 or member.offset_data + member.size > length:
                    raise damaged(member.name, "the archive ends within it")
                found[name] = (member.offset_data, member.size)
    except (tarfile.TarError, ValueError, OverflowError, OSError) as error:
        raise not_there(path, f"it is no folder and no .tar ({shown(error)})") from None
    tops = {name.partition("/")[0] for name in found}
    if "bundle.json" not in found and len(tops) == 1:
        prefix = tops.pop() + "/"
        found = {name.removeprefix(prefix): place for name, place in found.items()}
    return found


def _plain_name(name: str) -> str:
    parts = [part for part in name.split("/") if part != "."]
    if name.startswith("/") or ".." in parts or "" in parts or len(name) > limits.NAME:
        raise excessive(name, "the archive names a place outside itself")
    return "/".join(parts)


def _check_headers(file: BinaryIO, length: int) -> None:
    """Refuse extended headers of unreasonable size before tarfile, which takes them into memory as they are, sees them (POSIX.1-1988 ustar)."""
    at = 0
    for _ in range(limits.MEMBERS):
        file.seek(at)
        header = file.read(512)
        if len(header) < 512 or not header.rstrip(b"\0"):
            return
        size = _octal(header[124:136])
        if header[156:157] in b"xgLKXS" and size > limits.ARCHIVE_HEADER_BYTES:
            raise excessive(f"the archive at byte {at:,}", f"it has an extended header of {size:,} bytes")
        at += 512 + -(-size // 512) * 512
        if at > length + 512:
            return  # tarfile says that it is cut off
    raise excessive("the archive", f"it has more than {limits.MEMBERS:,} files")


def _octal(field: bytes) -> int:
    if field[0] & 0x80:  # GNU: in base 256
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
    try:
        return max(int(field.split(b"\0")[0].strip() or b"0", 8), 0)
    except ValueError:
        return 0

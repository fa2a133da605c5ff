"""The kernel cache on disk: content-addressed, verified when read, bounded, and never a reason to fail.

Many processes read it and may be killed at any moment, so an entry appears whole by rename or not at all, and one that does not
match its own digest counts as absent and is removed (docs/contracts.md, sections 1 and 2).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from anywarp.compiler.artifact import unpack_container
from anywarp.diagnostics import Diagnostic
from anywarp.runtime.keys import KEY

LARGEST = 1 << 31
STALE_AFTER = 3600.0
TEMPORARY = ".new-"


def intact(container: bytes) -> bool:
    """Tell whether these bytes are a whole container whose digest matches its content."""
    try:
        unpack_container(container)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the cache: its size in bytes and when it was last used (seconds since the epoch)."""

    path: Path
    size: int
    used: float


@dataclass
class Cache:
    """A cache directory with its limit in bytes; `warnings` collects what the user should be told, each kind once."""

    root: Path
    limit: int
    warnings: list[Diagnostic] = field(default_factory=list[Diagnostic])
    _said: set[str] = field(default_factory=set[str])
    _size: int | None = None

    def path(self, key: str) -> Path:
        """Return where the entry of `key` lives; ValueError unless it is 64 hex digits, so that no key leaves the cache."""
        if not KEY.fullmatch(key):
            raise ValueError(f"not a cache key: {key!r}")
        return self.root / "objects" / key[:2] / key

    def get(self, key: str) -> bytes | None:
        """Return the container stored under `key`, marking it as used; None when absent or damaged (then removed)."""
        path = self.path(key)
        if not self._ours():
            return None
        try:
            data = _read(path)
        except OSError:
            return None
        if data is None or not intact(data):
            _remove(path)
            return None
        with contextlib.suppress(OSError):  # a read-only cache still serves
            os.utime(path)
        return data

    def put(self, key: str, container: bytes) -> bool:
        """Store a container; False, with a warning the first time, when the cache cannot take it."""
        path = self.path(key)
        if not self._ours() or len(container) > self.limit:
            return False
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(path, container)
        except OSError as error:
            self._warn("R001", f"the kernel cache {self.root} takes no new entries: {error.strerror or error}")
            return False
        self._size = self._scan_size() if self._size is None else self._size + len(container)
        if self._size > self.limit:
            self._size = self.evict(self.limit * 9 // 10)
        return True

    def evict(self, target: int) -> int:
        """Remove the entries unused for longest until at most `target` bytes are left; return the bytes left."""
        entries = sorted(self.entries(), key=lambda entry: entry.used)
        left = sum(entry.size for entry in entries)
        for entry in entries:
            if left <= target:
                break
            if _remove(entry.path):
                left -= entry.size
        return left

    def entries(self) -> Iterator[Entry]:
        """Yield every entry; removes on the way what an interrupted writer left behind over an hour ago."""
        for folder in _listing(self.root / "objects"):
            if not folder.is_dir(follow_symlinks=False):
                continue
            for item in _listing(folder.path):
                try:
                    status = item.stat(follow_symlinks=False)
                except OSError:
                    continue
                if KEY.fullmatch(item.name) and stat.S_ISREG(status.st_mode):
                    yield Entry(Path(item.path), status.st_size, status.st_mtime)
                elif item.name.startswith(TEMPORARY) and status.st_mtime < time.time() - STALE_AFTER:
                    _remove(Path(item.path))

    def clear(self) -> int:
        """Remove every entry; return the bytes freed. Only what the cache made is touched."""
        freed = sum(entry.size for entry in self.entries())
        objects = self.root / "objects"
        if objects.is_dir() and not objects.is_symlink():
            shutil.rmtree(objects)
        self._size = None
        return freed

    def usable(self) -> OSError | None:
        """Try to write, and return the error when that fails."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root) as probe:
                probe.write(b"\0" * 4096)
                probe.flush()
        except OSError as error:
            return error
        return None if self._ours() else PermissionError(1, "the directory belongs to another user")

    def _scan_size(self) -> int:
        return sum(entry.size for entry in self.entries())

    def _ours(self) -> bool:
        """Make the directory when it is missing; refuse one that others own or may write: code is loaded from it."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = os.stat(self.root)
        except OSError as error:
            self._warn("R001", f"the kernel cache {self.root} cannot be used: {error.strerror or error}")
            return False
        if status.st_uid == os.getuid() and not status.st_mode & 0o022:
            return True
        self._warn("R002", f"the kernel cache {self.root} is not used: other users may write to it")
        return False

    def _warn(self, code: str, text: str) -> None:
        if code in self._said:
            return
        self._said.add(code)
        advice = {
            "R001": "kernels are compiled again in each run; free some space or set ANYWARP_CACHE_DIR to a writable directory",
            "R002": "make it yours alone (chmod 700), or set ANYWARP_CACHE_DIR to a directory of your own",
        }
        self.warnings.append(Diagnostic(code, text, severity="warning", help=advice[code]))


def _listing(place: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(place) as found:
            return list(found)
    except OSError:
        return []


def _read(path: Path) -> bytes | None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return None
        return file.read()


def _write(path: Path, container: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(container)
        os.replace(name, path)
    except BaseException:
        _remove(Path(name))
        raise


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True

"""What scanners saw, kept by the content of files, so that a tree is read once and judged for any target.

Facts lie in packs in the user's own cache: a pack is written beside its place and renamed, carries a hash of all it holds, and counts as
absent where that does not fit. So processes may share it, be killed, or find the disk full: then files are read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import stat
import struct
import tempfile
import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from anywarp import settings
from anywarp.diagnostics import Diagnostic
from anywarp.migrate import codes
from anywarp.migrate.look import Seen
from anywarp.migrate.shown import visible

LIMIT = 512 << 20
"""Most bytes of all packs together; the oldest go first."""

MOST_PACKS = 12
"""With more packs than this, a run writes them anew as one."""

_MAGIC = b"anywarp facts 1\n"
_HEAD = struct.Struct("<32sII")  # SHA-256 of all that follows, bytes of the index as stored and as JSON
_SUFFIX, _TEMPORARY, _STALE_AFTER = ".pack", ".new-", 3600.0
_INDEX_LIMIT = 256 << 20
_READ_BY = ("migrate", "ptx", "catalogue")


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack in memory: where each key's facts lie in it."""

    path: Path
    index: Mapping[str, tuple[int, int]]
    body: mmap.mmap
    start: int

    def get(self, key: str) -> bytes | None:
        """Return the facts under `key` as `encode` made them; None where there are none."""
        place = self.index.get(key)
        return None if place is None else self.body[self.start + place[0] : self.start + place[0] + place[1]]


@dataclass
class Facts:
    """The packs of one version of the scanners; `warnings` says once why nothing can be kept."""

    root: Path
    version: str
    packs: list[Pack] = field(default_factory=list[Pack])
    warnings: list[Diagnostic] = field(default_factory=list[Diagnostic])

    @property
    def folder(self) -> Path:
        """Where packs of this version lie."""
        return self.root / "facts" / self.version

    def load(self) -> None:
        """Open every whole pack, the newest first."""
        if not self._ours():
            return
        found = sorted(self.folder.glob(f"*{_SUFFIX}"), key=_time, reverse=True)
        self.packs = [pack for path in found if (pack := _open(path)) is not None]

    def get(self, key: str) -> bytes | None:
        """Return the facts under `key` as `encode` made them; None where there are none."""
        return next((data for pack in self.packs if (data := pack.get(key)) is not None), None)

    def knows(self, key: str) -> bool:
        """Tell whether facts are kept under `key`."""
        return any(key in pack.index for pack in self.packs)

    def keep(self, new: Mapping[str, bytes], used: Iterable[str] = ()) -> None:
        """Write a pack of `new` facts; where there are many packs, those `used` join it and the others go."""
        if not new or not self._ours():
            return
        together = dict(new)
        crowded = len(self.packs) >= MOST_PACKS
        if crowded:
            together = {key: data for key in used if (data := self.get(key)) is not None} | together
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(self.folder, together)
        except OSError as error:
            self._warn(f"the cache {visible(str(self.root))} takes no new facts: {error.strerror or error}")
            return
        if crowded:
            for pack in self.packs:
                _remove(pack.path)
        _bound(self.root / "facts")

    def _ours(self) -> bool:
        """Make the folder when it is missing; refuse one that others own or may write."""
        try:
            for folder in (self.root, self.root / "facts"):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                status = os.stat(folder)
                if status.st_uid != os.getuid() or status.st_mode & 0o022:
                    self._warn(f"the cache {visible(str(folder))} is not used: other users may write to it")
                    return False
        except OSError as error:
            self._warn(f"the cache {visible(str(self.root))} cannot be used: {error.strerror or error}")
            return False
        return True

    def _warn(self, text: str) -> None:
        if not self.warnings:
            self.warnings.append(codes.diagnostic(codes.CACHE_UNUSABLE, text, severity="warning"))


def open_facts(scanners: Iterable[str]) -> Facts:
    """Return the cache of what these scanners (of this version of anywarp) saw, loaded."""
    facts = Facts(settings.CACHE_DIR.get(), version(tuple(scanners)))
    facts.load()
    return facts


def encode(seen: Seen) -> bytes:
    """Return what a file says as it is kept and sent; nothing where it says nothing."""
    if not seen.uses and not seen.problems:
        return b""
    return zlib.compress(json.dumps([seen.uses, seen.problems], separators=(",", ":")).encode(), 1)


def decode(data: bytes) -> Seen:
    """Return what `encode` was given."""
    if not data:
        return Seen()
    uses, problems = json.loads(zlib.decompress(data))
    return Seen(uses, problems)


def size(root: Path) -> int:
    """Return how many bytes the packs below a cache's folder hold."""
    return sum(path.lstat().st_size for path in _packs(root))


def clear(root: Path) -> int:
    """Remove every pack below a cache's folder; return the bytes freed."""
    freed = 0
    for path in _packs(root):
        held = path.lstat().st_size
        freed += held if _remove(path) else 0
    return freed


def _packs(root: Path) -> list[Path]:
    folder = root / "facts"
    if folder.is_symlink():
        return []
    return [path for path in folder.glob(f"*/*{_SUFFIX}") if not path.parent.is_symlink()]


@cache
def version(scanners: tuple[str, ...]) -> str:
    """Return 16 hex digits over the scanners' names and all sources and tables that decide what they see."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256("\n".join(scanners).encode())
    for part in _READ_BY:
        place = package / part
        paths = sorted(p for p in place.rglob("*") if p.suffix in (".py", ".tsv")) if place.is_dir() else [place]
        for path in paths:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(package).as_posix()}\n{len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def _open(path: Path) -> Pack | None:
    """Open a pack; one that is not whole is removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    with open(descriptor, "rb"):
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not len(_MAGIC) + _HEAD.size <= status.st_size <= LIMIT:
            return None
        data = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        with contextlib.suppress(OSError):
            os.utime(path)
    try:
        return _parse(path, data)
    except (ValueError, zlib.error, struct.error):
        _remove(path)
        return None


def _parse(path: Path, data: mmap.mmap) -> Pack:
    if data[: len(_MAGIC)] != _MAGIC:
        raise ValueError("not a pack")
    digest, stored, size = _HEAD.unpack_from(data, len(_MAGIC))
    start = len(_MAGIC) + _HEAD.size
    with memoryview(data) as view:
        if hashlib.sha256(view[start:]).digest() != digest or size > _INDEX_LIMIT:
            raise ValueError("damaged")
        text = zlib.decompressobj().decompress(view[start : start + stored], size)
    index = cast(dict[str, list[int]], json.loads(text))
    return Pack(path, {key: (place[0], place[1]) for key, place in index.items()}, data, start + stored)


def _write(folder: Path, facts: Mapping[str, bytes]) -> None:
    index: dict[str, Any] = {}
    offset = 0
    for key, data in facts.items():
        index[key] = (offset, len(data))
        offset += len(data)
    text = json.dumps(index, separators=(",", ":")).encode()
    stored = zlib.compress(text, 1)
    body = b"".join(facts.values())
    digest = hashlib.sha256(stored + body).digest()
    descriptor, name = tempfile.mkstemp(prefix=_TEMPORARY, dir=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(_MAGIC + _HEAD.pack(digest, len(stored), len(text)) + stored)
            file.write(body)
        os.replace(name, folder / f"{digest.hex()[:32]}{_SUFFIX}")
    except BaseException:
        _remove(Path(name))
        raise


def _bound(folder: Path) -> None:
    """Remove the packs unused for longest beyond the limit, and what an interrupted writer left over an hour ago."""
    packs: list[tuple[float, int, Path]] = []
    for path in folder.glob("*/*"):
        try:
            status = path.lstat()
        except OSError:
            continue
        if path.name.startswith(_TEMPORARY) and status.st_mtime < time.time() - _STALE_AFTER:
            _remove(path)
        elif path.suffix == _SUFFIX:
            packs.append((status.st_mtime, status.st_size, path))
    left = sum(size for _, size, _ in packs)
    for _, size, path in sorted(packs):
        if left <= LIMIT:
            break
        if _remove(path):
            left -= size


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True

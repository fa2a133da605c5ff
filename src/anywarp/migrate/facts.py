"""What scanners saw, kept by the content of files, so that a tree is read once and judged for any target.

It lies in a database in the user's own cache (`fact_store.py`), which processes share. Whatever ails that, files are read again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import Diagnostic
from anywarp.migrate import codes, fact_store
from anywarp.migrate.fact_store import Damaged, Store, Unusable
from anywarp.migrate.look import Seen
from anywarp.migrate.shown import visible

_FOLDER, _NAME = "facts", "facts.sqlite3"
_READ_BY = ("migrate", "ptx", "catalogue")


@dataclass
class Facts:
    """What one version of the scanners saw; `warnings` says once why nothing can be kept.

    `damaged`: the database is to be made anew, which the next `keep` does.
    """

    root: Path
    version: str
    warnings: list[Diagnostic] = field(default_factory=list[Diagnostic])
    damaged: bool = False
    _store: Store | None = None

    @property
    def place(self) -> Path:
        """Where the database lies."""
        return self.root / _FOLDER / _NAME

    def load(self) -> None:
        """Open the database if there is one."""
        try:
            self._store = Store(self.place) if self._ours() else None
        except Damaged:
            self.damaged = True
        except (Unusable, OSError):
            pass  # nothing is known; `keep` says what hinders it

    def get(self, key: str) -> bytes | None:
        """Return the facts under `key` as `encode` made them; None where there are none, or none can be had."""
        try:
            return None if self._store is None else self._store.get(self.version, key)
        except Damaged:
            self.damaged = True
            self.close()
        except Unusable:
            pass
        return None

    def keep(self, new: Mapping[str, bytes], used: Iterable[str] = ()) -> None:
        """Keep `new` facts, and note that those under the keys `used` were of use."""
        used = list(used)
        if not (new or used) or not self._ours():
            return
        try:
            try:
                self._keep(new, used)
            except Damaged:
                self.damaged = True
                self._keep(new, used)
        except (Damaged, Unusable, OSError) as error:
            if new:
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                self._warn(f"the cache {visible(str(self.root))} takes no new facts: {reason}")

    def close(self) -> None:
        """Close the database."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _keep(self, new: Mapping[str, bytes], used: list[str]) -> None:
        if self.damaged:
            self.close()
            fact_store.remove(self.place)
            self.damaged = False
        if self._store is None:
            self._store = Store(self.place, new=True)
        self._store.keep(self.version, new, used)

    def _ours(self) -> bool:
        """Make the folder when it is missing; refuse one that others own or may write."""
        try:
            for folder, status_of in ((self.root, os.stat), (self.root / _FOLDER, os.lstat)):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                status = status_of(folder)
                if status.st_uid != os.getuid() or status.st_mode & 0o022 or not stat.S_ISDIR(status.st_mode):
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
    """Return how many bytes the facts below a cache's folder hold."""
    folder = root / _FOLDER
    found = [] if folder.is_symlink() else [folder / f"{_NAME}{suffix}" for suffix in fact_store.SUFFIXES]
    return sum(path.lstat().st_size for path in found if path.is_symlink() or path.exists())


def clear(root: Path) -> int:
    """Remove all facts below a cache's folder; return the bytes freed."""
    folder = root / _FOLDER
    return 0 if folder.is_symlink() else fact_store.remove(folder / _NAME)


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

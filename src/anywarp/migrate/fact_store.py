"""Bytes by version and key in one SQLite database that processes share: what `facts.py` keeps.

A damaged or foreign file is an error, never a wrong answer: header and schema must be ours to the letter, and every row carries a digest of
version, key and bytes. Changes go through a rollback journal, not a WAL, which needs shared memory and so neither works over NFS nor is read
from a folder that is read-only. SQLite (https://www.sqlite.org/lockingv3.html, fileformat2.html) undoes what a killed writer left half done.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

LIMIT = 512 << 20
"""Most bytes of the database; what is unused for longest goes first."""

WAIT = 20.0
"""Seconds that one process waits for another's change."""

SUFFIXES = ("", "-journal", "-wal", "-shm")
"""What follows the database's name in the names of its files; the last two are not ours, but SQLite would read them."""

_PAGE, _USER_VERSION, _ROW = 4096, 0x61770001, 200
_HEADER = {0: b"SQLite format 3\0", 16: _PAGE.to_bytes(2, "big"), 18: b"\1\1\0@  ", 44: b"\0\0\0\4", 56: b"\0\0\0\1", 60: _USER_VERSION.to_bytes(4, "big")}  # fmt: skip
"""What never changes in the first 100 bytes: format, size of pages, rollback journal, no reserved bytes, schema format, UTF-8, our version."""
_SCHEMA = (
    "CREATE TABLE facts(id INTEGER PRIMARY KEY, digest BLOB NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE uses(id INTEGER PRIMARY KEY, at INTEGER NOT NULL)",
)
_SETTINGS = ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", "synchronous=NORMAL", "temp_store=MEMORY")
_FRESH = 86400
"""Seconds for which a use counts as recent, so that a run over a known tree writes nothing."""


class Damaged(Exception):
    """The database is not one of ours, or not whole: it is to be removed and made anew."""


class Unusable(Exception):
    """The database cannot be read or changed now: it is locked, the disk is full, the folder read-only."""


class Store:
    """An open database; Damaged and Unusable where it cannot serve."""

    def __init__(self, path: Path, new: bool = False) -> None:
        """Open the database at `path`; with `new`, make it where there is none."""
        try:
            import sqlite3  # here: a Python may have been built without it
        except ImportError:
            raise Unusable("this Python has no sqlite3") from None
        empty = _looked_at(path, new)
        name = f"file:{quote(os.fsencode(path.absolute()))}?mode=rw"
        try:
            self._db = sqlite3.connect(name, uri=True, timeout=WAIT, isolation_level=None)
        except sqlite3.Error as error:
            raise Unusable(str(error)) from None
        try:
            with self._told():
                self._begin(empty)
        except BaseException:
            self.close()
            raise

    def get(self, version: str, key: str) -> bytes | None:
        """Return what is kept under a version and a key; None where nothing is."""
        with self._told():
            rows = self._db.execute("SELECT digest, data FROM facts WHERE id = ?", (_id(version, key),)).fetchall()
        for digest, data in rows:
            if not isinstance(data, bytes) or digest != _digest(version, key, data):
                raise Damaged("a row is not what was written")
            return data
        return None

    def keep(self, version: str, new: Mapping[str, bytes], used: Iterable[str] = ()) -> None:
        """Keep what is new, all or nothing, note what was used, and remove what is unused for longest beyond the limit."""
        now = int(time.time())
        rows = [(_id(version, key), _digest(version, key, data), data) for key, data in new.items()]
        with self._told(), self._change():
            self._make_room(sum(len(data) + _ROW for _, _, data in rows))
            self._db.executemany("INSERT OR REPLACE INTO facts VALUES(?, ?, ?)", rows)
            self._db.executemany("INSERT OR REPLACE INTO uses VALUES(?, ?)", ((row[0], now) for row in rows))
            self._db.executemany(
                "UPDATE uses SET at = ? WHERE id = ? AND at NOT BETWEEN ? AND ?",
                ((now, _id(version, key), now - _FRESH, now) for key in used),
            )
            # On a page that is damaged where nobody looked, what was just written may not be found again.
            if any(self.get(version, key) is None for key in new):
                raise Damaged("a row is not where it was written")

    def close(self) -> None:
        """Close the database; a change that is not done is undone."""
        self._db.close()

    def _begin(self, empty: bool) -> None:
        self._db.text_factory = bytes  # damaged text is no text
        for setting in _SETTINGS:
            self._db.execute(f"PRAGMA {setting}")
        if empty:
            self._db.execute(f"PRAGMA page_size={_PAGE}")
            self._db.execute("PRAGMA encoding='UTF-8'")
            with self._change():
                if not self._schema():  # nobody else has made it meanwhile
                    for text in _SCHEMA:
                        self._db.execute(text)
                    self._db.execute(f"PRAGMA user_version={_USER_VERSION}")
        self._db.execute(f"PRAGMA max_page_count={LIMIT // _PAGE}")
        if self._schema() != [text.encode() for text in _SCHEMA]:
            raise Damaged("it holds other tables")

    def _schema(self) -> list[bytes]:
        return [text for (text,) in self._db.execute("SELECT sql FROM sqlite_master ORDER BY rowid").fetchall()]

    def _make_room(self, more: int) -> None:
        while self._held() + more > LIMIT and (count := self._number("SELECT count(*) FROM uses")):
            self._db.execute(
                "DELETE FROM uses WHERE id IN (SELECT id FROM uses ORDER BY at LIMIT ?)", (count // 8 + 1,)
            )
            self._db.execute("DELETE FROM facts WHERE id NOT IN (SELECT id FROM uses)")

    def _held(self) -> int:
        """Return the bytes of pages in use: those that were freed are filled again before the file grows."""
        return (self._number("PRAGMA page_count") - self._number("PRAGMA freelist_count")) * _PAGE

    def _number(self, query: str) -> int:
        return int(self._db.execute(query).fetchall()[0][0])

    @contextlib.contextmanager
    def _change(self) -> Generator[None]:
        """Make one change of the database, whole or not at all."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _told(self) -> Generator[None]:
        """Raise SQLite's errors as ours: operational ones come from the surroundings, others from what the file holds."""
        try:
            yield
        except self._db.OperationalError as error:
            raise Unusable(str(error)) from None
        except self._db.Error as error:
            raise Damaged(str(error)) from None


def remove(path: Path) -> int:
    """Remove the database with all its files; return the bytes freed. Who has it open goes on with what is not there any more."""
    freed = 0
    for suffix in SUFFIXES:
        file = path.with_name(path.name + suffix)
        with contextlib.suppress(OSError):
            held = file.lstat().st_size
            file.unlink()
            freed += held
    return freed


def _looked_at(path: Path, new: bool) -> bool:
    """Tell whether the file has no content yet; Damaged where it is none of ours, Unusable where there is none and it is not `new`."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise Damaged("it is no regular file")
        descriptor = os.open(path, flags | os.O_NOFOLLOW)
    except FileNotFoundError:
        if not new:
            raise Unusable("there is none") from None
        with contextlib.suppress(FileExistsError):  # another process was quicker
            os.close(os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600))
        return True
    with open(descriptor, "rb") as file:
        status, header = os.fstat(descriptor), file.read(100)
    if not header and status.st_size == 0:
        if not new:
            raise Unusable("it is empty")
        return True
    if status.st_size > 2 * LIMIT or any(not header.startswith(what, at) for at, what in _HEADER.items()):
        raise Damaged("it is no database of facts")
    return False


def _id(version: str, key: str) -> int:
    digest = hashlib.blake2b(f"{version}\n{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _digest(version: str, key: str, data: bytes) -> bytes:
    return hashlib.blake2b(f"{version}\n{key}\n".encode() + data, digest_size=16).digest()

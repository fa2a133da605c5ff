"""The database of runs: private, shared by processes, whole after a crash (https://www.sqlite.org/wal.html, lockingv3.html).

Where a file system has no shared memory for a WAL, SQLite keeps its rollback journal: then writers wait for readers, and all else is as said.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from anywarp import settings
from anywarp.check.log_mode import keep_log
from anywarp.check.store.problems import FOREIGN, UNKNOWN, UNUSABLE, problem
from anywarp.check.store.run import LONGEST, NAMES, Run

if TYPE_CHECKING:
    import sqlite3

WAIT = 20.0
"""Seconds that one process waits for another's change."""

APPLICATION = 0x61777273
"""What the header says whose file it is (PRAGMA application_id)."""

VERSION = 2
_MAPPINGS = ("result", "versions", "flags")
_WITH_TEXT = "(? = '' OR instr(lower(id || char(10) || model || char(10) || device || char(10) || machine || char(10) || dtype), lower(?)))"
_STEPS: dict[int, tuple[str, ...]] = {
    1: (
        "CREATE TABLE runs(id TEXT PRIMARY KEY, kind TEXT NOT NULL, time REAL NOT NULL, machine TEXT NOT NULL, device TEXT NOT NULL,"
        " model TEXT NOT NULL, dtype TEXT NOT NULL, digest TEXT NOT NULL, versions TEXT NOT NULL, flags TEXT NOT NULL,"
        " anywarp TEXT NOT NULL, result TEXT NOT NULL) STRICT",
        "CREATE INDEX by_time ON runs(time)",
    ),
    2: ("ALTER TABLE runs ADD COLUMN key TEXT NOT NULL DEFAULT ''", "CREATE INDEX by_key ON runs(key, time)"),
}
"""What brings a database from the version before to this one; a new database goes through all of them."""


class Store:
    """An open database of runs. AnywarpError: V030 where it cannot be used now, V031 where the file is not ours to change."""

    def __init__(self, path: Path) -> None:
        """Open the database, made where there is none, and bring an older one up to date."""
        try:
            import sqlite3
        except ImportError:
            raise problem(UNUSABLE, "this Python has no sqlite3", "use a Python that was built with SQLite") from None
        self.path = path
        self._errors = (sqlite3.OperationalError, sqlite3.Error)
        with self._told():
            _prepare(path)
            # A new connection's files take the database's own mode (https://www.sqlite.org/src/file/src/os_unix.c, findCreateFileMode).
            name = f"file:{quote(os.fsencode(path.absolute()))}?mode=rw"
            self._db: sqlite3.Connection = sqlite3.connect(name, uri=True, timeout=WAIT, isolation_level=None)
        try:
            with self._told():
                self._begin()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        with self._told():
            self._db.close()

    def add(self, run: Run) -> str:
        """Keep a run, all or nothing, on the disk when this returns; return its id."""
        values = self._values(run)
        marks = ", ".join("?" * len(NAMES))
        with self._told(), self._change():
            self._db.execute(f"INSERT INTO runs({', '.join(NAMES)}) VALUES({marks})", values)
        return run.id

    def merge(self, runs: Iterable[Run]) -> int:
        """Keep runs from elsewhere, all or none; those whose ids are here already stay as they are. Return how many are new."""
        marks = ", ".join("?" * len(NAMES))
        query = f"INSERT INTO runs({', '.join(NAMES)}) VALUES({marks}) ON CONFLICT(id) DO NOTHING"
        with self._told(), self._change():
            return sum(self._db.execute(query, self._values(run)).rowcount for run in runs)

    def get(self, identity: str) -> Run:
        """Return the run whose id begins with `identity`; AnywarpError (V032) where there is none, or more than one."""
        if not identity or len(identity) > 64 or not identity.isalnum():
            raise problem(UNKNOWN, f"{identity[:80]!r} is no id of a result", "`anywarp results list` shows them")
        found = list(self._rows("WHERE substr(id, 1, ?) = ? LIMIT 3", len(identity), identity))
        exact = [run for run in found if run.id == identity]
        if len(found) != 1 and len(exact) != 1:
            many = f": {', '.join(run.id for run in found)} ..." if found else ""
            what = "more than one result has an id that begins with" if found else "there is no result"
            raise problem(UNKNOWN, f"{what} {identity!r}{many}", "`anywarp results list` shows them")
        return (exact or found)[0]

    def list(self, kind: str = "", model: str = "", limit: int = 1000, text: str = "") -> list[Run]:
        """Return the newest runs, newest first; of a kind, of a model, and with a text (see `count`), where such are named."""
        return list(
            self._rows(
                f"WHERE (? = '' OR kind = ?) AND {_WITH_TEXT} AND (? = '' OR model = ?) ORDER BY time DESC, rowid DESC LIMIT ?",
                *(kind, kind, text, text, model, model, limit),
            )
        )

    def count(self, kind: str = "", text: str = "") -> int:
        """Return how many runs there are of a kind, and whose id, model, device, machine or dtype contains a text (ASCII letters of either case)."""
        with self._told():
            query = f"SELECT count(*) FROM runs WHERE (? = '' OR kind = ?) AND {_WITH_TEXT}"
            return int(self._db.execute(query, (kind, kind, text, text)).fetchone()[0])

    def latest(self, key: str) -> Run | None:
        """Return the newest run with this key: what was asked for was measured then. None where it never was."""
        return next(self._rows("WHERE key = ? AND key <> '' ORDER BY time DESC, rowid DESC LIMIT 1", key), None)

    def remove(self, identity: str) -> Run:
        """Remove a run and return it; AnywarpError (V032) as `get`."""
        run = self.get(identity)
        with self._told(), self._change():
            self._db.execute("DELETE FROM runs WHERE id = ?", (run.id,))
        return run

    def _values(self, run: Run) -> list[Any]:
        values = [json.dumps(v) if n in _MAPPINGS else v for n, v in run.as_json().items()]
        if sum(len(v) for v in values if isinstance(v, str)) > LONGEST:
            raise problem(UNUSABLE, f"a result of {run.kind} is larger than {LONGEST >> 20} MiB", "keep fewer samples")
        return values

    def _rows(self, rest: str, *values: Any) -> Iterator[Run]:
        with self._told():
            rows = self._db.execute(f"SELECT {', '.join(NAMES)} FROM runs {rest}", values).fetchall()
        for row in rows:
            fields = dict(zip(NAMES, row, strict=True))
            try:
                fields.update((name, json.loads(fields[name])) for name in _MAPPINGS)
            except ValueError:
                raise self._foreign(f"the result {fields['id']!r} is not what was written") from None
            yield Run(**fields)

    def _begin(self) -> None:
        for setting in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", "temp_store=MEMORY"):
            self._db.execute(f"PRAGMA {setting}")
        self._number("PRAGMA schema_version")  # reads the header: what is no database shows here
        version = self._known_version()
        keep_log(self._db, WAIT)
        self._db.execute("PRAGMA synchronous=FULL")  # results are few and dear: on the disk before add returns
        if version < VERSION:
            with self._change():
                for step in range(self._known_version() + 1, VERSION + 1):  # asked again: another may have been quicker
                    for text in _STEPS[step]:
                        self._db.execute(text)
                self._db.execute(f"PRAGMA application_id={APPLICATION}")
                self._db.execute(f"PRAGMA user_version={VERSION}")

    def _known_version(self) -> int:
        # In this order: another process may make it now, whose change brings tables and numbers at once.
        tables = self._number("SELECT count(*) FROM sqlite_master")
        application, version = self._number("PRAGMA application_id"), self._number("PRAGMA user_version")
        if tables and application != APPLICATION:
            raise self._foreign("it is another program's database")
        if version > VERSION:
            raise problem(
                FOREIGN,
                f"the results in {self.path} were written by a newer anywarp (format {version}; this one knows {VERSION})",
                "use that anywarp, or name another file by ANYWARP_RESULTS",
            )
        return version if tables else 0

    def _number(self, query: str) -> int:
        return int(self._db.execute(query).fetchall()[0][0])

    def _foreign(self, why: str) -> Exception:
        help = "move the file away, or name another one by ANYWARP_RESULTS; nothing was changed"
        return problem(FOREIGN, f"{self.path} cannot be read as results: {why}", help)

    @contextlib.contextmanager
    def _change(self) -> Generator[None]:
        """Make one change of the database, whole or not at all."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                with contextlib.suppress(self._errors[1]):  # a full disk has already undone it
                    self._db.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _told(self) -> Generator[None]:
        """Raise SQLite's and the system's errors as ours: operational ones come from the surroundings, others from what the file holds."""
        operational, other = self._errors
        try:
            yield
        except (OSError, operational) as error:
            text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            help = "free space or rights there, or name another file by ANYWARP_RESULTS"
            raise problem(UNUSABLE, f"the results in {self.path} cannot be used: {text}", help) from None
        except other as error:
            raise self._foreign(str(error)) from None


def _prepare(path: Path) -> None:
    """Make the file, the user's own and no link, where there is none; OSError."""
    if not path.parent.is_dir():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is no regular file") from None
        if status.st_uid != os.getuid():
            raise OSError(0, "it belongs to another user") from None
        if status.st_mode & 0o077:
            path.chmod(0o600)


def opened() -> Store:
    """Open the user's own results (ANYWARP_RESULTS)."""
    return Store(settings.RESULTS.get())

"""What was seen of each request while traffic moves: one table in the rollout's SQLite database, its writer and its reader.

The comparing proxy (`deploy/shadow/`) writes, gates read, in different processes; WAL lets both work at once (https://www.sqlite.org/wal.html).
Rows are ordered by `id`, which a jump of the clock does not disturb. A writer never makes its caller wait: what does not fit, or cannot be
written because the disk is full, is dropped and counted, and the counts are written as soon as that works again.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sqlite3
import stat
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from anywarp.check.log_mode import keep_log

Side = Literal["source", "target", "shadow"]
"""Who answered: a pool to its caller, or (`shadow`) the other pool to a replay that no caller saw."""

Compared = Literal["teacher-forced", "divergence", "none"]
"""How a shadow's answer was held against the caller's: token by token along the same text, up to the first difference, or not at all."""

QUEUED = 10_000
"""Most observations that wait for the writer."""
BATCH = 500
"""Most rows of one transaction."""
PAUSE = 0.2
"""Seconds between two transactions, and after one that failed."""
KEPT = 5_000_000
"""Most rows that stay (about a gigabyte); the oldest go first."""
WAIT = 5.0
"""Seconds that one process waits for another's change."""


@dataclass(frozen=True)
class Observation:
    """One answer, or the lack of one. Times are milliseconds; `cost` is in the plan's currency."""

    rollout: str
    stage: str
    side: Side
    exchange: str
    """Joins a caller's answer with the shadow's answer to the same request."""
    time: float = 0.0
    """Seconds since the epoch, for people: order is `id`."""
    member: str = ""
    """The address that answered."""
    route: str = ""
    """The path asked for, such as `/v1/completions`."""
    length: str = ""
    """The class of the prompt's length, such as `<=512`."""
    status: int | None = None
    """HTTP's status; None where no answer came."""
    error: str | None = None
    """What went wrong, in words that begin with a name: `refused`, `timeout`, `stalled`, `broken`, `too long`, `wrong content` ..."""
    first_ms: float | None = None
    """Until the first token (the first byte of the body where nothing is streamed)."""
    total_ms: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    comparison: Compared = "none"
    compared: int = 0
    """How many tokens were compared."""
    divergence: int | None = None
    """The first token that differs, from 0; None where none does."""
    margin: float | None = None
    """By how much (natural logarithm) the caller's side preferred its token at the divergence to its second choice."""
    kl: float | None = None
    """Mean Kullback-Leibler divergence per token, caller's side to shadow, in nats, where both gave log-probabilities."""
    agree: float | None = None
    """Share of the compared tokens that were the shadow's first choice, too."""
    digest: str = ""
    """SHA-256 of the request's body."""
    prompt: str | None = None
    """The request's body, only where the plan says that prompts may be kept."""


_COLUMNS = tuple(f.name for f in fields(Observation))
_SCHEMA = """
CREATE TABLE IF NOT EXISTS observations(id INTEGER PRIMARY KEY AUTOINCREMENT, rollout TEXT NOT NULL, stage TEXT NOT NULL, side TEXT NOT NULL,
  exchange TEXT NOT NULL, time REAL NOT NULL, member TEXT NOT NULL, route TEXT NOT NULL, length TEXT NOT NULL, status INTEGER, error TEXT,
  first_ms REAL, total_ms REAL, tokens_in INTEGER, tokens_out INTEGER, cost REAL, comparison TEXT NOT NULL, compared INTEGER NOT NULL,
  divergence INTEGER, margin REAL, kl REAL, agree REAL, digest TEXT NOT NULL, prompt TEXT);
CREATE INDEX IF NOT EXISTS observations_by_stage ON observations(rollout, stage, id);
CREATE TABLE IF NOT EXISTS observation_counts(rollout TEXT NOT NULL, stage TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY(rollout, stage, name));
"""
_INSERT = f"INSERT INTO observations({', '.join(_COLUMNS)}) VALUES({', '.join('?' * len(_COLUMNS))})"
_COUNT = (
    "INSERT INTO observation_counts VALUES(?, ?, ?, ?) "
    "ON CONFLICT(rollout, stage, name) DO UPDATE SET count = count + excluded.count"
)

LOOKS_LIKE = "looks like: "
"""What answers of tensors that part look like is counted under this and the cause's name."""

Count = tuple[str, str, str]
"""Of which rollout and stage, and what is counted: `seen`, `sampled`, `dropped: queue`, `not comparable: tools` ..."""


def open_database(path: Path) -> sqlite3.Connection:
    """Open the rollout's database with the tables of observations in it, made where they are missing; private to this user.

    OSError where the path is no regular file of ours, sqlite3.Error where it cannot be read or changed.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no regular file")
    finally:
        os.close(descriptor)
    name = f"file:{quote(os.fsencode(path.absolute()))}?mode=rw"
    database = sqlite3.connect(name, uri=True, timeout=WAIT, isolation_level=None)
    try:
        database.execute("PRAGMA trusted_schema=OFF")
        keep_log(database, WAIT)
        database.execute("PRAGMA synchronous=NORMAL")
        database.executescript(_SCHEMA)
    except BaseException:
        database.close()
        raise
    return database


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open the rollout's database for looking at it; sqlite3.Error where there is none, or none of ours."""
    name = f"file:{quote(os.fsencode(path.absolute()))}?mode=ro"
    database = sqlite3.connect(name, uri=True, timeout=WAIT, isolation_level=None)
    database.execute("PRAGMA trusted_schema=OFF")
    return database


class Writer:
    """Writes observations from a thread of its own, in batches; whoever puts one in never waits."""

    def __init__(self, path: Path, kept: int = KEPT) -> None:
        """Begin to write into the database at `path`; errors of the disk are counted (`failures`), not raised."""
        self.failures = 0
        self.last_failure = ""
        self.written = 0
        self._path, self._kept = path, kept
        self._rows: queue.Queue[Observation] = queue.Queue(QUEUED)
        self._counts: Counter[Count] = Counter()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._database: sqlite3.Connection | None = None
        self._thread = threading.Thread(target=self._work, name="observations", daemon=True)
        self._thread.start()

    def put(self, observation: Observation) -> bool:
        """Hand in an observation; False, and counted as `dropped: store`, where too many wait already."""
        try:
            self._rows.put_nowait(observation)
        except queue.Full:
            self.count(observation.rollout, observation.stage, "dropped: store")
            return False
        return True

    def count(self, rollout: str, stage: str, name: str, by: int = 1) -> None:
        """Add to a count, which is written with the next batch."""
        with self._lock:
            self._counts[rollout, stage, name] += by

    def close(self, seconds: float = 10.0) -> bool:
        """Write what waits and end; False where that took longer than `seconds`."""
        self._stop.set()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        rows: list[Observation] = []
        while True:
            ending = self._stop.is_set()  # before the queue is emptied, so that nothing is left behind
            while len(rows) < BATCH:
                try:
                    rows.append(self._rows.get_nowait())
                except queue.Empty:
                    break
            if self._write(rows):
                full = len(rows) == BATCH
                rows = []
                if full:
                    continue
            if ending:
                break
            self._stop.wait(PAUSE)
        if self._database is not None:
            self._database.close()

    def _write(self, rows: list[Observation]) -> bool:
        """Write a batch, all or nothing; False, and kept for another try, where it could not be written."""
        with self._lock:
            counts = dict(self._counts)
        if not rows and not counts:
            return True
        try:
            if self._database is None:
                self._database = open_database(self._path)
            self._put_in(self._database, rows, counts)
        except (sqlite3.Error, OSError) as error:
            self.failures, self.last_failure = self.failures + 1, str(error)
            self._forget_database()
            return False
        self.written += len(rows)
        with self._lock:
            self._counts.subtract(counts)
            self._counts += Counter()  # drops what is zero
        return True

    def _put_in(self, database: sqlite3.Connection, rows: list[Observation], counts: dict[Count, int]) -> None:
        database.execute("BEGIN IMMEDIATE")
        database.executemany(_INSERT, ([getattr(row, name) for name in _COLUMNS] for row in rows))
        database.executemany(_COUNT, ((*key, count) for key, count in counts.items()))
        database.execute(
            "DELETE FROM observations WHERE id <= (SELECT coalesce(max(id), 0) FROM observations) - ?", (self._kept,)
        )
        database.execute("COMMIT")

    def _forget_database(self) -> None:
        if self._database is not None:
            with contextlib.suppress(sqlite3.Error):
                self._database.close()  # undoes what was begun
        self._database = None


def read(
    database: sqlite3.Connection, rollout: str, stage: str | None = None, after: int = 0, most: int | None = None
) -> Iterator[tuple[int, Observation]]:
    """Yield a rollout's observations with their ids, in order, from behind the id `after`; of all stages where `stage` is None."""
    query = f"SELECT id, {', '.join(_COLUMNS)} FROM observations WHERE rollout = ? AND id > ?"
    values: list[Any] = [rollout, after]
    if stage is not None:
        query, values = query + " AND stage = ?", [*values, stage]
    query += " ORDER BY id"
    if most is not None:
        query, values = query + " LIMIT ?", [*values, most]
    for number, *row in database.execute(query, values):
        yield number, Observation(**dict(zip(_COLUMNS, row)))


def read_counts(database: sqlite3.Connection, rollout: str, stage: str | None = None) -> dict[str, int]:
    """Return what was counted in a rollout, by name; of all stages together where `stage` is None."""
    rows = database.execute(
        "SELECT name, sum(count) FROM observation_counts WHERE rollout = ? AND (? IS NULL OR stage = ?) GROUP BY name",
        (rollout, stage, stage),
    )
    return dict(rows.fetchall())


def now() -> float:
    """Return the time for an observation."""
    return time.time()

"""The durable state of a rollout: where it is, what was decided on which evidence, who drives it.

Every change is one transaction, written before and after each step of the driver, so that a process that dies at any point leaves a state from
which the next goes on. Who drives is settled by a lock that the system releases when its holder dies (a lock on a file beside SQLite's, a
session's advisory lock in PostgreSQL), never by a clock; a generation counted up by each new holder fences off one that lost it unnoticed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from anywarp.deploy.rollout.observations import open_database, open_to_read
from anywarp.deploy.rollout.plan import Plan
from anywarp.deploy.rollout.problems import BUSY, EXTRA, LOST, STATE, problem
from anywarp.settings import ROLLOUTS

Phase = Literal["new", "moving", "watching", "asking", "held", "reverting", "reverted", "done"]
ENDED: tuple[Phase, ...] = ("reverted", "done")
Wish = Literal["", "abort", "rollback", "continue", "again"]

_TABLES = (
    "CREATE TABLE IF NOT EXISTS rollouts(name TEXT PRIMARY KEY, created DOUBLE PRECISION NOT NULL, plan TEXT NOT NULL, digest TEXT NOT NULL,"
    " phase TEXT NOT NULL, stage INTEGER NOT NULL, share DOUBLE PRECISION NOT NULL, watched DOUBLE PRECISION NOT NULL, first BIGINT NOT NULL,"
    " generation BIGINT NOT NULL, owner TEXT NOT NULL, wish TEXT NOT NULL, reason TEXT NOT NULL, changed DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE IF NOT EXISTS events({id}, rollout TEXT NOT NULL, time DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL, stage TEXT NOT NULL,"
    " words TEXT NOT NULL, evidence TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS looks({id}, rollout TEXT NOT NULL, time DOUBLE PRECISION NOT NULL, stage TEXT NOT NULL, entry BIGINT NOT NULL,"
    " watched DOUBLE PRECISION NOT NULL, verdicts TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS power({id}, rollout TEXT NOT NULL, stage TEXT NOT NULL, entry BIGINT NOT NULL, joules DOUBLE PRECISION NOT NULL,"
    " tokens DOUBLE PRECISION NOT NULL)",
)


@dataclass(frozen=True)
class Row:
    """Where a rollout is."""

    name: str
    created: float
    plan: str
    digest: str
    phase: Phase
    stage: int
    share: float
    """The target's share that was last put into effect, or is being put there."""
    watched: float
    """Seconds that the stage was watched, by a clock that nobody sets."""
    first: int
    """The id of the last observation before the stage began."""
    generation: int
    owner: str
    wish: Wish
    reason: str
    changed: float

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.phase in ENDED


@dataclass(frozen=True)
class Event:
    """Something that was decided or happened, with its evidence."""

    id: int
    time: float
    kind: str
    stage: str
    words: str
    evidence: Any

    def says(self, key: str) -> bool:
        """Say whether the evidence has something under a key."""
        return isinstance(self.evidence, dict) and bool(self.evidence.get(key))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


class _Connection(Protocol):
    def execute(self, query: str, values: Sequence[Any] = ..., /) -> Any: ...
    def close(self) -> None: ...


def folder(name: str) -> Path:
    """Return the folder of a rollout, made where it is missing; private to this user."""
    place = ROLLOUTS.get() / name
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        if place.is_symlink() or place.stat().st_uid != os.getuid():
            raise problem(STATE, f"{place} is a link, or not yours", "set ANYWARP_ROLLOUTS to a folder of yours")
        place.chmod(0o700)
    except OSError as error:
        raise problem(
            STATE, f"{place} cannot be made: {error.strerror}", "set ANYWARP_ROLLOUTS to a folder of yours"
        ) from error
    return place


class State:
    """The state of one rollout. Errors of the database are AnywarpErrors with what to do; nothing is half written."""

    def __init__(self, plan: Plan, reading: bool = False) -> None:
        """Open the state that the plan names, and the user's own database of observations; `reading` for who only looks: nothing is made or changed."""
        self.name = plan.name
        self.folder = ROLLOUTS.get() / plan.name if reading else folder(plan.name)
        self.path = self.folder / "rollout.sqlite"
        self.shared = plan.state.postgresql
        self._lock: int | None = None
        self._generation: int | None = None
        with self._told():
            self.observations = open_to_read(self.path) if reading else open_database(self.path)
        try:
            with self._told():
                self._database: _Connection = _postgresql(self.shared, reading) if self.shared else self.observations
                if not reading:
                    self._prepare()
        except BaseException:
            self.observations.close()
            raise

    def _prepare(self) -> None:
        """Make the tables that are missing."""
        self.observations.execute("PRAGMA synchronous=FULL")  # a decision must survive a loss of power
        identity = "BIGSERIAL PRIMARY KEY" if self.shared else "INTEGER PRIMARY KEY AUTOINCREMENT"
        with self.transaction():
            for table in _TABLES:
                self._database.execute(table.format(id=f"id {identity}"))

    def close(self) -> None:
        """Let go of everything, the lock too."""
        self._database.close()
        self.observations.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def acquire(self, owner: str) -> bool:
        """Become the one who drives; False when another process is. Counts up the generation."""
        got = self._lock_session() if self.shared else self._lock_file()
        if not got:
            return False
        with self.transaction():
            self._run("UPDATE rollouts SET generation = generation + 1, owner = ? WHERE name = ?", owner, self.name)
            found = self._rows("SELECT generation FROM rollouts WHERE name = ?", self.name)
        self._generation = int(found[0][0]) if found else None
        return True

    def _lock_session(self) -> bool:
        for _ in range(10):  # a session that was just ended holds its lock a moment longer
            if self._rows("SELECT pg_try_advisory_lock(hashtext(?))", f"anywarp rollout {self.name}")[0][0]:
                return True
            time.sleep(0.1)
        return False

    def _lock_file(self) -> bool:
        if self._lock is not None:
            return True
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._lock = descriptor
        return True

    def begin(self, plan: Plan, text: str, digest: str, owner: str) -> Row:
        """Return the rollout's row, made where there is none; the caller has the lock."""
        with self.transaction():
            self._run(
                "INSERT INTO rollouts VALUES(?, ?, ?, ?, 'new', 0, 0, 0, 0, 1, ?, '', '', ?) ON CONFLICT(name) DO NOTHING",
                plan.name, time.time(), text, digest, owner, time.time(),
            )  # fmt: skip
            found = self._rows("SELECT generation FROM rollouts WHERE name = ?", plan.name)
        self._generation = int(found[0][0])
        row = self.row()
        assert row is not None
        return row

    def row(self) -> Row | None:
        """Return where the rollout is; None before it began."""
        found = self._rows(
            "SELECT name, created, plan, digest, phase, stage, share, watched, first, generation, owner, wish, reason, changed"
            " FROM rollouts WHERE name = ?",
            self.name,
        )
        return Row(*found[0]) if found else None

    def change(self, kind: str, title: str, words: str, evidence: Any = None, /, **columns: Any) -> None:
        """Change columns of the row and write an event, both or neither; only for the holder of the lock."""
        with self.transaction():
            self.update(**columns)
            self._event(kind, title, words, evidence)

    def update(self, **columns: Any) -> None:
        """Change columns of the row, without an event; only for the holder of the lock."""
        columns = {**columns, "changed": time.time()}
        names = ", ".join(f"{name} = ?" for name in columns)
        changed = self._run(
            f"UPDATE rollouts SET {names} WHERE name = ? AND generation = ?",
            *columns.values(),
            self.name,
            self._generation,
        )
        if changed != 1:
            raise problem(
                LOST,
                "another `anywarp rollout run` took this rollout over",
                "this one has stopped and changed nothing since; `anywarp rollout status` shows where it is",
            )

    def note(self, kind: str, stage: str, words: str, evidence: Any = None) -> None:
        """Write an event."""
        with self.transaction():
            self._event(kind, stage, words, evidence)

    def wish(self, wish: Wish, words: str) -> None:
        """Say what whoever drives shall do next; for any process."""
        with self.transaction():
            self._run("UPDATE rollouts SET wish = ? WHERE name = ?", wish, self.name)
            self._event("wish", "", words, None)

    def look(self, stage: str, entry: int, watched: float, verdicts: Any) -> None:
        """Keep what the gates said, for the charts."""
        with self.transaction():
            self._run(
                "INSERT INTO looks(rollout, time, stage, entry, watched, verdicts) VALUES(?, ?, ?, ?, ?, ?)",
                self.name, time.time(), stage, entry, watched, json.dumps(verdicts),
            )  # fmt: skip

    def add_power(self, stage: str, entry: int, joules: float, tokens: float) -> None:
        """Keep the energy and the tokens of an interval."""
        with self.transaction():
            self._run(
                "INSERT INTO power(rollout, stage, entry, joules, tokens) VALUES(?, ?, ?, ?, ?)",
                self.name, stage, entry, joules, tokens,
            )  # fmt: skip

    def power(self, stage: str, entry: int) -> list[tuple[float, float]]:
        """Return energy and tokens of the intervals of a stage."""
        rows = self._rows(
            "SELECT joules, tokens FROM power WHERE rollout = ? AND stage = ? AND entry = ? ORDER BY id",
            self.name,
            stage,
            entry,
        )
        return [(float(joules), float(tokens)) for joules, tokens in rows]

    def events(self, after: int = 0) -> list[Event]:
        """Return what happened, in order."""
        rows = self._rows(
            "SELECT id, time, kind, stage, words, evidence FROM events WHERE rollout = ? AND id > ? ORDER BY id",
            self.name,
            after,
        )
        return [
            Event(number, at, kind, stage, words, json.loads(evidence))
            for number, at, kind, stage, words, evidence in rows
        ]

    def looks(self) -> list[dict[str, Any]]:
        """Return what the gates said, in order: time, stage, entry, watched, verdicts."""
        rows = self._rows(
            "SELECT time, stage, entry, watched, verdicts FROM looks WHERE rollout = ? ORDER BY id", self.name
        )
        return [{"time": t, "stage": s, "entry": e, "watched": w, "verdicts": json.loads(v)} for t, s, e, w, v in rows]

    def last_observation(self) -> int:
        """Return the id of the newest observation; 0 where there is none."""
        with self._told():
            return int(self.observations.execute("SELECT coalesce(max(id), 0) FROM observations").fetchone()[0])

    def _event(self, kind: str, stage: str, words: str, evidence: Any) -> None:
        self._run(
            "INSERT INTO events(rollout, time, kind, stage, words, evidence) VALUES(?, ?, ?, ?, ?, ?)",
            self.name, time.time(), kind, stage, words, json.dumps(evidence),
        )  # fmt: skip

    @contextlib.contextmanager
    def transaction(self) -> Generator[None]:
        """Do everything inside or nothing."""
        with self._told():
            self._database.execute("BEGIN" if self.shared else "BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(Exception):
                    self._database.execute("ROLLBACK")
                raise

    def _query(self, query: str) -> str:
        return query.replace("?", "%s") if self.shared else query

    def _run(self, query: str, *values: Any) -> int:
        with self._told():
            return int(self._database.execute(self._query(query), values).rowcount)

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._told():
            return list(self._database.execute(self._query(query), values).fetchall())

    @contextlib.contextmanager
    def _told(self) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if "full" in str(error) or getattr(error, "errno", None) == 28:
                help = "make room: traffic stays as it is, nothing half was written, and `anywarp rollout run` goes on from here"
            else:
                help = "see that the file is yours and whole; ANYWARP_ROLLOUTS names another folder"
            raise problem(STATE, f"the state {self.path} cannot be read or written: {error}", help) from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "psycopg":
                raise
            raise problem(
                STATE,
                f"PostgreSQL refuses: {str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}",
                "see that it runs and that your role may create tables; `anywarp rollout run` goes on from here",
            ) from error


def _postgresql(address: str, reading: bool = False) -> _Connection:
    try:
        import psycopg
    except ImportError as error:
        raise problem(EXTRA, "a shared state needs psycopg", "pip install 'anywarp[rollout]'") from error
    connection: Any = psycopg.connect(address, autocommit=True, connect_timeout=10)  # transactions are begun by name
    if reading:
        connection.execute("SET default_transaction_read_only = on")
    return connection


def busy(row: Row | None) -> Exception:
    """Return the error for a rollout that another process drives."""
    return problem(
        BUSY,
        f"another `anywarp rollout run` drives this rollout{': ' + row.owner if row and row.owner else ''}",
        "watch it with `anywarp rollout status --watch`, end it with `anywarp rollout abort`",
    )

"""The folder in which a fleet's results meet: a file per task, written beside its place and linked to it, so that it is there whole or not at all.

    batches/ID.json         tasks that were handed over together; ID.ticket: to whom, under which name; ID.over: nothing of it runs any more
    results/KEY.json        what a task came to; the first that is written stays
    attempts/KEY/ID.json    why a task of a batch failed
    running/KEY             locked while a task runs, so that it runs once on a machine

Machines share it over a network, where SQLite is not safe: nothing in it is changed after it is written.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from anywarp.deploy.fleet import outcome as outcomes
from anywarp.deploy.fleet import tasks
from anywarp.deploy.fleet.outcome import Outcome
from anywarp.deploy.fleet.problems import DAMAGED, FOLDER, problem
from anywarp.deploy.fleet.tasks import Task

_MOST_BATCH = 256 << 20
_PARTS = ("batches", "results", "attempts", "running")
_BATCH = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True)
class Batch:
    """Tasks that one machine of the plan was given together."""

    id: str
    machine: str
    tasks: tuple[Task, ...]


class Folder:
    """A fleet's folder; AnywarpError (Y142) where it cannot be used."""

    def __init__(self, place: Path, make: bool = False) -> None:
        """Open a folder; one that is not there is empty, unless it is to be made."""
        self.place = place.absolute()
        self._batches: dict[str, Batch] = {}  # they do not change
        if make:
            with _told(self.place):
                for name in _PARTS:
                    (self.place / name).mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def driven(self) -> Generator[None]:
        """Hold the folder as the one that hands out tasks; AnywarpError (Y142) where another process does."""
        with _told(self.place):
            file = (self.place / "driven").open("a")
        with file:
            if not _locked(file):
                raise problem(
                    FOLDER,
                    f"another `anywarp fleet run` drives {self.place}",
                    "`anywarp fleet status` shows how far it is",
                )
            yield

    @contextlib.contextmanager
    def held(self, key: str) -> Generator[bool]:
        """Hold a task while it runs; False where another process runs it."""
        with _told(self.place):
            file = (self.place / "running" / key).open("a")
        with file:
            yield _locked(file)

    def runs(self, key: str) -> bool:
        """Tell whether a process of this machine, or of one whose locks are seen here, runs a task."""
        if not (self.place / "running" / key).exists():
            return False
        with self.held(key) as free:
            return not free

    def done(self) -> set[str]:
        """Return the keys of tasks that have results."""
        return {name[:-5] for name in self._names("results") if name.endswith(".json")}

    def tried(self) -> set[str]:
        """Return the keys of tasks that have failed at least once."""
        return set(self._names("attempts"))

    def _names(self, part: str) -> list[str]:
        with _told(self.place):
            try:
                return os.listdir(self.place / part)
            except FileNotFoundError:
                return []

    def result(self, key: str) -> Outcome:
        """Return what a task came to; AnywarpError (Y145) where the file is not what was written."""
        return self._outcome(self.place / "results" / f"{key}.json", key)

    def failures(self, key: str) -> list[Outcome]:
        """Return why a task failed, each time that it did, the last time last."""
        place = self.place / "attempts" / key
        with _told(self.place):
            names = sorted(os.listdir(place)) if place.is_dir() else []
        found = [self._outcome(place / name, key) for name in names if name.endswith(".json")]
        return sorted(found, key=lambda one: one.began)

    def failed_in(self, key: str, batch: str) -> bool:
        """Tell whether a task of a batch failed."""
        return (self.place / "attempts" / key / f"{batch}.json").exists()

    def write(self, outcome: Outcome, batch: str) -> None:
        """Keep what a task came to."""
        if outcome.failed:
            place = self.place / "attempts" / outcome.key / f"{batch}.json"
            with _told(self.place):
                place.parent.mkdir(exist_ok=True)
        else:
            place = self.place / "results" / f"{outcome.key}.json"
        self._put(place, outcomes.as_text(outcome))

    def forget(self, key: str) -> None:
        """Take a task's result and failures away, so that it is done anew."""
        with _told(self.place):
            (self.place / "results" / f"{key}.json").unlink(missing_ok=True)
            for each in (self.place / "attempts" / key).glob("*.json"):
                each.unlink(missing_ok=True)

    def add(self, machine: str, given: Sequence[Task]) -> Batch:
        """Write a batch down before it is handed over."""
        batch = Batch(secrets.token_hex(6), machine, tuple(given))
        content = {"machine": machine, "tasks": [task.as_json() for task in given]}
        self._put(self.batch_place(batch.id), json.dumps(content))
        return batch

    def batch_place(self, identity: str) -> Path:
        """Return the file of a batch."""
        return self.place / "batches" / f"{identity}.json"

    def open_batches(self) -> list[Batch]:
        """Return the batches that are not over."""
        names = self._names("batches")
        ids = [name[:-5] for name in sorted(names) if name.endswith(".json") and f"{name[:-5]}.over" not in names]
        return [self._batch(each) for each in ids if _BATCH.fullmatch(each)]

    def _batch(self, identity: str) -> Batch:
        if identity not in self._batches:
            self._batches[identity] = read_batch(self.batch_place(identity))
        return self._batches[identity]

    def ticket(self, batch: Batch) -> str | None:
        """Return under which name a batch was handed over, None where that was not written down."""
        try:
            return (self.place / "batches" / f"{batch.id}.ticket").read_text(encoding="utf-8")
        except OSError:
            return None

    def give_ticket(self, batch: Batch, ticket: str) -> None:
        """Write down under which name a batch was handed over."""
        self._put(self.place / "batches" / f"{batch.id}.ticket", ticket)

    def end(self, batch: Batch) -> None:
        """Write down that nothing of a batch runs any more."""
        self._put(self.place / "batches" / f"{batch.id}.over", "")

    def _outcome(self, place: Path, key: str) -> Outcome:
        with _told(self.place):
            if place.stat().st_size > outcomes.MOST_BYTES:
                raise problem(DAMAGED, f"{place} is larger than results are", "remove it, and run the fleet again")
            text = place.read_text(encoding="utf-8", errors="replace")
        found = outcomes.from_text(text, str(place))
        if found.key != key:
            raise problem(DAMAGED, f"{place} is of another task", "remove it, and run the fleet again")
        return found

    def _put(self, place: Path, text: str) -> None:
        """Write a file whole, on the disk when this returns; one that is there stays."""
        beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        with _told(self.place):
            try:
                with beside.open("x", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                _link(beside, place)
            finally:
                beside.unlink(missing_ok=True)


def _link(beside: Path, place: Path) -> None:
    try:
        os.link(beside, place)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not place.exists():
            os.replace(beside, place)


def read_batch(place: Path) -> Batch:
    """Return a batch from its file; AnywarpError: Y142 where it cannot be read, Y145 where it is none."""
    with _told(place):
        if place.stat().st_size > _MOST_BATCH:
            raise problem(DAMAGED, f"{place} is larger than batches are")
        text = place.read_text(encoding="utf-8")
    try:
        value: Any = json.loads(text)
        given, machine = [tasks.from_json(each) for each in value["tasks"]], str(value["machine"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise problem(DAMAGED, f"{place} is no batch of tasks: {type(error).__name__}") from None
    return Batch(place.name.partition(".")[0], machine, tuple(given))


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _told(place: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        help = "name a folder that all machines can write to by `folder:` in the plan"
        raise problem(FOLDER, f"{place} cannot be used: {error.strerror or error}", help) from None

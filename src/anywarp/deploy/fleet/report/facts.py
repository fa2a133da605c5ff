"""What every task of a plan has come to, from its folder and from the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anywarp.check.headlines import Headline, headline
from anywarp.check.store import Run, Store
from anywarp.deploy.fleet.folder import Folder
from anywarp.deploy.fleet.outcome import Outcome
from anywarp.deploy.fleet.tasks import Task
from anywarp.diagnostics import AnywarpError

State = Literal["done", "failed", "running", "handed out", "waiting", "damaged"]
STATES: tuple[State, ...] = ("done", "running", "handed out", "waiting", "failed", "damaged")
_NOTHING = Headline("none", "", "")


@dataclass(frozen=True)
class Row:
    """A task with where it is; of a done one the result's id and what came out, of others why it failed the last time."""

    task: Task
    state: State
    result: str = ""
    headline: Headline = _NOTHING
    attempts: int = 0
    why: str = ""
    said: str = ""
    seconds: float = 0.0
    machine: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        task = self.task
        return {
            "entry": task.entry, "verb": task.verb, "machine": task.machine, "axes": dict(task.axes), "key": task.key, "state": self.state,
            "result": self.result, "mark": self.headline.mark, "text": self.headline.text, "failures": self.attempts, "why": self.why, "said": self.said,
            "seconds": round(self.seconds, 3), "on": self.machine,
        }  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """A fleet: its name, its folder and its tasks."""

    name: str
    folder: str
    rows: tuple[Row, ...]

    def count(self, *states: State) -> int:
        """Return how many tasks are in these states."""
        return sum(row.state in states for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        counts = {state: self.count(state) for state in STATES}
        return {"name": self.name, "folder": self.folder, "tasks": len(self.rows), **counts, "rows": [row.as_json() for row in self.rows]}  # fmt: skip

    def entries(self) -> dict[str, list[Row]]:
        """Return the rows by entry."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.task.entry, []).append(row)
        return found


def facts(name: str, tasks: Sequence[Task], attempts: int, folder: Folder, store: Store) -> Facts:
    """Return what has become of the tasks of a plan."""
    done, out = folder.done(), {task.key for batch in folder.open_batches() for task in batch.tasks}
    return Facts(name, str(folder.place), tuple(_row(task, done, out, attempts, folder, store) for task in tasks))


def _row(task: Task, done: set[str], out: set[str], attempts: int, folder: Folder, store: Store) -> Row:
    if task.key in done:
        try:
            outcome = folder.result(task.key)
        except AnywarpError as error:
            return Row(task, "damaged", why=error.diagnostic.message)
        return _done(task, outcome.runs[-1] if outcome.runs else None, outcome)
    known = store.latest(task.key)
    if known is not None:
        return _done(task, known, None)
    failures = folder.failures(task.key)
    last: Mapping[str, Any] = {"attempts": len(failures), "why": failures[-1].why, "said": failures[-1].said} if failures else {}  # fmt: skip
    if len(failures) >= attempts:
        return Row(task, "failed", **last)
    if folder.runs(task.key):
        return Row(task, "running", **last)
    return Row(task, "handed out" if task.key in out else "waiting", **last)


def _done(task: Task, run: Run | None, outcome: Outcome | None) -> Row:
    if run is None:
        return Row(task, "damaged", why="its file holds no result")
    seconds = outcome.seconds if outcome is not None else 0.0
    return Row(task, "done", run.id, headline(run), seconds=seconds, machine=run.machine)

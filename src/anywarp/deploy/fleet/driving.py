"""Handing tasks out, and seeing what becomes of them, until nothing is left to try; whoever does it may be killed at any moment and begin again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from anywarp.deploy.fleet.folder import Batch, Folder
from anywarp.deploy.fleet.outcome import Outcome
from anywarp.deploy.fleet.problems import RUNNER, problem
from anywarp.deploy.fleet.runners.runner import Runner, Seen
from anywarp.deploy.fleet.tasks import Task
from anywarp.diagnostics import AnywarpError

PATIENCE = 10
"""How many times in a row a place may not answer before that is an error: schedulers restart."""

MOST_OF_BATCH = 1000
"""Most tasks of one batch: Slurm's MaxArraySize is 1001 unless the site says otherwise, and a ConfigMap holds 1 MiB."""


@dataclass
class Drive:
    """What is handed out of one plan; `tell` is given what happens, in words."""

    tasks: Sequence[Task]
    attempts: int
    folder: Folder
    runners: Mapping[str, Runner]
    tell: Callable[[str], None] = lambda _: None
    _ended: dict[tuple[str, int], float] = field(default_factory=dict[tuple[str, int], float])
    _silent: dict[str, int] = field(default_factory=dict[str, int])
    _said: set[str] = field(default_factory=set[str])

    def step(self) -> bool:
        """Look at what was handed out, hand out what is left; return whether there is anything to wait for."""
        for batch in self._open():
            self._reached(batch.machine, lambda batch=batch: self._look(batch))
        out = {task.key for batch in self._open() for task in batch.tasks}
        for (machine, _), tasks in self._left(out).items():
            self._reached(machine, lambda m=machine, t=tasks: self._submit(m, t))
        self._report()
        return bool(self._open() or self._left(set()))

    def known(self) -> int:
        """Return how many tasks have results already, of which nothing is told any more."""
        done = self.folder.done()
        self._said |= {task.key for task in self.tasks if task.key in done}
        return len(self._said)

    def failed(self) -> list[Task]:
        """Return the tasks that failed as often as they may."""
        done, tried = self.folder.done(), self.folder.tried()
        return [task for task in self.tasks if task.key not in done and not self._may(task, tried)]

    def _open(self) -> list[Batch]:
        return [batch for batch in self.folder.open_batches() if batch.machine in self.runners]

    def _may(self, task: Task, tried: set[str]) -> bool:
        return task.key not in tried or len(self.folder.failures(task.key)) < self.attempts

    def _left(self, out: set[str]) -> dict[tuple[str, str], list[Task]]:
        """Return the tasks to hand out, by machine and device."""
        done, tried = self.folder.done(), self.folder.tried()
        groups: dict[tuple[str, str], list[Task]] = {}
        for task in {task.key: task for task in self.tasks}.values():
            if task.key not in done and task.key not in out and task.machine in self.runners and self._may(task, tried):
                groups.setdefault((task.machine, f"{task.device} {task.gpus}"), []).append(task)
        return groups

    def _submit(self, machine: str, tasks: Sequence[Task]) -> None:
        batch = self.folder.add(machine, tasks[:MOST_OF_BATCH])
        self.folder.give_ticket(batch, self.runners[machine].submit(batch))
        self.tell(f"{len(batch.tasks):,} to {machine}")

    def _look(self, batch: Batch) -> None:
        runner, ticket = self.runners[batch.machine], self.folder.ticket(batch)
        if ticket is None:
            ticket = runner.find(batch)
            if ticket is None:
                self.folder.end(batch)  # it was never handed over: its tasks are given again
                return
            self.folder.give_ticket(batch, ticket)
        seen = runner.look(batch, ticket)
        over = [self._settled(batch, number, seen.get(number, Seen("ended"))) for number in range(len(batch.tasks))]
        if all(over):
            self.folder.end(batch)

    def _settled(self, batch: Batch, number: int, seen: Seen) -> bool:
        """Tell whether all is known of a task; one that ended without a word is said to have failed."""
        task = batch.tasks[number]
        if seen.state != "ended":
            return False
        if task.key in self.folder.done() or self.folder.failed_in(task.key, batch.id) or not seen.why:
            return True
        since = self._ended.setdefault((batch.id, number), time.monotonic())
        if time.monotonic() - since < self.runners[batch.machine].settle:
            return False
        why = f"it ended without leaving a result or a reason: {seen.why}"
        self.folder.write(Outcome(task.key, -1, task.machine, time.time(), 0.0, why=why), batch.id)
        return True

    def _reached(self, machine: str, act: Callable[[], None]) -> None:
        """Do something with a place; one that does not answer for long is an error, once or twice is not."""
        try:
            act()
        except AnywarpError as error:
            if error.diagnostic.code != RUNNER:
                raise
            self._silent[machine] = (
                self._silent.get(machine, PATIENCE - 1) + 1
            )  # one that has never answered has no patience
            if self._silent[machine] >= PATIENCE:
                raise problem(RUNNER, f"{machine}: {error.diagnostic.message}", error.diagnostic.help) from None
            self.tell(f"{machine} does not answer, which is tried again: {error.diagnostic.message}")
        else:
            self._silent[machine] = 0

    def _report(self) -> None:
        done = self.folder.done()
        tried = self.folder.tried() - done
        for task in self.tasks:
            if task.key in done and task.key not in self._said:
                self._said.add(task.key)
                self.tell(f"done: {task.title()}")
            for number, failure in enumerate(self.folder.failures(task.key) if task.key in tried else (), 1):
                if f"{task.key} {number}" not in self._said:
                    self._said.add(f"{task.key} {number}")
                    self.tell(f"failed ({number} of {self.attempts}): {task.title()}: {failure.why}")

"""Tasks on this machine: a process each, which ends with the one that drives."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING

from anywarp.deploy.fleet.execution import own_words
from anywarp.deploy.fleet.runners.runner import Seen

if TYPE_CHECKING:
    from anywarp.deploy.fleet.folder import Batch, Folder
    from anywarp.deploy.fleet.plan import Here


class HereRunner:
    """Starts so many tasks as may run at once whenever it is looked at."""

    settle = 0.0

    def __init__(self, machine: Here, folder: Folder) -> None:
        self._machine, self._folder = machine, folder
        self._processes: dict[tuple[str, int], subprocess.Popen[bytes]] = {}
        self._mine: set[str] = set()

    def submit(self, batch: Batch) -> str:
        """Take a batch; its tasks start as they are looked at."""
        self._mine.add(batch.id)
        return "here"

    def find(self, batch: Batch) -> str | None:
        """Return None: what an earlier process was given ended with it."""
        return None

    def look(self, batch: Batch, ticket: str) -> Mapping[int, Seen]:
        """Start tasks, and return where each is."""
        return {number: self._one(batch, number) for number in range(len(batch.tasks))}

    def _one(self, batch: Batch, number: int) -> Seen:
        process = self._processes.get((batch.id, number))
        if process is None and batch.id not in self._mine:  # of a process that drove before, which has ended
            return Seen("running" if self._folder.runs(batch.tasks[number].key) else "ended")
        if process is None:
            running = sum(each.poll() is None for each in self._processes.values())
            if running >= self._machine.at_once:
                return Seen("waiting")
            process = self._processes[batch.id, number] = self._started(batch, number)
        code = process.poll()
        return (
            Seen("running") if code is None else Seen("ended", f"the process that ran it ended with exit code {code}")
        )

    def _started(self, batch: Batch, number: int) -> subprocess.Popen[bytes]:
        words = ["fleet", "task", "--tied", str(self._folder.batch_place(batch.id)), str(number)]
        return subprocess.Popen(
            [*own_words(), *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )  # fmt: skip

    def close(self) -> None:
        """End the tasks that run: each ends when its standard input does."""
        for process in self._processes.values():
            if process.stdin is not None:
                process.stdin.close()
        for process in self._processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

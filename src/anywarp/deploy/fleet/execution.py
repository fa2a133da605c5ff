"""Running one task where this process is: the verb in a process of its own, with results of its own, which then become its outcome."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from anywarp import settings
from anywarp.check.store import Run, Store
from anywarp.check.store.run import here
from anywarp.deploy.fleet.outcome import Outcome, named
from anywarp.deploy.fleet.tasks import ANYWARP, Task
from anywarp.migrate.shown import visible

_TAIL = 4000
_DONE = (0, 1)
"""Exit codes of verbs that have done their work: 1 is for findings."""


def own_words() -> tuple[str, ...]:
    """Return the words that start this anywarp."""
    return (str(settings.PYTHON.get()), "-m", "anywarp")


def execute(task: Task, anywarp: Sequence[str], tied: bool = False) -> Outcome:
    """Run a task and return what became of it; `tied`: it is ended when this process's standard input is closed."""
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="anywarp-fleet-") as folder:
        results = Path(folder) / "results.sqlite"
        environment = settings.environment() | {"ANYWARP_RESULTS": str(results)}
        said = Path(folder) / "said"
        code, why = _ran(_command(task, anywarp), task, environment, said, tied)
        outcome = Outcome(task.key, code, here(), began, time.time() - began, said=_tail(said))
        found = _results(results)
    kept = named(outcome, found)
    done = found and (code in _DONE or (task.verb == "assess" and code == 2))
    return kept if done and not why else replace(outcome, why=why or _why(code, outcome.said, bool(found)))


def _command(task: Task, anywarp: Sequence[str]) -> list[str]:
    words = [word for each in task.words for word in (anywarp if each == ANYWARP else (each,))]
    return [*anywarp, *words]


def _ran(command: Sequence[str], task: Task, environment: dict[str, str], said: Path, tied: bool) -> tuple[int, str]:
    """Run a command to its end; return its exit code, and why it counts for nothing where that is not told by the code."""
    with said.open("wb") as out:
        try:
            process = subprocess.Popen(
                command, cwd=task.folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )  # fmt: skip
        except (OSError, ValueError) as error:
            return 127, f"it cannot be started: {getattr(error, 'strerror', None) or error}"
        try:
            if tied:
                threading.Thread(target=_end_with_input, args=(process.pid,), daemon=True).start()
            return process.wait(task.seconds or None), ""
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL, f"it was ended after {task.seconds:g} s, the most that it may take"
        finally:
            _end(process.pid)
            process.wait()


def _end_with_input(group: int) -> None:
    """End a group of processes, and this one, when whoever started this one is gone."""
    while os.read(0, 4096):
        pass
    _end(group)
    os._exit(3)


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _results(path: Path) -> list[Run]:
    if not path.exists():
        return []
    with Store(path) as store:
        return store.list()[::-1]


def _why(code: int, said: str, results: bool) -> str:
    if code < 0:
        return f"it was ended by signal {-code} ({signal.Signals(-code).name})"
    problem = next((line for line in said.splitlines() if "error[" in line), "")
    return f"it ended with exit code {code}" + ("" if results else " and left no result") + (f": {problem[:500]}" if problem else "")  # fmt: skip


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        lines = file.read().decode(errors="replace").splitlines()
    return "\n".join(visible(line) for line in lines)

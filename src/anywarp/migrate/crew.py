"""Has files looked into by several processes, so that one that dies or hangs over a file costs that file alone.

The processes are started afresh, never forked, and are given a few tasks at a time in a known order: the first unanswered one is to blame.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, BinaryIO, cast

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate import codes
from anywarp.migrate.facts import Facts
from anywarp.migrate.look import Row
from anywarp.migrate.tree import File
from anywarp.migrate.worker import HEAD

PATIENCE = 60.0
"""Seconds that a worker may be silent over one file, or one member of an archive."""

_START_LIMIT = 120.0
_SMALL_FILES, _SMALL_BYTES = 100, 4 << 20
_AHEAD_TASKS, _AHEAD_BYTES = 24, 32 << 10  # within what a pipe holds, so that neither side waits for the other
_START = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from anywarp.migrate.worker import main; main(sys.argv[2])"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a file: the key of its facts, the facts (None: they are in the cache), or a problem."""

    file: File
    key: str = ""
    facts: bytes | None = b""
    problem: Row | None = None


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    tasks: deque[tuple[int, int]] = field(default_factory=deque[tuple[int, int]])  # numbers and sizes of lines sent
    buffer: bytearray = field(default_factory=bytearray)
    heard: float = field(default_factory=time.monotonic)
    ready: bool = False
    started: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Order:
    """How files are to be looked into: by whom, with what cache, in how many processes, with how much patience in seconds."""

    scanners: Sequence[str]
    containers: Sequence[str]
    facts: Facts | None = None
    jobs: int = 1
    patience: float = PATIENCE


def look_into_all(
    files: Sequence[File], order: Order, step: Callable[[int], None] = lambda n: None
) -> Iterator[Answer]:
    """Yield an answer per file, in the order in which they come; `step` is told how many there are so far, at least twice a second."""
    crew = _Crew(files, order)
    try:
        done = 0
        while done < len(files):
            for answer in crew.wait():
                done += 1
                yield answer
            step(done)
    finally:
        crew.end()


class _Crew:
    """The workers and what each is at."""

    def __init__(self, files: Sequence[File], order: Order) -> None:
        self._files, self._order = files, order
        self._waiting: deque[int] = deque(sorted(range(len(files)), key=lambda i: -files[i].size))
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        for _ in range(_worth(files, order.jobs)):
            self._hire()

    def wait(self) -> list[Answer]:
        """Hand out work, wait at most half a second, and return what came back."""
        for worker in self._workers:
            self._feed(worker)
        answers: list[Answer] = []
        for key, _ in self._selector.select(0.5):
            worker = cast(_Worker, key.data)
            data = os.read(cast(BinaryIO, key.fileobj).fileno(), 1 << 20)
            if data:
                worker.heard = time.monotonic()
                worker.buffer += data
                answers += self._take(worker)
            else:
                answers += self._bury(worker, codes.WORKER_DIED, "the process that read it ended")
        late = time.monotonic() - self._order.patience
        for worker in [w for w in self._workers if w.tasks and w.heard < late]:
            text = f"reading it took more than {self._order.patience:.0f} seconds"
            answers += self._bury(worker, codes.TOOK_TOO_LONG, text)
        for worker in [w for w in self._workers if not w.ready and time.monotonic() - w.started > _START_LIMIT]:
            self._bury(worker, codes.TOOK_TOO_LONG, "it does not start")
        return answers

    def end(self) -> None:
        """End all workers."""
        for worker in list(self._workers):
            self._dismiss(worker)
        self._selector.close()

    def _hire(self) -> None:
        facts = self._order.facts
        order = {
            "scanners": list(self._order.scanners),
            "containers": list(self._order.containers),
            "root": str(facts.root) if facts is not None else "",
            "version": facts.version if facts is not None else "",
        }
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the worker
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", _START, json.dumps(_own_path()), json.dumps(order)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        except OSError as error:
            raise _cannot_start(codes.WORKER_DIED, str(error)) from None
        worker = _Worker(process, errors)
        self._workers.append(worker)
        self._selector.register(cast(BinaryIO, process.stdout), selectors.EVENT_READ, worker)

    def _feed(self, worker: _Worker) -> None:
        """Give a worker so much work that it need not wait, and so little that the pipe holds it."""
        if not worker.ready:
            return
        ahead = sum(size for _, size in worker.tasks)
        lines: list[bytes] = []
        while self._waiting and len(worker.tasks) < _AHEAD_TASKS and ahead < _AHEAD_BYTES:
            number = self._waiting.popleft()
            file = self._files[number]
            line = json.dumps([number, file.place, file.shown, file.size, file.named, file.installed]).encode() + b"\n"
            if not worker.tasks:
                worker.heard = time.monotonic()
            worker.tasks.append((number, len(line)))
            ahead += len(line)
            lines.append(line)
        if lines:
            stream = cast(BinaryIO, worker.process.stdin)
            with contextlib.suppress(
                BrokenPipeError
            ):  # it is dead: its output has ended, too, and that is looked at next
                stream.write(b"".join(lines))
                stream.flush()

    def _take(self, worker: _Worker) -> list[Answer]:
        """Return the whole answers that a worker has sent."""
        answers: list[Answer] = []
        buffer, at = worker.buffer, 0
        while len(buffer) - at >= HEAD.size:
            text, payload = HEAD.unpack_from(buffer, at)
            end = at + HEAD.size + text + payload
            if len(buffer) < end:
                break
            head: dict[str, Any] = json.loads(buffer[at + HEAD.size : at + HEAD.size + text])
            facts = bytes(buffer[end - payload : end])
            at = end
            if "ready" in head:
                worker.ready = True
            elif "task" in head:
                number, _ = worker.tasks.popleft()
                answers.append(_answer(self._files[number], head, facts))
        del buffer[:at]
        return answers

    def _bury(self, worker: _Worker, code: str, why: str) -> list[Answer]:
        """End a worker, blame the file that it was at, hand its other tasks to the next."""
        if not worker.ready:
            worker.errors.seek(0)
            words = worker.errors.read()[-2000:].decode(errors="replace")
            raise _cannot_start(code, words)
        self._dismiss(worker)
        blamed = [worker.tasks.popleft()[0]] if worker.tasks else []
        self._waiting.extendleft(number for number, _ in reversed(worker.tasks))
        if self._waiting:
            self._hire()
        d = codes.diagnostic(code, why)
        row: Row = ["", d.code, d.message, d.severity, d.help]
        return [Answer(self._files[number], problem=row) for number in blamed]

    def _dismiss(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        process = worker.process
        self._selector.unregister(cast(BinaryIO, process.stdout))
        process.kill()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):
                cast(BinaryIO, stream).close()
        process.wait()
        worker.errors.close()


def _own_path() -> list[str]:
    """Return where this process finds modules, the working folder last: a `json.py` among the files that are looked into is not ours."""
    here = [place for place in sys.path if place in ("", os.getcwd())]
    return [place for place in sys.path if place not in here] + here


def _cannot_start(code: str, words: str) -> AnywarpError:
    return AnywarpError(Diagnostic(code, "the processes that read files cannot start", help=words))


def _worth(files: Sequence[File], jobs: int) -> int:
    """Return how many processes are worth their start, which takes as long as reading a hundred files or some megabytes."""
    if sum(file.size for file in files) < _SMALL_BYTES:
        jobs = min(jobs, 1 + len(files) // _SMALL_FILES)
    return max(1, min(jobs, len(files)))


def _answer(file: File, head: dict[str, Any], facts: bytes) -> Answer:
    if "problem" in head:
        return Answer(file, problem=head["problem"])
    return Answer(file, head["key"], None if head.get("known") else facts)

"""Has files worked on by several processes, so that one that dies or hangs over a file costs that file alone.

The processes are started afresh, never forked, and are given a few files at a time in a known order: the first unanswered one is to blame.
What they do is a function that `Work` names; `worker.py` is their side.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from typing import IO, Any, BinaryIO, Literal, cast

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate import codes
from anywarp.migrate.tree import File
from anywarp.migrate.worker import HEAD

PATIENCE = 60.0
"""Seconds that a worker may be silent over one file, or one member of an archive."""

_START_LIMIT = 120.0
_SMALL_FILES, _SMALL_BYTES = 100, 4 << 20
_AHEAD_TASKS, _AHEAD_BYTES = 24, 32 << 10  # within what a pipe holds, so that neither side waits for the other
_START = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from anywarp.migrate.worker import main; main(*sys.argv[2:])"
)


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with files: `begin` names a function, as `module:function`, that a worker calls once.

    It is given `order`, which must survive JSON, and what to call now and then during long work on one file; it returns
    the function that gets each `File` and returns its answer: anything that survives JSON, and bytes.
    """

    begin: str
    order: Any
    jobs: int = 1
    patience: float = PATIENCE


@dataclass(frozen=True, slots=True)
class Loss:
    """Why there is no answer for a file: its worker died, was silent too long, had too little memory, or raised an error."""

    how: Literal["died", "late", "memory", "raised"]
    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a file, which was the `number`-th."""

    number: int
    file: File
    head: Any = None
    payload: bytes = b""
    loss: Loss | None = None


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    tasks: deque[tuple[int, int]] = field(default_factory=deque[tuple[int, int]])  # numbers and sizes of lines sent
    buffer: bytearray = field(default_factory=bytearray)
    heard: float = field(default_factory=time.monotonic)
    ready: bool = False
    started: float = field(default_factory=time.monotonic)


def each_of(files: Sequence[File], work: Work, step: Callable[[int], None] = lambda n: None) -> Iterator[Answer]:
    """Yield an answer per file, in the order in which they come; `step` is told how many there are so far, at least twice a second.

    Workers get the files in the order given. AnywarpError M005 or M006 where none can start.
    """
    if not files:
        return
    crew = _Crew(files, work)
    try:
        done = 0
        while done < len(files):
            for answer in crew.wait():
                done += 1
                yield answer
            step(done)
    finally:
        crew.end()


def in_order(answers: Iterable[Answer]) -> Iterator[Answer]:
    """Yield answers in the order of the files, each as soon as all before it are there."""
    early: dict[int, Answer] = {}
    due = 0
    for answer in answers:
        early[answer.number] = answer
        while due in early:
            yield early.pop(due)
            due += 1


class _Crew:
    """The workers and what each is at."""

    def __init__(self, files: Sequence[File], work: Work) -> None:
        self._files, self._work = files, work
        self._waiting: deque[int] = deque(range(len(files)))
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        self._order = os.memfd_create("anywarp-order")  # every worker reads it, and it may be larger than a pipe holds
        try:
            with open(self._order, "wb", closefd=False) as file:
                file.write(json.dumps(work.order).encode())
            for _ in range(_worth(files, work.jobs)):
                self._hire()
        except BaseException:
            self.end()
            raise

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
                answers += self._bury(worker, Loss("died", "the process that read it ended"))
        late = time.monotonic() - self._work.patience
        for worker in [w for w in self._workers if w.tasks and w.heard < late]:
            answers += self._bury(worker, Loss("late", f"reading it took more than {self._work.patience:.0f} seconds"))
        for worker in [w for w in self._workers if not w.ready and time.monotonic() - w.started > _START_LIMIT]:
            self._bury(worker, Loss("late", "it does not start"))
        return answers

    def end(self) -> None:
        """End all workers."""
        for worker in list(self._workers):
            self._dismiss(worker)
        self._selector.close()
        os.close(self._order)

    def _hire(self) -> None:
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the worker
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", _START, json.dumps(_own_path()), self._work.begin, str(self._order)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                pass_fds=(self._order,),
            )
        except OSError as error:
            raise _cannot_start(codes.WORKER_DIED, str(error)) from None
        worker = _Worker(process, errors)
        self._workers.append(worker)
        self._selector.register(cast(BinaryIO, process.stdout), selectors.EVENT_READ, worker)

    def _feed(self, worker: _Worker) -> None:
        """Give a worker so much work that it need not wait, so little that the pipe holds it, and leave the others their share."""
        if not worker.ready:
            return
        ahead = sum(size for _, size in worker.tasks)
        most = max(2, min(_AHEAD_TASKS, len(self._waiting) // (2 * len(self._workers))))
        lines: list[bytes] = []
        while self._waiting and len(worker.tasks) < most:
            number = self._waiting[0]
            line = json.dumps([number, *astuple(self._files[number])]).encode() + b"\n"
            if worker.tasks and ahead + len(line) > _AHEAD_BYTES:
                break
            if not worker.tasks:
                worker.heard = time.monotonic()
            self._waiting.popleft()
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
            said: dict[str, Any] = json.loads(buffer[at + HEAD.size : at + HEAD.size + text])
            data = bytes(buffer[end - payload : end])
            at = end
            if "ready" in said:
                worker.ready = True
            elif "task" in said:
                number, _ = worker.tasks.popleft()
                loss = Loss(said["how"], said["why"]) if "how" in said else None
                answers.append(Answer(number, self._files[number], said.get("head"), data, loss))
        del buffer[:at]
        return answers

    def _bury(self, worker: _Worker, loss: Loss) -> list[Answer]:
        """End a worker, blame the file that it was at, hand its other tasks to the next."""
        if not worker.ready:
            worker.errors.seek(0)
            words = worker.errors.read()[-2000:].decode(errors="replace")
            raise _cannot_start(codes.WORKER_DIED if loss.how == "died" else codes.TOOK_TOO_LONG, words)
        self._dismiss(worker)
        blamed = [worker.tasks.popleft()[0]] if worker.tasks else []
        self._waiting.extendleft(number for number, _ in reversed(worker.tasks))
        if self._waiting:
            self._hire()
        return [Answer(number, self._files[number], loss=loss) for number in blamed]

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

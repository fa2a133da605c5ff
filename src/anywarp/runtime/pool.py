"""The compile service's workers: started on demand, replaced when they die, stopped when a kernel takes too long.

One request at a time goes to a worker; further ones wait or start another worker, up to a limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections import deque
from dataclasses import dataclass, field

from anywarp import settings
from anywarp.diagnostics import Diagnostic
from anywarp.runtime import surroundings, wire
from anywarp.runtime.wire import Message
from anywarp.runtime.worker import failure, subject

REMEMBERED = 4
"""How many images a worker is taken to hold still; if it does not, it says need-image."""

_OUT_OF_TIME = (-signal.SIGXCPU, -signal.SIGKILL)
"""How a process ends that has used up its RLIMIT_CPU, by the soft limit and by the hard one (setrlimit(2))."""

GRACE = 5.0
"""Seconds that a worker which broke its connection has to end by itself."""


@dataclass(eq=False)
class _Process:
    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    images: deque[str] = field(default_factory=lambda: deque[str](maxlen=REMEMBERED))

    async def ask(self, request: Message) -> Message:
        await wire.write(self.writer, request)
        reply = await wire.read(self.reader)
        if reply is None:
            raise wire.WireError("the worker ended")
        return reply

    async def stop(self) -> None:
        self.writer.close()
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
        await self.process.wait()

    async def ended(self) -> int | None:
        """Return the status of a worker whose connection broke; negative is a signal.

        It is waited for before it is killed: Popen's kill() polls, and when that reaps the process before asyncio's
        watcher does, asyncio knows the status no more and makes it 255.
        """
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.process.wait(), GRACE)
        await self.stop()
        return self.process.returncode


class Pool:
    """At most `size` compiler processes; `limit` is the seconds that one request may take."""

    def __init__(self, size: int, limit: float, module: str = "anywarp.runtime.worker") -> None:
        self._limit = limit
        self._module = module
        self._slots = asyncio.Semaphore(size)
        self._idle: list[_Process] = []

    async def ask(self, request: Message, image: bytes) -> Message:
        """Return a worker's reply; a worker that dies or exceeds the limit yields a failure that names the kernel."""
        async with self._slots:
            while True:
                used = self._take(request.value("image"))
                try:
                    worker = used or await self._start()
                except OSError as error:
                    return failure(_not_started(request, error))
                try:
                    reply = await asyncio.wait_for(self._converse(worker, request, image), self._limit or None)
                except asyncio.TimeoutError:  # first: since Python 3.11 it is an OSError too
                    await worker.stop()
                    return failure(_too_long(request, self._limit))
                except (wire.WireError, OSError):
                    status = await worker.ended()
                    spent = surroundings.processor_seconds() if status in _OUT_OF_TIME else None
                    if used is not None and spent is not None:
                        continue  # other kernels have used up its time
                    return failure(_out_of_time(request, spent) if spent is not None else _died(request, status))
                except BaseException:
                    await worker.stop()
                    raise
                self._idle.append(worker)
                return reply

    async def warm(self) -> None:
        """Start one worker ahead of the first request."""
        async with self._slots:
            with contextlib.suppress(OSError):  # the first request says it
                self._idle.append(await self._start())

    async def close(self) -> None:
        """Stop every idle worker."""
        while self._idle:
            await self._idle.pop().stop()

    async def _converse(self, worker: _Process, request: Message, image: bytes) -> Message:
        key = request.value("image")
        if key in worker.images:
            reply = await worker.ask(Message(request.lines))
            if reply.value("status") != "need-image":
                return reply
        reply = await worker.ask(Message(request.lines, image))
        worker.images.append(key)
        return reply

    def _take(self, image: str) -> _Process | None:
        """Return an idle worker, the one that knows the image if there is one."""
        alive = [worker for worker in self._idle if worker.process.returncode is None]
        self._idle = alive
        if not alive:
            return None
        chosen = next((worker for worker in alive if image in worker.images), alive[-1])
        alive.remove(chosen)
        return chosen

    async def _start(self) -> _Process:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *settings.python_command(sys.executable, self._module),
                stdin=theirs.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
            )
        reader, writer = await asyncio.open_connection(sock=ours)
        return _Process(process, reader, writer)


def _not_started(request: Message, error: OSError) -> Diagnostic:
    return Diagnostic(
        "R009",
        f"no process can be started to compile {subject(request)}: {error.strerror or error}",
        help="look for a limit of processes or open files (ulimit -a)",
    )


def _out_of_time(request: Message, seconds: int) -> Diagnostic:
    return Diagnostic(
        "R009",
        f"compiling {subject(request)} was ended after {seconds} seconds of processor time, the limit that the program which started "
        "the compile service had",
        help="raise the hard limit (ulimit -t), or compile ahead without it: anywarp cache warm",
    )


def _died(request: Message, status: int | None) -> Diagnostic:
    how = f"signal {-status}" if status is not None and status < 0 else f"status {status}"
    return Diagnostic(
        "R004",
        f"the compiler crashed on {subject(request)} ({how})",
        help="this is a defect in anywarp; please report it with the kernel's PTX",
    )


def _too_long(request: Message, limit: float) -> Diagnostic:
    return Diagnostic(
        "R005",
        f"compiling {subject(request)} took longer than {limit:g} seconds and was given up",
        help="set ANYWARP_COMPILE_LIMIT to a larger number of seconds",
    )

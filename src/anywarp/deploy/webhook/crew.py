"""The workers of the webhook: each answers one review at a time, and is killed and replaced when it is silent too long or dies."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from dataclasses import dataclass

from anywarp import settings
from anywarp.deploy.webhook import codes
from anywarp.deploy.webhook.review import Answer, Rules, let_through
from anywarp.deploy.webhook.worker import LENGTH

_START_LIMIT = 60.0
_REVIEWS = 5000
"""Reviews after which a worker is replaced, so that nothing grows for as long as a cluster runs."""
_UID = re.compile(rb'"request"\s*:\s*\{\s*"uid"\s*:\s*"([0-9A-Za-z-]{1,128})"')
"""Where the API server writes the uid of a review: for answering one that a worker did not survive."""


@dataclass(slots=True)
class _Worker:
    process: asyncio.subprocess.Process
    reviews: int = 0

    async def ask(self, data: bytes) -> Answer:
        """Send a review and return its answer; EOFError or OSError when the worker died."""
        assert self.process.stdin is not None
        self.process.stdin.write(LENGTH.pack(len(data)) + data)
        await self.process.stdin.drain()
        self.reviews += 1
        return await self.hear()

    async def hear(self) -> Answer:
        outcome, changes, left, why = json.loads(await self._frame())
        return Answer(await self._frame(), outcome, changes, left, why)

    async def _frame(self) -> bytes:
        assert self.process.stdout is not None
        (size,) = LENGTH.unpack(await self.process.stdout.readexactly(LENGTH.size))
        return await self.process.stdout.readexactly(size)

    async def end(self) -> None:
        """Kill the process and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()


class Crew:
    """So many workers; a review that finds none free waits for one, at most as long as it may take at all."""

    def __init__(self, rules: Rules, workers: int, time_limit: float) -> None:
        self._rules = json.dumps(rules.packed()).encode()
        self._count = workers
        self._limit = time_limit
        self._free: asyncio.Queue[_Worker | None] = asyncio.Queue()
        self._running: dict[int, _Worker] = {}

    @property
    def ready(self) -> bool:
        """Whether a worker is there to answer."""
        return any(worker.process.returncode is None for worker in self._running.values())

    async def start(self) -> None:
        """Start the workers; AnywarpError (Y113) when the first does not come up."""
        for _ in range(self._count):
            self._free.put_nowait(await self._started())

    async def stop(self) -> None:
        """End all workers."""
        for worker in list(self._running.values()):
            await worker.end()
        self._running.clear()

    async def answer(self, data: bytes) -> Answer:
        """Answer a review within the time limit, whatever happens to the worker that it is given to."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._limit
        try:
            worker = await asyncio.wait_for(self._free.get(), self._limit)
        except asyncio.TimeoutError:
            return _unanswered(data, "all workers of the webhook were busy")
        said: Answer | None = None
        why = ""
        try:
            if worker is None or worker.process.returncode is not None:
                if worker is not None:
                    await self._drop(worker)
                worker = await asyncio.wait_for(self._started(), max(until - loop.time(), 0.01))
            said = await asyncio.wait_for(worker.ask(data), max(until - loop.time(), 0.01))
        except asyncio.TimeoutError:
            why = f"its conversion took more than {self._limit:g} s"
        except (OSError, EOFError, ValueError, codes.AnywarpError) as error:
            why = f"its conversion ended the process that did it ({type(error).__name__})"
        finally:  # also when the one who asked went away
            if said is None or worker is None or worker.reviews >= _REVIEWS:
                if worker is not None:
                    await asyncio.shield(self._drop(worker))
                self._free.put_nowait(None)
            else:
                self._free.put_nowait(worker)
        return said if said is not None else _unanswered(data, why)

    async def _drop(self, worker: _Worker) -> None:
        self._running.pop(worker.process.pid, None)
        await worker.end()

    async def _started(self) -> _Worker:
        command = settings.python_command(sys.executable, "anywarp.deploy.webhook.worker")
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 20
        )
        worker = _Worker(process)
        self._running[process.pid] = worker
        try:
            await asyncio.wait_for(worker.ask(self._rules), _START_LIMIT)
        except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
            await self._drop(worker)
            help = "see what it said above; run `anywarp webhook try` on a manifest to see it alone"
            raise codes.problem(
                codes.WORKERS, f"a worker of the webhook did not start: {type(error).__name__}", help
            ) from error
        except asyncio.CancelledError:
            await self._drop(worker)
            raise
        return worker


def _unanswered(data: bytes, why: str) -> Answer:
    """Let a review through of which only the uid is known; without one there is nothing to answer."""
    found = _UID.search(data[:4096])
    return let_through(found[1].decode(), why) if found else Answer(b"", "no-review", why=why)

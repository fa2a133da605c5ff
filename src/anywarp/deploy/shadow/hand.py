"""Hands exchanges to the comparer, a process of its own that may be slow, crash or be killed: what it does not take is dropped and counted."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections import Counter

from anywarp.deploy.shadow.exchange import Exchange, pack_frame
from anywarp.deploy.shadow.options import Options
from anywarp.settings import python_command

MOST_WAITING = 32 << 20
"""Bytes that wait for the comparer; what comes on top is dropped."""
PAUSES = (0.2, 30.0)
"""Seconds before a comparer that died is started again: the first time, and at most."""
TOLD = 1.0
"""Seconds between two reports of what was counted."""


class Hand:
    """A running comparer, and its successors."""

    def __init__(self, options: Options) -> None:
        """Prepare for a comparer with these options; `keep_one` runs it."""
        self.starts = 0
        self.process: asyncio.subprocess.Process | None = None
        self._options = options
        self._counts: Counter[tuple[str, str]] = Counter()
        self._ending = False

    def give(self, exchange: Exchange) -> None:
        """Hand an exchange over, or drop it."""
        self.count(exchange.stage, "seen")
        if exchange.sampled:
            self.count(exchange.stage, "sampled")
        if not self._send(exchange.pack()):
            self.count(exchange.stage, "dropped: comparer")

    def count(self, stage: str, name: str) -> None:
        """Count something; the comparer is told each second."""
        self._counts[stage, name] += 1

    async def keep_one(self) -> None:
        """Run a comparer, and another when it dies, until `end`."""
        pause = PAUSES[0]
        while not self._ending:
            began = time.monotonic()
            await self._run_one()
            pause = PAUSES[0] if time.monotonic() - began > 60 else min(pause * 2, PAUSES[1])
            if not self._ending:
                await asyncio.sleep(pause)

    async def end(self, seconds: float) -> None:
        """Let the comparer write what it has, for so long at most."""
        self._ending = True
        process = self.process
        if process is None or process.stdin is None:
            return
        self._tell()
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), seconds)
        except asyncio.TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _run_one(self) -> None:
        command = python_command(sys.executable, "anywarp.deploy.shadow.comparer")
        try:
            # A session of its own: an interrupt from the terminal is for the relay, which then lets it finish.
            self.process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.PIPE, start_new_session=True
            )
        except OSError:  # too many processes, no memory: callers are still served
            return
        self.starts += 1
        assert self.process.stdin is not None
        self.process.stdin.write(pack_frame({}, self._options.write().encode()))
        telling = asyncio.get_running_loop().create_task(self._tell_on())
        try:
            await self.process.wait()
        finally:
            telling.cancel()
            with contextlib.suppress(Exception):
                self.process.stdin.close()
            if not self._ending:
                self.process = None
                self.count("", "comparer died")

    async def _tell_on(self) -> None:
        while True:
            await asyncio.sleep(TOLD)
            self._tell()

    def _tell(self) -> None:
        counts = [[stage, name, count] for (stage, name), count in self._counts.items()]
        if counts and self._send(pack_frame({"counts": counts})):
            self._counts.clear()

    def _send(self, frame: bytes) -> bool:
        pipe = self.process.stdin if self.process is not None else None
        if pipe is None or pipe.is_closing() or pipe.transport.get_write_buffer_size() + len(frame) > MOST_WAITING:
            return False
        pipe.write(frame)
        return True

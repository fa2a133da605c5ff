"""Runs the proxy: the relay, its comparer, the control file, and an end that lets requests finish."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from pathlib import Path

from anywarp.deploy.shadow.hand import Hand
from anywarp.deploy.shadow.options import ControlFile, Options
from anywarp.deploy.shadow.relay import Client, Relay
from anywarp.diagnostics import AnywarpError, Diagnostic

LOOK = 0.2
"""Seconds between two looks at the control file."""
GRACE = 30.0
"""Seconds that requests have to end in."""


def serve(options: Options, started: Callable[[str, int], None], grace: float = GRACE) -> int:
    """Serve until SIGTERM or SIGINT, then let requests end; return how many were cut off after `grace` seconds.

    `started` is called with host and port once callers are taken. AnywarpError where the address cannot be listened at.
    """
    return asyncio.run(_serve(options, started, grace))


async def _serve(options: Options, started: Callable[[str, int], None], grace: float) -> int:
    loop = asyncio.get_running_loop()
    hand = Hand(options)
    relay = Relay(options, hand)
    file = ControlFile(Path(options.control))
    file.look()
    relay.control = file.control
    try:
        server = await loop.create_server(lambda: Client(relay), options.host, options.port, backlog=1024)
    except OSError as error:
        raise AnywarpError(
            Diagnostic(
                "Y090",
                f"the proxy cannot listen at {options.host}:{options.port}: {error.strerror or error}",
                help="Choose another address, or end what listens there.",
            )
        ) from None
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    tasks = [loop.create_task(hand.keep_one()), loop.create_task(_look_on(file, relay))]
    host, port = server.sockets[0].getsockname()[:2]
    started(host, port)
    await ended.wait()
    server.close()
    cut = await relay.drain(grace)
    await hand.end(grace)
    for task in tasks:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    return cut


async def _look_on(file: ControlFile, relay: Relay) -> None:
    while True:
        await asyncio.sleep(LOOK)
        if file.look():
            relay.control = file.control
        relay.sweep()

"""Runs the proxy: the relay, its comparer, the control file, and an end that lets requests finish."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from anywarp.deploy.shadow.hand import Hand
from anywarp.deploy.shadow.options import ControlFile, Options
from anywarp.deploy.shadow.relay import Client, Relay
from anywarp.deploy.webhook.certificates import Watched
from anywarp.diagnostics import AnywarpError, Diagnostic

LOOK = 0.2
"""Seconds between two looks at the control file."""
RENEWED = 10.0
"""Seconds between two looks at the certificate."""
GRACE = 30.0
"""Seconds that requests have to end in."""


def serve(options: Options, started: Callable[[str, int], None], grace: float = GRACE) -> int:
    """Serve until SIGTERM or SIGINT, then let requests end; return how many were cut off after `grace` seconds.

    `started` is called with host and port once callers are taken. AnywarpError where the address cannot be listened at.
    """
    return asyncio.run(_serve(options, started, grace))


async def _serve(options: Options, started: Callable[[str, int], None], grace: float) -> int:
    loop = asyncio.get_running_loop()
    shown = _certificate(options)
    hand = Hand(options)
    relay = Relay(options, hand)
    file = ControlFile(Path(options.control))
    file.look()
    relay.control = file.control
    tls = shown.context if shown is not None else None
    try:
        server = await loop.create_server(lambda: Client(relay), options.host, options.port, backlog=1024, ssl=tls)
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
    tasks = [
        loop.create_task(hand.keep_one()),
        loop.create_task(_look_on(file, relay)),
        loop.create_task(_renew(shown)),
    ]
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


def _certificate(options: Options) -> Watched | None:
    """Return what callers are shown; None where they speak plainly. AnywarpError (Y093) where it cannot be used."""
    if not options.certificate:
        return None
    try:
        shown = Watched(Path(options.certificate), Path(options.key))
    except AnywarpError as error:
        raise _unusable(error) from error
    shown.context.set_alpn_protocols(["http/1.1"])
    return shown


def _unusable(error: AnywarpError) -> AnywarpError:
    help = "give a certificate with its chain, and its key without a password, both in PEM"
    return AnywarpError(Diagnostic("Y093", error.diagnostic.message, help=help))


async def _renew(shown: Watched | None) -> None:
    """Take up a certificate that was replaced; one that cannot be used is said, and the old one goes on."""
    said = ""
    while shown is not None:
        await asyncio.sleep(RENEWED)
        try:
            shown.refresh()
            said = ""
        except AnywarpError as error:
            told = _unusable(error).diagnostic.as_text()
            if told != said:
                print(told, file=sys.stderr, flush=True)
            said = told

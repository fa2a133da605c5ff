"""The webhook's server: HTTPS, one path that answers reviews, and those that tell how it is.

Bounded everywhere: bytes of a request, requests at a time, connections, the time to send a request and to answer it.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anywarp.deploy.webhook import codes
from anywarp.deploy.webhook.certificates import Watched
from anywarp.deploy.webhook.crew import Crew
from anywarp.deploy.webhook.metrics import Metrics
from anywarp.deploy.webhook.review import Rules

if TYPE_CHECKING:
    from aiohttp import web

PATH = "/convert"
LARGEST = 8 << 20
"""Bytes of a request: the API server takes objects of 3 MiB, and a review holds one, escaped, with its surroundings."""
_MOST_CONNECTIONS = 256
_MOST_WAITING = 64
_IDLE = 60.0
_REFRESH = 5.0


@dataclass(frozen=True, slots=True)
class Serving:
    """How the webhook is served: where, by how many workers, how long a review may take, and over which certificate (None: plain HTTP)."""

    host: str = "127.0.0.1"
    port: int = 8443
    workers: int = 2
    time_limit: float = 5.0
    certificate: Watched | None = None
    rules: Rules = field(default_factory=Rules)
    told: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)


class _Connections:
    """Connections that are open, since when each is silent, and no more than may be."""

    def __init__(self, refused: Callable[[str], None]) -> None:
        self._silent_since: dict[Any, float] = {}
        self._busy: set[Any] = set()
        self._refused = refused

    def admit(self, make: Callable[[], asyncio.Protocol]) -> asyncio.Protocol:
        """Return the protocol of a new connection: one that closes it at once when there are too many."""
        self._silent_since = {one: since for one, since in self._silent_since.items() if _is_open(one)}
        if len(self._silent_since) >= _MOST_CONNECTIONS:
            self._refused("connections")
            return _Closing()
        protocol = make()
        self._silent_since[protocol] = time.monotonic()
        return protocol

    @contextlib.contextmanager
    def busy(self, protocol: Any) -> Any:
        """While in force, a connection is not silent."""
        self._busy.add(protocol)
        try:
            yield
        finally:
            self._busy.discard(protocol)
            if protocol in self._silent_since:
                self._silent_since[protocol] = time.monotonic()

    def sweep(self) -> None:
        """Close connections on which nobody has said anything whole for a minute."""
        before = time.monotonic() - _IDLE
        for protocol, since in list(self._silent_since.items()):
            if since < before and protocol not in self._busy:
                transport = getattr(protocol, "transport", None)
                if transport is not None:
                    transport.abort()
                self._silent_since.pop(protocol, None)


def _is_open(protocol: Any) -> bool:
    transport = getattr(protocol, "transport", None)
    return transport is None or not transport.is_closing()


class _Closing(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


class Server:
    """A running webhook: `start`, then `stop`; `port` is the one that it listens on."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._crew = Crew(serving.rules, serving.workers, serving.time_limit)
        self._metrics = Metrics()
        self._connections = _Connections(self._metrics.refused)
        self._waiting = 0
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._runner: web.AppRunner | None = None
        self._listener: asyncio.Server | None = None
        self.port = serving.port

    async def start(self) -> None:
        """Start workers and listen; AnywarpError: Y110 without aiohttp, Y112 when the address cannot be had, Y113 without workers."""
        try:
            from aiohttp import web
        except ImportError as error:
            raise codes.missing(error) from error
        await self._crew.start()
        app = web.Application(client_max_size=LARGEST)
        app.router.add_post(PATH, self._convert)
        app.router.add_get("/healthz", self._healthy)
        app.router.add_get("/readyz", self._ready)
        app.router.add_get("/metrics", self._measured)
        self._runner = web.AppRunner(app, access_log=None, keepalive_timeout=_IDLE, handle_signals=False)
        await self._runner.setup()
        server = self._runner.server
        assert server is not None
        tls = self._serving.certificate
        loop = asyncio.get_running_loop()
        try:
            self._listener = await loop.create_server(
                lambda: self._connections.admit(server),
                self._serving.host,
                self._serving.port,
                ssl=tls.context if tls is not None else None,
                ssl_handshake_timeout=10.0 if tls is not None else None,
            )
        except OSError as error:
            await self.stop()
            where = f"{self._serving.host}:{self._serving.port}"
            help = "choose another address with --listen, such as --listen 0.0.0.0:8443"
            raise codes.problem(
                codes.CANNOT_LISTEN, f"{where} cannot be listened on: {error.strerror}", help
            ) from error
        self.port = self._listener.sockets[0].getsockname()[1]
        self._tasks = [loop.create_task(self._again_and_again())]

    async def stop(self) -> None:
        """Answer what is under way, then end everything."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        if self._listener is not None:
            self._listener.close()
        if self._runner is not None:
            await self._runner.cleanup()
        await self._crew.stop()

    async def _again_and_again(self) -> None:
        while True:
            await asyncio.sleep(_REFRESH)
            self._connections.sweep()
            self.refresh()

    def refresh(self) -> None:
        """Read the certificate again if it changed."""
        tls = self._serving.certificate
        if tls is None:
            return
        try:
            if tls.refresh():
                self._metrics.certificate("loaded")
                self._serving.told(f"anywarp: {tls.certificate} has changed and was read again")
        except codes.AnywarpError as error:
            self._metrics.certificate("failed")
            self._serving.told(error.diagnostic.as_text())

    async def _convert(self, request: web.Request) -> web.Response:
        from aiohttp import web

        if request.content_type != "application/json":
            self._metrics.refused("content type")
            raise web.HTTPUnsupportedMediaType(text="reviews are sent as application/json\n")
        if self._waiting >= _MOST_WAITING:
            self._metrics.refused("too many at a time")
            raise web.HTTPServiceUnavailable(text="too many reviews at a time\n", headers={"Retry-After": "1"})
        self._waiting += 1
        self._metrics.under_way.set(self._waiting)
        started = time.monotonic()
        try:
            with self._connections.busy(request.protocol):
                data = await self._body(request)
                said = await self._crew.answer(data)
        finally:
            self._waiting -= 1
            self._metrics.under_way.set(self._waiting)
        self._metrics.reviewed(said, time.monotonic() - started)
        if said.why:
            self._serving.told(f"anywarp: a review was not understood: {said.why}")
        if not said.data:
            raise web.HTTPBadRequest(text=f"{said.why}\n")
        return web.Response(body=said.data, content_type="application/json")

    async def _body(self, request: web.Request) -> bytes:
        from aiohttp import web

        try:
            return await asyncio.wait_for(request.read(), self._serving.time_limit)
        except asyncio.TimeoutError:
            self._metrics.refused("slow")
            raise web.HTTPRequestTimeout(text="the review took too long to arrive\n") from None
        except web.HTTPRequestEntityTooLarge:
            self._metrics.refused("too large")
            raise

    async def _healthy(self, _: web.Request) -> web.Response:
        from aiohttp import web

        return web.Response(text="ok\n")

    async def _ready(self, _: web.Request) -> web.Response:
        from aiohttp import web

        if self._stopping or not self._crew.ready:
            raise web.HTTPServiceUnavailable(text="no worker\n")
        return web.Response(text="ok\n")

    async def _measured(self, _: web.Request) -> web.Response:
        from aiohttp import web

        return web.Response(
            body=self._metrics.text(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        )


def serve(serving: Serving) -> None:
    """Serve until the process is told to end (SIGTERM, SIGINT)."""
    asyncio.run(_serve(serving))


async def _serve(serving: Serving) -> None:
    server = Server(serving)
    await server.start()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    loop.add_signal_handler(signal.SIGHUP, server.refresh)
    scheme = "https" if serving.certificate is not None else "http"
    serving.told(
        f"anywarp: pods are converted for {serving.rules.options.target} at {scheme}://{serving.host}:{server.port}{PATH}"
    )
    await ended.wait()
    await server.stop()

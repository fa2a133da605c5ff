"""The way to a server: a connection that belongs to one caller, and what is noted of the answers on it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections import deque
from typing import Protocol

from anywarp.deploy.shadow.exchange import MOST_ANSWER, MOST_REQUEST, TAIL, Exchange
from anywarp.deploy.shadow.framing import Follower, Head, Step
from anywarp.deploy.shadow.options import SIDE_HEADER, Control, Server

CONNECT = 10.0
"""Seconds that a server may take to accept a connection, before the next of its pool is tried."""
BUFFER = 256 << 10
"""Bytes that wait for a slow reader before the other side is not read any more."""


class Receiver(Protocol):
    """Who takes what the relay has noted; never blocks."""

    def give(self, exchange: Exchange) -> None:
        """Take an exchange that has ended."""
        ...

    def count(self, stage: str, name: str) -> None:
        """Count something that is no exchange."""
        ...


class Pools(Protocol):
    """What all connections share (`relay.Relay`)."""

    control: Control
    receiver: Receiver

    def servers(self, side: str) -> list[Server]: ...
    def refused(self, server: Server) -> None: ...
    def working(self, server: Server, by: int) -> None: ...
    def tls(self, server: Server) -> ssl.SSLContext | None: ...
    def keep(self, exchange: Exchange, into: list[bytes], data: bytes, most: int) -> None: ...


class Caller(Protocol):
    """Whose connection it is (`relay.Client`)."""

    answering: deque[tuple[Exchange, Upstream]]
    tunnel: Upstream | None
    paused: bool

    @property
    def relay(self) -> Pools: ...

    def write(self, data: bytes) -> None: ...
    def read_on(self, yes: bool) -> None: ...
    def answered(self) -> None: ...
    def turn_into_tunnel(self, upstream: Upstream) -> None: ...
    def server_gone(self, upstream: Upstream, error: Exception | None) -> None: ...
    def no_server(self, upstream: Upstream, why: str) -> None: ...


class Upstream(asyncio.Protocol):
    """A connection to a server, for one caller."""

    def __init__(self, client: Caller, side: str) -> None:
        """Belong to a caller's connection."""
        self.client, self.side = client, side
        self.follower = Follower(requests=False)
        self.server: Server | None = None
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0
        self._ending = False
        self._over = False
        self._task: asyncio.Task[None] | None = None

    def connect(self) -> None:
        """Begin to connect to the first server of the side that accepts."""
        self._task = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        relay, loop, why = self.client.relay, asyncio.get_running_loop(), "the pool has no servers"
        for server in relay.servers(self.side):
            tls = relay.tls(server)
            try:
                self.server = server
                await asyncio.wait_for(loop.create_connection(lambda: self, server.host, server.port, ssl=tls), CONNECT)
                return
            except (OSError, asyncio.TimeoutError) as error:
                relay.refused(server)
                self.server = None
                why = f"{server.name} cannot be reached ({error or 'no answer'})"
            if self._over:
                return
        self._over = True
        self.client.no_server(self, why)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send what has waited."""
        assert isinstance(transport, asyncio.Transport) and self.server is not None
        self.client.relay.working(self.server, 1)
        self._transport = transport
        if self._over:
            transport.abort()
            return
        transport.set_write_buffer_limits(high=BUFFER)
        with contextlib.suppress(OSError, AttributeError):
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        unsent, self._unsent = self._unsent, []
        if unsent:
            transport.write(b"".join(unsent))
        if self._unsent_bytes > BUFFER:
            self.client.read_on(True)
        if self._ending:
            self.end()
        if self.client.paused:
            self.read_on(False)

    def send(self, data: bytes) -> None:
        """Send to the server, as soon as it is connected."""
        if self._transport is not None:
            self._transport.write(data)
            return
        self._unsent.append(data)
        self._unsent_bytes += len(data)
        if self._unsent_bytes > BUFFER:
            self.client.read_on(False)

    def end(self) -> None:
        """Tell the server that the caller sends no more."""
        self._ending = True
        if self._transport is None:
            return
        if self._transport.can_write_eof():
            self._transport.write_eof()
        elif not any(by is self for _, by in self.client.answering):
            self._transport.close()

    def cut(self) -> None:
        """Close the connection at once: the caller is gone."""
        self._over = True
        if self._transport is not None:
            self._transport.abort()
        elif self._task is not None:
            self._task.cancel()

    def read_on(self, yes: bool) -> None:
        """Read what the server sends, or stop for as long as the caller takes no more."""
        if self._transport is not None and not self._transport.is_closing():
            (self._transport.resume_reading if yes else self._transport.pause_reading)()

    def pause_writing(self) -> None:
        """Take no more from the caller than the server takes."""
        self.client.read_on(False)

    def resume_writing(self) -> None:
        """Take more again."""
        self.client.read_on(True)

    def data_received(self, data: bytes) -> None:
        """Pass on what the server sends."""
        client = self.client
        if client.tunnel is self and not client.answering:
            client.write(data)
            return
        if not client.answering:  # a server that speaks unasked, as when it closes an idle connection with 408
            client.write(self.follower.give_up() + data)
            client.turn_into_tunnel(self)
            return
        self.follower.method = client.answering[0][0].method
        for step in self.follower.feed(data):
            client.write(step.raw)
            if client.answering:
                self._note(client.answering[0][0], step)

    def _note(self, exchange: Exchange, step: Step) -> None:
        client = self.client
        if step.head is not None:
            self._note_head(exchange, step.head)
        if step.body:
            if exchange.first is None:
                exchange.first = time.monotonic()
            if exchange.events >= 0:
                exchange.events += step.raw.count(b"data:")
        if exchange.sampled:
            client.relay.keep(exchange, exchange.answer, step.raw, MOST_REQUEST + MOST_ANSWER)
        else:
            exchange.tail = (exchange.tail + step.raw)[-TAIL:]
        if step.lost or exchange.status == 101 or (exchange.method == "CONNECT" and exchange.status == 200):
            client.relay.receiver.count(exchange.stage, f"not followed: {self.follower.lost or 'another protocol'}")
            client.turn_into_tunnel(self)
            return
        if step.ended and (exchange.status or 0) >= 200:
            client.answered()
            if client.answering:
                self.follower.method = client.answering[0][0].method

    def _note_head(self, exchange: Exchange, head: Head) -> None:
        exchange.status = head.status
        exchange.member = self.server.name if self.server is not None else ""
        if self.side == "gateway" and head.status >= 200:
            side, _, member = head.get(SIDE_HEADER).partition("/")
            exchange.side = side if side in ("source", "target") else ""
            exchange.member = member or exchange.member
            if not exchange.side and not self.client.relay.control.target_share:
                exchange.side = "source"
        if not head.get("content-type").startswith("text/event-stream"):
            exchange.events = -1
        if exchange.sampled and head.status < 200:
            exchange.answer.clear()

    def eof_received(self) -> bool:
        """Close: a server that has ended its side has answered."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass the end on."""
        if self.server is not None:
            self.client.relay.working(self.server, -1)
        if self._over:
            return
        self._over = True
        if rest := self.follower.give_up():
            self.client.write(rest)
        self.client.server_gone(self, exc)

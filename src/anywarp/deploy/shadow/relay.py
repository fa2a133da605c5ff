"""Moves bytes between callers and the pool that answers them, unchanged and at once, and notes what went by.

One caller's connection has its own connections to servers, which are shared with nobody: what a caller sends can never reach the answer
of another, and a server's closing, half-closing and breaking off are passed on as they come. Nothing is read ahead of a reader that is slow.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import select
import socket
import ssl
import struct
import time
import uuid
from collections import Counter, deque

from anywarp.deploy.shadow.exchange import MOST_REQUEST, Exchange
from anywarp.deploy.shadow.framing import Follower, Head, Step
from anywarp.deploy.shadow.options import Control, Options, Server
from anywarp.deploy.shadow.routing import LOOKED_AT, falls_to_target, found_conversation, named_conversation
from anywarp.deploy.shadow.upstream import BUFFER, Receiver, Upstream

AVOIDED = 2.0
"""Seconds for which a server that refused is tried last."""
STALLED = 600.0
"""Seconds after which a connection is cut whose other side takes nothing."""
MOST_KEPT = 128 << 20
"""Bytes of requests and answers that are kept for comparing, all together."""


class Relay:
    """The state that all connections share."""

    def __init__(self, options: Options, receiver: Receiver) -> None:
        """Relay as the options say, until `control` is set anew."""
        self.options, self.receiver = options, receiver
        self.control = Control()
        self.clients: set[Client] = set()
        self.kept = 0
        self.draining = False
        self._working: Counter[str] = Counter()
        self._avoided: dict[str, float] = {}
        self._random = random.Random(options.seed or None)
        self._tls = ssl.create_default_context() if any(s.tls for s in self._servers()) else None

    def _servers(self) -> list[Server]:
        gateway = [self.options.gateway] if self.options.gateway else []
        return [*self.options.source, *self.options.target, *gateway]

    @property
    def one_side(self) -> str | None:
        """The side that everything goes to, None while conversations are divided."""
        if self.options.gateway:
            return "gateway"
        return {0.0: "source", 1.0: "target"}.get(float(self.control.target_share))

    def servers(self, side: str) -> list[Server]:
        """Return a side's servers in the order to try them: the least busy first, those that refused last."""
        if side == "gateway":
            return [self.options.gateway] if self.options.gateway else []
        pool = list(self.options.source if side == "source" else self.options.target)
        self._random.shuffle(pool)
        now = time.monotonic()
        return sorted(pool, key=lambda s: (self._avoided.get(s.name, 0) > now, self._working[s.name]))

    def refused(self, server: Server) -> None:
        """Note that a server could not be reached."""
        self._avoided[server.name] = time.monotonic() + AVOIDED

    def working(self, server: Server, by: int) -> None:
        """Note that a server has one connection more or fewer."""
        self._working[server.name] += by

    def tls(self, server: Server) -> ssl.SSLContext | None:
        """Return how to speak TLS to a server; None where it speaks plainly."""
        return self._tls if server.tls else None

    def begin(self, head: Head) -> Exchange:
        """Return a new exchange, sampled or not."""
        control, now = self.control, time.monotonic()
        path = head.target.partition("?")[0]
        exchange = Exchange(uuid.uuid4().hex, control.stage, head.method, path[:200], now, time.time())
        share = self.options.sample if control.sample is None else control.sample
        wanted = head.method == "POST" and control.replay == "other"
        exchange.sampled = wanted and self._random.random() < share
        return exchange

    def keep(self, exchange: Exchange, into: list[bytes], data: bytes, most: int) -> None:
        """Keep bytes of a sampled exchange, within its bounds and those of all."""
        if exchange.not_kept:
            return
        if exchange.kept + len(data) > most or self.kept + len(data) > MOST_KEPT:
            exchange.not_kept = "too long" if exchange.kept + len(data) > most else "memory"
            self.forget(exchange)
            return
        into.append(data)
        exchange.kept += len(data)
        self.kept += len(data)

    def forget(self, exchange: Exchange) -> None:
        """Let go of the bytes that were kept."""
        self.kept -= exchange.kept
        exchange.kept = 0
        exchange.request.clear()
        exchange.answer.clear()

    def done(self, exchange: Exchange) -> None:
        """Hand an exchange over."""
        exchange.ended = time.monotonic()
        self.receiver.give(exchange)
        self.forget(exchange)

    def sweep(self) -> None:
        """Cut the connections of callers who are gone or of servers that take nothing: nobody reads from those, so nothing else tells."""
        for client in list(self.clients):
            client.look_after()

    async def drain(self, seconds: float) -> int:
        """Let requests end and close what is idle, for so long at most; return how many were cut off."""
        self.draining = True
        for client in list(self.clients):
            client.close_if_idle()
        end = time.monotonic() + seconds
        while self.clients and time.monotonic() < end:
            await asyncio.sleep(0.02)
        left = list(self.clients)
        for client in left:
            client.cut()
        return len(left)


class Client(asyncio.Protocol):
    """A caller's connection."""

    def __init__(self, relay: Relay) -> None:
        """Wait for a caller."""
        self.relay = relay
        self.transport: asyncio.Transport | None = None
        self.answering: deque[tuple[Exchange, Upstream]] = deque()
        """Requests whose answer has not ended, in order."""
        self.tunnel: Upstream | None = None
        """Where everything goes unread, once the bytes cannot be followed."""
        self.paused = False
        """This caller does not take what is sent to it."""
        self._follower = Follower(requests=True)
        self._steps: deque[Step] = deque()
        self._upstreams: dict[str, Upstream] = {}
        self._receiving: Exchange | None = None
        self._undecided: list[bytes] | None = None
        self._looked: list[bytes] = []
        self._conversation = ""
        self._blocked = False
        self._left = False
        self._held_since: float | None = None
        """Since when this caller is not read from; None while it is."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the caller, and connect to where it will be sent while its request is on the way."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=BUFFER)
        self.relay.clients.add(self)
        if (side := self.relay.one_side) is not None:
            self._upstream(side)

    def data_received(self, data: bytes) -> None:
        """Pass on what the caller sends."""
        if self.tunnel is not None:
            self.tunnel.send(data)
            return
        self._steps.extend(self._follower.feed(data))
        self._advance()

    def eof_received(self) -> bool:
        """Pass on that the caller sends no more; it may still be listening."""
        self._left = True
        if rest := self._follower.give_up():
            self._open_tunnel(rest)
        for upstream in list(self._upstreams.values()):
            upstream.end()
        tls = self.transport is not None and self.transport.get_extra_info("sslcontext") is not None
        return bool(self.answering or self.tunnel) and not tls  # TLS has no half-closed connections

    def connection_lost(self, exc: Exception | None) -> None:
        """Break off what the caller asked for."""
        self.relay.clients.discard(self)
        for exchange, _ in self.answering:
            exchange.error = exchange.error or "client left"
            self.relay.done(exchange)
        self.answering.clear()
        self._steps.clear()
        if self._receiving is not None:
            self.relay.forget(self._receiving)
        for upstream in list(self._upstreams.values()):
            upstream.cut()
        self._upstreams.clear()

    def pause_writing(self) -> None:
        """Read no more of the answer than the caller takes."""
        self.paused = True
        for upstream in self._upstreams.values():
            upstream.read_on(False)

    def resume_writing(self) -> None:
        """Read on."""
        self.paused = False
        for upstream in self._upstreams.values():
            upstream.read_on(True)

    def read_on(self, yes: bool) -> None:
        """Read what the caller sends, or stop for as long as the server takes no more."""
        if self.transport is None or self.transport.is_closing() or (yes and self._blocked):
            return
        if yes:
            self.transport.resume_reading()
            self._held_since = None
        else:
            self.transport.pause_reading()
            self._held_since = self._held_since or time.monotonic()

    def look_after(self) -> None:
        """Cut the connection if nobody reads from this caller and it has gone, or if that has lasted too long."""
        if self._held_since is None or self.transport is None or self.transport.is_closing():
            return
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket").fileno(), 0)  # errors and hang-ups are always told
        if poll.poll(0) or time.monotonic() - self._held_since > STALLED:
            self.cut()

    def write(self, data: bytes) -> None:
        """Send to the caller."""
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def close_if_idle(self) -> None:
        """Close the connection where nothing is on the way."""
        if not self.answering and self._receiving is None and self._follower.idle and self.tunnel is None:
            self.close()

    def close(self) -> None:
        """Close the connection when what was sent is with the caller."""
        if self.transport is not None:
            self.transport.close()

    def cut(self) -> None:
        """Close the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    def reset(self) -> None:
        """Break the connection off so that the caller cannot take what it has for all of it."""
        if self.transport is None:
            return
        sock = self.transport.get_extra_info("socket")
        with contextlib.suppress(OSError, AttributeError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    # Requests

    def _advance(self) -> None:
        """Pass on what was read, request by request, as far as the answers to earlier ones allow."""
        while self._steps and not self._blocked:
            step = self._steps.popleft()
            if step.head is not None:
                self._begin(step.head)
            if step.lost or self._receiving is None:
                self._lose(step)
                return
            self._pass_on(self._receiving, step)

    def _begin(self, head: Head) -> None:
        exchange = self._receiving = self.relay.begin(head)
        self._looked.clear()
        options = self.relay.options
        if (side := self.relay.one_side) is not None:
            self._decide(exchange, side)
            return
        self._undecided = []
        self._conversation = named_conversation(head, options.conversation, options.cookie)
        if self._conversation or head.get("expect"):  # who expects an answer sends no body before it
            self._decide(exchange, self._side())

    def _side(self) -> str:
        share, seed = self.relay.control.target_share, self.relay.options.seed
        name = self._conversation or str(self.transport and self.transport.get_extra_info("peername"))
        return "target" if falls_to_target(name, share, seed) else "source"

    def _pass_on(self, exchange: Exchange, step: Step) -> None:
        exchange.request_bytes += len(step.raw)
        if exchange.sampled:
            self.relay.keep(exchange, exchange.request, step.raw, MOST_REQUEST)
        if step.ended:
            exchange.asked = time.monotonic()
        if self._undecided is not None:
            self._undecided.append(step.raw)
            if step.body:
                self._looked.append(step.raw)
            if (step.ended or exchange.request_bytes > LOOKED_AT) and not self._blocked:
                self._conversation = self._conversation or found_conversation(b"".join(self._looked))
                self._decide(exchange, self._side())
        else:
            self.answering[-1][1].send(step.raw)
        if step.ended and self._undecided is None:
            self._receiving = None

    def _decide(self, exchange: Exchange, side: str) -> None:
        """Send an exchange to a side: at once, or when earlier answers from another side have ended, so that their order is kept."""
        if self.answering and self.answering[-1][1].side != side:
            self._undecided = [] if self._undecided is None else self._undecided
            self._blocked = True
            self.read_on(False)
            exchange.side = side
            return
        upstream = self._upstream(side)
        exchange.side = side if side != "gateway" else ""
        self.answering.append((exchange, upstream))
        for raw in self._undecided or ():
            upstream.send(raw)
        self._undecided = None

    def _upstream(self, side: str) -> Upstream:
        upstream = self._upstreams.get(side)
        if upstream is None:
            upstream = self._upstreams[side] = Upstream(self, side)
            upstream.connect()
        return upstream

    def _lose(self, step: Step) -> None:
        """Go on unread: this is no HTTP/1.1 that can be followed."""
        self.relay.receiver.count(
            self.relay.control.stage, f"not followed: {self._follower.lost or 'a request without a head'}"
        )
        rest = [step.raw, *(more.raw for more in self._steps)]
        self._steps.clear()
        if self._receiving is not None and self._undecided is not None:
            rest = [*self._undecided, *rest]
        self._receiving = self._undecided = None
        self._open_tunnel(b"".join(rest))

    def _open_tunnel(self, rest: bytes) -> None:
        if self.answering:
            self.tunnel = self.answering[-1][1]
        else:
            side = self.relay.one_side
            self.tunnel = self._upstream(side if side is not None else self._side())
        self.tunnel.send(rest)

    def turn_into_tunnel(self, upstream: Upstream) -> None:
        """Pass everything on unread from now on: the protocol has changed, or the server's bytes cannot be followed."""
        self.tunnel = upstream
        for step in self._steps:
            upstream.send(step.raw)
        self._steps.clear()
        upstream.send(self._follower.give_up())

    # Answers

    def answered(self) -> None:
        """Go on behind an answer that has ended."""
        exchange, _ = self.answering.popleft()
        self.relay.done(exchange)
        if self.relay.draining and not self.answering:
            self.close()
            return
        if self._blocked and not self.answering and self._receiving is not None:
            waiting, self._blocked = self._receiving, False
            ended = waiting.asked is not None
            self._decide(waiting, waiting.side)
            if ended:
                self._receiving = None
            self._advance()
            if not self._blocked:
                self.read_on(True)

    def server_gone(self, upstream: Upstream, error: Exception | None) -> None:
        """Pass on that a server closed or broke off the connection."""
        if self._upstreams.get(upstream.side) is upstream:
            del self._upstreams[upstream.side]
        concerned = [exchange for exchange, by in self.answering if by is upstream]
        whole = upstream.follower.until_close and error is None
        for exchange in concerned[:1]:
            if self._left:
                exchange.error = "client left"
            elif not whole:
                exchange.error = f"broken: {error or 'the server closed the connection before the answer had ended'}"
        for exchange in concerned[1:]:
            exchange.error = "broken: the server closed the connection before it answered"
        for exchange in concerned:
            self.relay.done(exchange)
        self.answering = deque(pair for pair in self.answering if pair[1] is not upstream)
        if upstream.follower.until_close and error is not None:
            self.reset()
        elif concerned or self.tunnel is upstream or not self._upstreams:
            self.close()

    def no_server(self, upstream: Upstream, why: str) -> None:
        """Answer in the place of a pool none of whose servers can be reached."""
        self._upstreams.pop(upstream.side, None)
        if not self.answering and self._receiving is None and self.tunnel is not upstream:
            return  # connected ahead of a request: the request will try again
        for exchange, by in self.answering:
            exchange.status, exchange.error = (502, f"refused: {why}") if by is upstream else (None, "broken")
            self.relay.done(exchange)
        self.answering.clear()
        self.write(_bad_gateway(why))
        self.close()


def _bad_gateway(why: str) -> bytes:
    told = {"error": {"message": f"anywarp: {why}", "type": "bad_gateway", "code": 502}}
    body = json.dumps(told).encode()
    head = f"HTTP/1.1 502 Bad Gateway\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    return head.encode() + body

"""A relay in this process between raw servers and raw callers, so that tests see every byte."""

import asyncio
import contextlib

from anywarp.deploy.shadow.options import Control, Options, server
from anywarp.deploy.shadow.relay import Client, Relay


class Noted:
    """What the relay hands over."""

    def __init__(self):
        self.exchanges, self.answers, self.requests, self.counts = [], [], [], []

    def give(self, exchange):
        self.exchanges.append(exchange)
        self.requests.append(b"".join(exchange.request))
        self.answers.append(b"".join(exchange.answer))

    def count(self, stage, name):
        self.counts.append(name)


@contextlib.asynccontextmanager
async def raw_server(handler):
    """Serve connections with `handler(reader, writer)`; yields the port."""
    tasks = set()

    async def handle(reader, writer):
        tasks.add(asyncio.current_task())
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0, limit=1 << 20)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def relay_to(source, target=(), control=None, **more):
    """Relay to servers at these ports; yields port, what was noted, and the relay."""
    sources, targets = [source] if isinstance(source, int) else source, [target] if isinstance(target, int) else target
    options = Options(
        rollout="r", database="", control="", sample=more.pop("sample", 1.0),
        source=tuple(server(f"s{n}", f"http://127.0.0.1:{port}") for n, port in enumerate(sources)),
        target=tuple(server(f"t{n}", f"http://127.0.0.1:{port}") for n, port in enumerate(targets)),
        **more,
    )  # fmt: skip
    noted = Noted()
    relay = Relay(options, noted)
    relay.control = control or Control()
    listening = await asyncio.get_running_loop().create_server(lambda: Client(relay), "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1], noted, relay
    finally:
        listening.close()
        for client in list(relay.clients):
            client.cut()
        await asyncio.sleep(0)


async def talk(port, data, pieces=None, end=False):
    """Send bytes and return all that comes until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in pieces or [data]:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
    if end:
        writer.write_eof()
    try:
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()


async def until(condition, seconds=5):
    """Wait until a condition holds."""
    for _ in range(int(seconds / 0.01)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to be")

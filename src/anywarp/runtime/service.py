"""The compile service: one process per user and compiler that turns images into containers for every program that asks.

It exists so that programs carry no interpreter: a program finds it on a socket, asks for a kernel, and gets it from the cache or
from a worker (docs/contracts.md, section 3). It ends when nobody has asked for a while.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import hashlib
import os
import socket
import struct
import sys
import time
from collections import OrderedDict
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from anywarp import settings
from anywarp.compiler.artifact import unpack_container
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.runtime import build_id, keys, surroundings, wire
from anywarp.runtime.cache import Cache
from anywarp.runtime.place import is_private
from anywarp.runtime.pool import Pool
from anywarp.runtime.translation import current, translated
from anywarp.runtime.wire import Message, message
from anywarp.runtime.worker import block_of, failure

QUIET = 2.0
"""Seconds without a request after which the service measures the machine, if nobody has: nobody waits, and little else runs."""

KEPT_IMAGE_BYTES = 256 << 20
"""How much of images is kept, so that a program sends each once and not with every kernel."""


@dataclass(frozen=True, slots=True)
class Served:
    """A container, whether it came from the cache, and the milliseconds that making it took."""

    container: bytes
    cached: bool
    milliseconds: float


class Service:
    """Answers requests of all clients; the same kernel asked for twice at once is compiled once."""

    def __init__(self, identity: str, cache: Cache, pool: Pool) -> None:
        self.last_request = time.monotonic()
        self.running = 0
        self._identity = identity
        self._cache = cache
        self._pool = pool
        self._images: OrderedDict[str, bytes] = OrderedDict()
        self._translating = asyncio.Semaphore(settings.cpu_count())
        self._making: dict[str, asyncio.Task[Served | Message]] = {}
        self._ahead: set[asyncio.Task[None]] = set()
        self._unmeasured: set[str] = set()
        self._measured: set[str] = set()

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client until it leaves or breaks the protocol."""
        with contextlib.suppress(wire.WireError, OSError):
            if not _is_same_user(writer.get_extra_info("socket")):
                return
            while (request := await wire.read(reader)) is not None:
                with self._busy():
                    await wire.write(writer, await self.answer(request))
        writer.close()

    async def answer(self, request: Message) -> Message:
        """Return the reply to a request; what is wrong with it becomes a reply too."""
        try:
            if request.value("op") == "ping":
                return message(("status", "ok"), ("build_id", self._identity))
            key = _checked_key(request, self._identity)
            return await (self._locate if request.value("op") == "locate" else self._serve)(request, key)
        except (AnywarpError, wire.WireError) as error:
            return failure(error.diagnostic if isinstance(error, AnywarpError) else _refused(str(error)))
        except (OSError, RuntimeError, MemoryError) as error:  # no thread, no memory, no room for a file
            return failure(_hindered(error))

    async def measure_when_quiet(self) -> None:
        """Go on measuring devices that code was asked for, once each, when nobody has asked for anything for a while."""
        while True:
            await asyncio.sleep(QUIET)
            if self.running or time.monotonic() - self.last_request < QUIET or not self._unmeasured:
                continue
            device = self._unmeasured.pop()
            self._measured.add(device)
            key = keys.machine_key(self._identity, device)
            lines = (("op", "measure"), ("image", keys.image_key(b"")), ("device", device), ("key", key))
            with contextlib.suppress(AnywarpError, wire.WireError, OSError, RuntimeError, MemoryError):
                await self._serve(message(*lines), key)

    async def close(self) -> None:
        """Let requests under way end, then stop the workers."""
        await asyncio.gather(*self._making.values(), *self._ahead, return_exceptions=True)
        await self._pool.close()

    async def _serve(self, request: Message, key: str) -> Message:
        task = self._making.get(key)
        if task is None:
            stored = await asyncio.to_thread(self._cache.get, key)
            if stored is not None and (request.value("op") != "translate" or await asyncio.to_thread(current, stored)):
                return self._reply(Served(stored, True, 0.0))
            image = b"" if request.value("op") == "measure" else self._image(request)
            if image is None:
                return message(("status", "need-image"))
            if request.value("op") == "compile" and keys.plain(request.value("device")) not in self._measured:
                self._unmeasured.add(keys.plain(request.value("device")))
            task = self._making.get(key) or asyncio.create_task(self._make(request, key, image))
            self._making[key] = task
        made = await asyncio.shield(task)  # a client that leaves does not take the kernel from the others
        return made if isinstance(made, Message) else self._reply(made)

    async def _make(self, request: Message, key: str, image: bytes) -> Served | Message:
        try:
            start = time.perf_counter()
            reply = await self._made(request, image)
            if reply.value("status") != "ok":
                return reply
            await asyncio.to_thread(self._cache.put, key, reply.payload)
            if request.values("ahead"):
                task = asyncio.create_task(self._make_variant(request, reply.payload))
                self._ahead.add(task)
                task.add_done_callback(self._ahead.discard)
            return Served(reply.payload, False, (time.perf_counter() - start) * 1e3)
        finally:
            del self._making[key]

    async def _make_variant(self, request: Message, container: bytes) -> None:
        """Make the variant that a kernel asks for: its launches will want that next, and the program may have ended by then."""
        from anywarp.compiler.options import options_of_variant  # brings the compiler's IR, which takes 40 ms

        shape = block_of(request)
        options = options_of_variant(container, request.value("options"), shape)
        if not options:
            return
        device, image, kernel = (request.value(name) for name in ("device", "image", "kernel"))
        key = keys.kernel_key(self._identity, device, image, kernel, shape, options)
        changed = {"options": options, "key": key}
        kept = [(name, changed[name]) if name in changed else (name, *rest) for name, *rest in request.lines]
        with self._busy(), contextlib.suppress(AnywarpError, wire.WireError, OSError, RuntimeError, MemoryError):
            await self._serve(message(*(line for line in kept if line[0] != "ahead")), key)

    async def _made(self, request: Message, image: bytes) -> Message:
        if request.value("op") != "translate":
            return await self._pool.ask(Message(request.lines), image)
        async with self._translating:
            return await asyncio.to_thread(translated, image)

    async def _locate(self, request: Message, key: str) -> Message:
        """Ask a worker where code came from; nothing is known of a kernel that is no longer in the cache."""
        image = self._image(request)
        if image is None:
            return message(("status", "need-image"))
        stored = await asyncio.to_thread(self._cache.get, key)
        digest = hashlib.sha256(unpack_container(stored)[1]).hexdigest() if stored is not None else ""
        return await self._pool.ask(Message((*request.lines, ("digest", digest))), image)

    def _reply(self, served: Served) -> Message:
        lines: list[tuple[str | int | float, ...]] = [
            ("status", "ok"),
            ("cached", int(served.cached)),
            ("compile_ms", f"{served.milliseconds:.3f}"),
        ]
        while self._cache.warnings:
            lines.append(("warning", self._cache.warnings.pop(0).as_text()))
        return message(*lines, payload=served.container)

    def _image(self, request: Message) -> bytes | None:
        key = request.value("image")
        if request.payload:
            if keys.image_key(request.payload) != key:
                raise wire.WireError("the image does not match its key")
            self._images[key] = request.payload
            while len(self._images) > 1 and sum(map(len, self._images.values())) > KEPT_IMAGE_BYTES:
                self._images.popitem(last=False)
        if key in self._images:
            self._images.move_to_end(key)
        return self._images.get(key)

    @contextlib.contextmanager
    def _busy(self) -> Generator[None, None, None]:
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self.last_request = time.monotonic()


def _checked_key(request: Message, identity: str) -> str:
    """Return the request's key after computing it again, so that nothing is ever stored under a wrong one."""
    op, image = request.value("op"), request.value("image")
    device = request.value("device") if op != "translate" else ""
    if op == "describe":
        expected = keys.module_key(identity, device, image)
    elif op == "measure":
        expected = keys.machine_key(identity, device)
    elif op == "translate":
        expected = keys.source_key(identity, image)
    elif op in ("compile", "locate"):
        shape, options = block_of(request), request.value("options")
        expected = keys.kernel_key(identity, device, image, request.value("kernel"), shape, options)
    else:
        raise wire.WireError(f"there is no operation {op!r}")
    if request.value("key") != expected:
        raise wire.WireError(f"the key is not that of this request (compiler {identity})")
    return expected


def _refused(reason: str) -> Diagnostic:
    return Diagnostic(
        "R007",
        f"the compile service refused a request: {reason}",
        help="end the programs that use anywarp and start again",
    )


def _hindered(error: Exception) -> Diagnostic:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
    return Diagnostic(
        "R009",
        f"the compile service cannot do its work: {reason}",
        help="look for a limit of resources (ulimit -a) and for full file systems",
    )


def _is_same_user(connection: socket.socket) -> bool:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", credentials)
    return user == os.getuid()


def _listen(path: Path) -> socket.socket:
    """Listen at `path`, which appears only when connections are accepted."""
    early = path.with_name(f"{path.name}.{os.getpid()}")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(os.fspath(early))
    os.chmod(early, 0o600)
    listener.listen(128)
    os.replace(early, path)
    return listener


async def serve(path: Path, listener: socket.socket, service: Service, pool: Pool, idle: float) -> None:
    """Serve at `path` until `idle` seconds have passed without a request; needs the lock of that path."""
    server = await asyncio.start_unix_server(service.converse, sock=listener)
    warming = asyncio.create_task(pool.warm())
    measuring = asyncio.create_task(service.measure_when_quiet())
    while service.running or time.monotonic() - service.last_request < idle:
        await asyncio.sleep(min(max(idle / 4, 0.05), 5.0))
    path.unlink(missing_ok=True)
    server.close()  # without waiting: a client may keep its connection for as long as it runs
    await warming
    measuring.cancel()
    await service.close()


def run(paths: Sequence[Path], detach: bool = False) -> int:
    """Become the service at the first of `paths` that can be had; return 0 when another process is it already, 2 for none.

    With `detach` the service goes on in a child with a session of its own and no terminal, and the caller's process ends when
    that one listens, or has said why it does not.
    """
    os.umask(0o077)
    begun = _detach() if detach else None
    problems: list[str] = []
    for path in paths:
        if not is_private(path.parent):
            problems.append(f"{path.parent} is not a private directory of this user")
            continue
        try:
            with contextlib.closing(_lock(path)), contextlib.closing(_listen(path)) as listener:
                if begun is not None:
                    _leave(begun)
                cache = Cache(settings.CACHE_DIR.get(), settings.CACHE_LIMIT.get())
                asyncio.run(_main(path, listener, cache))
            return 0
        except _Taken:
            if begun is not None:
                _leave(begun)
            return 0
        except OSError as error:
            problems.append(f"{path.parent}: {error.strerror or error}")
    print("; ".join(problems), file=sys.stderr)
    return 2


_ENDING = 4
"""After how many attempts at the lock a service that still listens is taken to stay."""


class _Taken(Exception):
    """Another process has the lock."""


def _lock(path: Path) -> TextIO:
    """Take the lock beside `path`; waits a moment for one that is just ending, by itself or by a signal.

    The file stays empty: a disk may be full.
    """
    lock = open(path.with_suffix(".lock"), "a")  # noqa: SIM115 - it is locked for as long as it is open
    for attempt in range(50):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        if attempt > _ENDING and _listens(path):  # it is not ending: whoever waits for us need not wait for that
            break
        time.sleep(0.02)
    lock.close()
    raise _Taken


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        try:
            trial.connect(os.fspath(path))
        except OSError:
            return False
    return True


def _detach() -> int:
    """Go on in a child that no shell knows; return the descriptor by which the process that was called learns that all is well."""
    told, tell = os.pipe()
    os.chdir("/")  # not where the program stands, which may be a mount that is to go
    if os.fork():
        os.close(tell)
        os._exit(0 if os.read(told, 1) else 2)
    os.close(told)
    os.setsid()
    return tell


def _leave(begun: int) -> None:
    """Let the caller go on, and leave its terminal."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    with contextlib.suppress(BrokenPipeError):
        os.write(begun, b"1")
    os.close(begun)


async def _main(path: Path, listener: socket.socket, cache: Cache) -> None:
    pool = Pool(settings.cpu_count(), settings.COMPILE_LIMIT.get())
    with contextlib.suppress(OSError):  # where that folder is not ours to write, its file stays as it is
        build_id.bring_up_to_date(settings.LIBRARY_DIR.get())
    await serve(path, listener, Service(build_id.build_id(), cache, pool), pool, settings.SERVICE_IDLE.get())


def main() -> None:
    """Run the service for the socket that the command line names."""
    parser = argparse.ArgumentParser(prog="python anywarp/start.py anywarp.runtime.service", description=__doc__)
    parser.add_argument(
        "--socket", type=Path, required=True, action="append", help="where to listen; the first that can be had"
    )
    parser.add_argument("--detach", action="store_true", help="go on in the background")
    arguments = parser.parse_args()
    surroundings.take_own()
    raise SystemExit(run(arguments.socket, arguments.detach))


if __name__ == "__main__":
    main()

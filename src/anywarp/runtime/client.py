"""The compile service as Python code sees it: connect, start it when nobody listens, ask.

The native libraries have a client of their own in C++; this one serves the command line and the tests.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Generator, Sequence
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.runtime import keys, wire
from anywarp.runtime.place import socket_paths
from anywarp.runtime.wire import Message, message

START_LIMIT = 20.0
"""Seconds that a service may take to answer after it was started."""


class Client:
    """One connection to the compile service of this user, compiler and cache."""

    def __init__(self, build_id: str, cache: Path) -> None:
        self._build_id = build_id
        self._paths = socket_paths(build_id, cache)
        self._connection: socket.socket | None = None

    def ping(self, start: bool = True) -> str:
        """Return the build id that the service reports; AnywarpError (R003) when it cannot be reached."""
        return self._ask(message(("op", "ping")), b"", start).value("build_id")

    def describe(self, device: str, image: bytes) -> Message:
        """Ask for the description of a module; the reply is the service's, errors included."""
        image_key = keys.image_key(image)
        key = keys.module_key(self._build_id, device, image_key)
        return self._ask(message(("op", "describe"), ("image", image_key), ("device", device), ("key", key)), image)

    def compile(
        self,
        device: str,
        image: bytes,
        kernel: str,
        block: tuple[int, int, int],
        options: str = "",
        *,
        ahead: bool = False,
    ) -> Message:
        """Ask for a kernel; `block` is (0, 0, 0) for any shape. The reply is the service's, errors included.

        `ahead`: nobody waits, and the service is to make the variant that the kernel asks for afterwards.
        """
        image_key = keys.image_key(image)
        key = keys.kernel_key(self._build_id, device, image_key, kernel, block, options)
        request = message(
            ("op", "compile"),
            ("image", image_key),
            ("device", device),
            ("kernel", kernel),
            ("block", *block),
            ("options", options),
            ("key", key),
            *([("ahead", 1)] if ahead else []),
        )
        return self._ask(request, image)

    def measure(self, device: str) -> Message:
        """Ask for the record of what was measured of a device, which is measured if nobody has; the reply is the service's."""
        image, key = keys.image_key(b""), keys.machine_key(self._build_id, device)
        return self._ask(message(("op", "measure"), ("image", image), ("device", device), ("key", key)), b"")

    def close(self) -> None:
        """Close the connection; the service goes on."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, request: Message, image: bytes, start: bool = True) -> Message:
        """Send a request, with its image only when asked for it; a connection that breaks is made anew once."""
        for attempt in range(2):
            try:
                return self._exchange(request, image, start)
            except (OSError, subprocess.SubprocessError, wire.WireError) as error:
                self.close()
                if attempt or not start:
                    raise _unreachable(f"{type(error).__name__}: {error}") from error
        raise AssertionError("unreachable")

    def _exchange(self, request: Message, image: bytes, start: bool) -> Message:
        if self._connection is None:
            self._connection = _connect(self._paths, start)
        reply = self._round(request)
        if reply.value("status") == "need-image":
            reply = self._round(Message(request.lines, image))
        return reply

    def _round(self, request: Message) -> Message:
        assert self._connection is not None
        wire.send(self._connection, request)
        reply = wire.receive(self._connection)
        if reply is None:
            raise wire.WireError("the service closed the connection")
        return reply


@contextlib.contextmanager
def connected(build_id: str, cache: Path) -> Generator[Client, None, None]:
    """Yield a client and close it afterwards."""
    client = Client(build_id, cache)
    try:
        yield client
    finally:
        client.close()


def _connect(paths: Sequence[Path], start: bool) -> socket.socket:
    """Return a connection that answers, starting the service when none does; it is started again when that one loses its place."""
    deadline = time.monotonic() + START_LIMIT
    next_start = 0.0
    while time.monotonic() < deadline:
        for path in paths:
            with contextlib.suppress(OSError, wire.WireError):
                return _dial(path)
        if not start:
            raise ConnectionRefusedError(f"nobody listens at {paths[0]}")
        if time.monotonic() > next_start:
            _start(paths)
            next_start = time.monotonic() + 2.0
        time.sleep(0.01)
    raise TimeoutError(f"the compile service did not answer within {START_LIMIT:g} seconds")


def _dial(path: Path) -> socket.socket:
    """Connect and exchange a ping: a service that is being killed still accepts, but no longer answers."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(path))
        wire.send(connection, message(("op", "ping")))
        if wire.receive(connection) is None:
            raise wire.WireError("the service closed the connection")
    except BaseException:
        connection.close()
        raise
    return connection


def _start(paths: Sequence[Path]) -> None:
    """Start the service, in an environment of its own; OSError when it refuses."""
    places = [word for path in paths for word in ("--socket", str(path))]
    command = settings.python_command(str(settings.PYTHON.get()), "anywarp.runtime.service", "--detach", *places)
    done = subprocess.run(
        command,
        cwd="/",
        env=settings.service_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=START_LIMIT,
    )
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise OSError(f"{command[0]} ended with status {done.returncode}: {last}")


def _unreachable(reason: str) -> AnywarpError:
    return AnywarpError(
        Diagnostic(
            "R003",
            f"the compile service cannot be reached ({reason})",
            help="`anywarp doctor` checks the parts it needs; ANYWARP_PYTHON must be an interpreter with anywarp installed",
        )
    )

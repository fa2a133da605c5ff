"""Messages between programs, the compile service and its workers (docs/contracts.md, section 3).

A message is two lengths, header lines `key value...` and a payload. Whoever sends may be hostile or broken, so every length
is checked before anything is allocated, and a header that is not well formed ends the connection.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass
from urllib.parse import unquote

from anywarp.compiler.artifact import percent

HEADER_LIMIT = 1 << 20
PAYLOAD_LIMIT = 1 << 30
LENGTHS = struct.Struct("<IQ")


class WireError(Exception):
    """Raised for a message that breaks the protocol, and for a connection that ends inside one."""


@dataclass(frozen=True, slots=True)
class Message:
    """Header lines in their order, each a key and its values, and the payload."""

    lines: tuple[tuple[str, ...], ...]
    payload: bytes = b""

    def values(self, key: str) -> tuple[str, ...]:
        """Return the values of the first line with this key; empty when there is none."""
        return next((line[1:] for line in self.lines if line[0] == key), ())

    def value(self, key: str) -> str:
        """Return the only value of a line; WireError unless it has exactly one (an empty one counts as "")."""
        values = self.values(key)
        if len(values) > 1 or not any(line[0] == key for line in self.lines):
            raise WireError(f"the message needs one value for {key!r}")
        return values[0] if values else ""


def message(*lines: tuple[str | int | float, ...], payload: bytes = b"") -> Message:
    """Make a message from lines of plain values."""
    return Message(tuple(tuple(str(v) for v in line) for line in lines), payload)


def head(sent: Message) -> bytes:
    """Return the bytes before the payload."""
    header = "".join(" ".join(map(percent, line)) + "\n" for line in sent.lines).encode()
    if len(header) > HEADER_LIMIT or len(sent.payload) > PAYLOAD_LIMIT:
        raise WireError("the message is larger than the protocol allows")
    return LENGTHS.pack(len(header), len(sent.payload)) + header


def parse_header(header: bytes) -> tuple[tuple[str, ...], ...]:
    """Split header bytes into lines of decoded values; WireError when they are not well formed."""
    try:
        text = header.decode("utf-8")
        lines = [line.split(" ") for line in text.split("\n")[:-1]]
        decoded = tuple(tuple(unquote(v, errors="strict") for v in line if v) for line in lines)
    except UnicodeDecodeError:
        raise WireError("the header is not UTF-8") from None
    if (text and not text.endswith("\n")) or not all(decoded):
        raise WireError("the header has an empty or unfinished line")
    return decoded


def lengths(prefix: bytes) -> tuple[int, int]:
    """Return header and payload lengths; WireError when they exceed the limits."""
    header_bytes, payload_bytes = LENGTHS.unpack(prefix)
    if header_bytes > HEADER_LIMIT or payload_bytes > PAYLOAD_LIMIT:
        raise WireError("the message is larger than the protocol allows")
    return header_bytes, payload_bytes


async def read(reader: asyncio.StreamReader) -> Message | None:
    """Read one message from a stream; None at a clean end."""
    try:
        prefix = await reader.readexactly(LENGTHS.size)
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise WireError("the connection ended inside a message") from None
    header_bytes, payload_bytes = lengths(prefix)
    try:
        header = await reader.readexactly(header_bytes)
        return Message(parse_header(header), await reader.readexactly(payload_bytes))
    except asyncio.IncompleteReadError:
        raise WireError("the connection ended inside a message") from None


async def write(writer: asyncio.StreamWriter, sent: Message) -> None:
    """Write one message to a stream and wait until it is taken."""
    writer.write(head(sent))
    writer.write(sent.payload)
    await writer.drain()


def receive(connection: socket.socket) -> Message | None:
    """Read one message from a blocking socket; None at a clean end."""
    first = connection.recv(1)
    if not first:
        return None
    header_bytes, payload_bytes = lengths(first + _exactly(connection, LENGTHS.size - 1))
    header = _exactly(connection, header_bytes)
    return Message(parse_header(header), _exactly(connection, payload_bytes))


def send(connection: socket.socket, sent: Message) -> None:
    """Write one message to a blocking socket."""
    connection.sendall(head(sent))
    connection.sendall(sent.payload)


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = connection.recv(min(count, 1 << 20))
        if not part:
            raise WireError("the connection ended inside a message")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)

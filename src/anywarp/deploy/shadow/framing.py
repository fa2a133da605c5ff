"""Where HTTP/1.1 messages begin and end in a stream of bytes that is passed on unchanged (RFC 9112).

Libraries that parse HTTP give back what a message means, not where it lies, so what they pass on is written anew: other chunks, other
spelling of headers, no trailers. Here bytes are only followed. What is ambiguous or unknown (two lengths, a folded line, HTTP/2) is never
guessed at: the follower says that it is `lost`, and the rest of the connection is passed on unread. That is safe because a connection of one caller
is never shared with another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MOST_HEAD = 64 << 10
"""Most bytes of a head (and of trailers, and of a chunk's first line) that are waited for."""

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST = re.compile(rb"(" + _TOKEN + rb") ([\x21-\x7e\x80-\xff]+) HTTP/1\.([01])")
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: [^\r\n\0]*)?")
_FIELD = re.compile(rb"(" + _TOKEN + rb"):[ \t]*([^\r\n\0]*?)[ \t]*")
_FIRST = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]")
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n\0]*)?")
_LENGTH = re.compile(rb"[0-9]{1,18}")


class _Lost(Exception):
    """The bytes are no HTTP/1.1 that can be followed with certainty; the message names what was met."""


@dataclass(frozen=True)
class Head:
    """The first lines of a message. `headers` are in order, names in lower case, values as sent."""

    first: bytes
    method: str
    target: str
    status: int
    minor: int
    headers: tuple[tuple[str, str], ...] = field(repr=False)

    def get(self, name: str) -> str:
        """Return the values of a header, joined by commas; empty where it is not there."""
        return ", ".join(value for key, value in self.headers if key == name)


@dataclass(slots=True)
class Step:
    """Consecutive bytes as they came, all of one message: with its head (`head`), with its last byte (`ended`)."""

    raw: bytes
    head: Head | None = None
    ended: bool = False
    body: bool = False
    """There are bytes behind the head."""
    lost: bool = False
    """From here on nothing can be followed."""


class Follower:
    """Follows the messages in one direction of a connection; give it the bytes as they arrive."""

    def __init__(self, requests: bool) -> None:
        """Follow requests, or else answers; for answers set `method` to that of the request before each head."""
        self.method = "GET"
        self.lost = ""
        """Why the bytes cannot be followed; empty while they can."""
        self._requests = requests
        self._waiting = b""
        self._part = self._head
        self._left = 0
        """Bytes of the body or chunk that are still to come; -1: until the connection ends."""

    @property
    def idle(self) -> bool:
        """Between two messages."""
        return self._part == self._head and not self._waiting

    @property
    def until_close(self) -> bool:
        """In a body that ends with the connection."""
        return self._left < 0

    def feed(self, data: bytes) -> list[Step]:
        """Return the steps that the bytes complete: all bytes but those of a head that is not whole yet.

        From where they cannot be followed (`lost` says why) all bytes are of one last message without end.
        """
        steps: list[Step] = []
        at = 0
        while at < len(data):
            if self.lost:
                steps.append(Step(data[at:], lost=True))
                break
            begin = at
            try:
                at = self._begin(data, at, steps) if self._part == self._head else self._go_on(data, at, steps)
            except _Lost as lost:
                self.lost = str(lost)
                held = self._part == self._head
                steps.append(Step(self._waiting if held else data[begin:], lost=True))
                self._waiting = b""
                break
        return steps

    def give_up(self) -> bytes:
        """Return the bytes of a head that never became whole: nothing more comes, or nobody follows any more."""
        held = self._waiting if self._part == self._head else b""
        self._waiting = b""
        return held

    def _begin(self, data: bytes, at: int, steps: list[Step]) -> int:
        before = len(self._waiting)
        self._waiting += data[at:]
        if not (_FIRST.match(self._waiting) if self._requests else _answers(self._waiting)):
            raise _Lost("a first line that is no HTTP/1.1")
        end = self._waiting.find(b"\r\n\r\n", max(0, before - 3))
        if end < 0:
            if len(self._waiting) > MOST_HEAD or self._waiting[:14] == b"PRI * HTTP/2.0":
                raise _Lost("HTTP/2" if self._waiting[:3] == b"PRI" else "a head of more than 64 KiB")
            return len(data)
        raw = self._waiting[: end + 4]
        head = self._read_head(raw[:-4])
        step = Step(raw, head)
        self._choose_body(head, step)
        self._waiting = b""
        steps.append(step)
        return at + len(raw) - before

    def _read_head(self, text: bytes) -> Head:
        first, *lines = text.split(b"\r\n")
        headers: list[tuple[str, str]] = []
        for line in lines:
            match = _FIELD.fullmatch(line)
            if match is None:
                raise _Lost("a header that is not NAME: VALUE")
            headers.append((match[1].decode("ascii").lower(), match[2].decode("latin-1")))
        if self._requests:
            match = _REQUEST.fullmatch(first)
            if match is None:
                raise _Lost("HTTP/2" if first == b"PRI * HTTP/2.0" else "a first line that is no request of HTTP/1.1")
            return Head(first, match[1].decode(), match[2].decode("latin-1"), 0, int(match[3]), tuple(headers))
        match = _STATUS.fullmatch(first)
        if match is None:
            raise _Lost("a first line that is no answer of HTTP/1.1")
        return Head(first, self.method, "", int(match[2]), int(match[1]), tuple(headers))

    def _choose_body(self, head: Head, step: Step) -> None:
        """Say how the body ends (RFC 9112, section 6.3)."""
        lengths = [value for name, value in head.headers if name == "content-length"]
        codings = [value for name, value in head.headers if name == "transfer-encoding"]
        if not self._requests and (head.method == "HEAD" or head.status < 200 or head.status in (204, 304)):
            self._end(step)
            return
        if codings:
            if lengths or len(codings) > 1 or codings[0].lower() != "chunked" or head.minor == 0:
                raise _Lost("a transfer coding that is not chunked alone")
            self._part = self._chunk_line
        elif lengths:
            if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0].encode("latin-1")):
                raise _Lost("a content-length that is no single number")
            self._part, self._left = self._fixed, int(lengths[0])
            if not self._left:
                self._end(step)
        elif self._requests:
            self._end(step)
        else:
            self._part, self._left = self._fixed, -1

    def _end(self, step: Step) -> None:
        step.ended = True
        self._part, self._left = self._head, 0

    def _go_on(self, data: bytes, at: int, steps: list[Step]) -> int:
        """Follow the body as far as the bytes go; one step for all of them."""
        step = Step(b"", body=True)
        begin = at
        while at < len(data) and not step.ended:
            at = self._part(data, at, step)
        step.raw = data[begin:at] if begin or at < len(data) else data
        steps.append(step)
        return at

    def _head(self, data: bytes, at: int, step: Step) -> int:
        raise AssertionError("heads are read by _begin")

    def _fixed(self, data: bytes, at: int, step: Step) -> int:
        if self._left < 0:
            return len(data)
        used = min(self._left, len(data) - at)
        self._left -= used
        if not self._left:
            self._end(step)
        return at + used

    def _chunk_line(self, data: bytes, at: int, step: Step) -> int:
        line, at = self._line(data, at)
        if line is None:
            return at
        match = _CHUNK.fullmatch(line)
        if match is None:
            raise _Lost("a chunk whose size is no number")
        self._left = int(match[1], 16)
        self._part = self._chunk if self._left else self._trailer
        self._left += 2 if self._left else 0  # the line's end behind the data
        return at

    def _chunk(self, data: bytes, at: int, step: Step) -> int:
        used = min(self._left, len(data) - at)
        self._left -= used
        at += used
        if self._left == 0:
            if data[at - min(2, used) : at] != b"\r\n"[-min(2, used) :]:
                raise _Lost("a chunk that does not end where it says")
            self._part = self._chunk_line
        elif self._left == 1 and data[at - 1 : at] != b"\r":
            raise _Lost("a chunk that does not end where it says")
        return at

    def _trailer(self, data: bytes, at: int, step: Step) -> int:
        line, at = self._line(data, at)
        if line == b"":
            self._end(step)
        elif line is not None and _FIELD.fullmatch(line) is None:
            raise _Lost("a trailer that is not NAME: VALUE")
        return at

    def _line(self, data: bytes, at: int) -> tuple[bytes | None, int]:
        """Return a line without its end, None where it is not whole yet, and where the next begins."""
        end = data.find(b"\n", at)
        stop = len(data) if end < 0 else end + 1
        line = self._waiting + data[at:stop] if self._waiting else data[at:stop]
        if len(line) > MOST_HEAD:
            raise _Lost("a line of more than 64 KiB in a chunked body")
        if end < 0:
            self._waiting = line
            return None, stop
        self._waiting = b""
        if line[-2:] != b"\r\n":
            raise _Lost("a line in a chunked body that ends without a carriage return")
        return line[:-2], stop


def _answers(begin: bytes) -> bool:
    """Tell whether bytes may be the beginning of an answer: anything else is not waited on."""
    return begin[:7] == b"HTTP/1."[: len(begin)]

"""One request and its answer, as the relay saw them and hands them to the comparer."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

MOST_REQUEST, MOST_ANSWER = 4 << 20, 16 << 20
"""Bytes of a request and of an answer that are kept for comparing; longer ones are counted as not comparable."""
TAIL = 2048
"""Bytes of an answer's end that are kept in any case: servers say there how many tokens there were."""
MOST_FRAME = 64 << 20
_LENGTHS = struct.Struct("<III")


@dataclass(slots=True)
class Exchange:
    """Times are seconds of a clock that never jumps, `wall` the time of day when the request began."""

    name: str
    stage: str
    method: str
    path: str
    began: float
    wall: float
    side: str = ""
    member: str = ""
    status: int | None = None
    error: str | None = None
    asked: float | None = None
    """When the request's last byte was there."""
    first: float | None = None
    ended: float | None = None
    request_bytes: int = 0
    events: int = 0
    """Events of a stream (server-sent events)."""
    sampled: bool = False
    kept: int = 0
    """Bytes kept in `request` and `answer`."""
    not_kept: str = ""
    """Why the bytes are not kept although it was sampled."""
    request: list[bytes] = field(default_factory=list[bytes])
    answer: list[bytes] = field(default_factory=list[bytes])
    tail: bytes = b""

    def pack(self) -> bytes:
        """Return the exchange as one frame for the pipe to the comparer."""
        begin = self.began if self.asked is None else self.asked
        told: dict[str, Any] = {
            "name": self.name, "stage": self.stage, "method": self.method, "path": self.path, "wall": self.wall, "side": self.side,
            "member": self.member, "status": self.status, "error": self.error, "sampled": self.sampled, "not_kept": self.not_kept,
            "first_ms": None if self.first is None else max(0.0, self.first - begin) * 1000,
            "total_ms": None if self.ended is None else max(0.0, self.ended - begin) * 1000,
            "request_bytes": self.request_bytes, "events": self.events,
        }  # fmt: skip
        parts = [b"".join(self.request), b"".join(self.answer) if self.sampled else self.tail]
        return pack_frame(told, *parts)


@dataclass(frozen=True)
class Seen:
    """An exchange on the comparer's side of the pipe; `answer` is only the end of it where it was not sampled."""

    name: str
    stage: str
    method: str
    path: str
    wall: float
    side: str
    member: str
    status: int | None
    error: str | None
    sampled: bool
    not_kept: str
    first_ms: float | None
    total_ms: float | None
    request_bytes: int
    events: int
    request: bytes = field(repr=False)
    answer: bytes = field(repr=False)


def pack_frame(told: dict[str, Any], request: bytes = b"", answer: bytes = b"") -> bytes:
    """Return a frame: three lengths, then JSON, request and answer."""
    text = json.dumps(told).encode()
    return b"".join((_LENGTHS.pack(len(text), len(request), len(answer)), text, request, answer))


def lengths_of_frame(begin: bytes) -> tuple[int, int, int]:
    """Return the three lengths that a frame begins with; ValueError where they cannot be ours."""
    lengths = _LENGTHS.unpack(begin)
    if sum(lengths) > MOST_FRAME:
        raise ValueError("a frame that is too long")
    return lengths


BEGIN = _LENGTHS.size
"""Bytes of a frame's lengths."""

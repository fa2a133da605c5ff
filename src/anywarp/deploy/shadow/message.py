"""A whole HTTP message out of the bytes that went by: its head and its body without chunks and compression."""

from __future__ import annotations

import zlib

from anywarp.deploy.shadow.framing import Follower, Head

MOST = 64 << 20
"""Bytes that a compressed body may become."""


class Unreadable(Exception):
    """The message is not one that can be compared; the words say why."""


def read_message(raw: bytes, requests: bool, method: str = "POST") -> tuple[Head, bytes]:
    """Return head and body of the last message in `raw` (before it, `100 Continue` may have been sent); Unreadable where it is not whole."""
    follower = Follower(requests)
    follower.method = method
    head, body, whole = None, b"", False
    for step in follower.feed(raw):
        if step.head is not None:
            head, body, whole = step.head, b"", step.ended
        else:
            body, whole = body + step.raw, step.ended
    if head is None or follower.lost or not (whole or follower.until_close):
        raise Unreadable("message cut off")
    if head.get("transfer-encoding"):
        body = _without_chunks(body)
    return head, _expand(body, head.get("content-encoding").strip().lower())


def _without_chunks(body: bytes) -> bytes:
    """Return what a body in chunks, which has been followed to its end, holds."""
    parts: list[bytes] = []
    at = 0
    while True:
        end = body.index(b"\r\n", at)
        size = int(body[at:end].split(b";")[0], 16)
        if not size:
            return b"".join(parts)
        parts.append(body[end + 2 : end + 2 + size])
        at = end + 4 + size


def _expand(body: bytes, coding: str) -> bytes:
    if coding in ("", "identity"):
        return body
    try:
        if coding in ("gzip", "x-gzip", "deflate"):
            expander = zlib.decompressobj(zlib.MAX_WBITS | (32 if coding != "deflate" else 0))
            out = expander.decompress(body, MOST)
            if expander.unconsumed_tail:
                raise Unreadable("too long when expanded")
            if not expander.eof:
                raise Unreadable("message cut off")
            return out
        if coding == "zstd":
            import zstandard

            with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(body) as reader:
                out = reader.read(MOST + 1)
            if len(out) > MOST:
                raise Unreadable("too long when expanded")
            return out
    except (zlib.error, ValueError) as error:
        raise Unreadable(f"{coding} that cannot be expanded") from error
    raise Unreadable(f"the encoding {coding[:20]}")

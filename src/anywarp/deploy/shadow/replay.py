"""Sends a caller's request once more to another server, whatever that one does: bounded in time and in bytes, and told in words."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anywarp.deploy.shadow.framing import Head
from anywarp.deploy.shadow.openai import Json
from anywarp.deploy.shadow.options import SHADOW_HEADER, Server

if TYPE_CHECKING:
    import aiohttp

CONNECT = 5.0
MOST = 16 << 20
"""Bytes that an answer may have; scores may have four times as many."""
_NOT_SENT = {
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect", "accept-encoding",
    "proxy-authorization", "proxy-connection", "content-encoding", "cookie", SHADOW_HEADER, "idempotency-key",
}  # fmt: skip
"""Headers that belong to a connection or to the one request of the caller."""


@dataclass(frozen=True)
class Reply:
    """What came of a replay. `error` begins with a name: refused, tls, timeout, stalled, broken, too long, wrong content."""

    began: float
    ended: float
    first: float | None = None
    status: int | None = None
    error: str | None = None
    content_type: str = ""
    body: bytes = field(default=b"", repr=False)

    @property
    def total_ms(self) -> float:
        """Milliseconds until the end."""
        return (self.ended - self.began) * 1000

    @property
    def first_ms(self) -> float | None:
        """Milliseconds until the first byte of the body."""
        return None if self.first is None else (self.first - self.began) * 1000

    @property
    def good(self) -> bool:
        """Whether there is an answer that can be compared."""
        return self.error is None and self.status == 200


class Sender:
    """Sends requests, a bounded number at once."""

    def __init__(self, session: aiohttp.ClientSession, rollout: str, timeout: float) -> None:
        """Send through `session`, marked with the rollout's name, for so many seconds each."""
        self._session, self._rollout, self._timeout = session, rollout, timeout

    async def send(self, server: Server, path: str, head: Head, given: Json, most: int = MOST) -> Reply:
        """Post a request's JSON with the caller's headers and return what came of it; never raises for what the server does."""
        import aiohttp

        headers = [(name, value) for name, value in head.headers if name not in _NOT_SENT]
        headers += [(SHADOW_HEADER, self._rollout), ("accept-encoding", "identity")]
        bounds = aiohttp.ClientTimeout(total=self._timeout, connect=CONNECT)
        began, first, status, content_type, body = time.monotonic(), None, None, "", bytearray()
        error: str | None = None
        try:
            async with self._session.post(
                server.url + path,
                data=json.dumps(given).encode(),
                headers=headers,
                timeout=bounds,
                allow_redirects=False,
            ) as answer:
                status, content_type = answer.status, answer.headers.get("content-type", "")
                async for piece in answer.content.iter_any():
                    first = first or time.monotonic()
                    body += piece
                    if len(body) > most:
                        error = f"too long: more than {most >> 20} MiB"
                        answer.close()
                        break
                if error is None and answer.headers.get("content-encoding", "identity") != "identity":
                    error = "wrong content: compressed, which was not asked for"
        except aiohttp.ClientSSLError as trouble:
            error = f"tls: {trouble}"
        except aiohttp.ClientConnectorError as trouble:
            error = f"refused: {trouble}"
        except asyncio.TimeoutError:
            error = f"{'timeout' if first is None else 'stalled'}: no whole answer in {self._timeout:g} s"
        except aiohttp.ClientPayloadError as trouble:
            error = f"broken: {trouble}"
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as trouble:
            error = f"broken: {trouble}"
        except (aiohttp.ClientError, ValueError) as trouble:
            error = f"wrong content: {trouble}"
        return Reply(began, time.monotonic(), first, status, error and _one_line(error), content_type, bytes(body))


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]

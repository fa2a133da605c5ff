"""Who may look: results are private, and every process of a machine reaches its loopback address, as does every web page that a browser opens.

So a key of 256 bits is asked for, once in the address that is printed and afterwards in a cookie that no other site's request carries; the host that a
request names must be ours, else a site whose name was made to point here could read what it was answered (DNS rebinding); and what changes something must
come from one of our own pages (https://fetch.spec.whatwg.org/#http-origin).
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from typing import Literal

COOKIE = "anywarp-ui"

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""On every answer."""

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
"""For a report, a page that its own command wrote: it names its scripts by their digests itself, and gets an origin of its own, so that they reach nothing of ours."""

Answer = Literal["welcome", "enter", "unknown", "elsewhere", "read only", "foreign"]


class Guard:
    """Decide about requests for pages that are served at `hosts` ("127.0.0.1:8123"), and whether they may change anything."""

    def __init__(self, hosts: frozenset[str], changes: bool, key: str = "") -> None:
        self.hosts, self.changes, self.key = hosts, changes, key or secrets.token_urlsafe(32)

    def cookie_name(self, host: str) -> str:
        """Return the name of the cookie: cookies do not know ports, and two of us may be open at once."""
        return f"{COOKIE}-{host.rpartition(':')[2]}"

    def judge(
        self, method: str, headers: Mapping[str, str], query: Mapping[str, str], cookies: Mapping[str, str]
    ) -> Answer:
        """Return what becomes of a request; "enter": its address holds the key, which becomes a cookie."""
        host = headers.get("Host", "")
        if host not in self.hosts:
            return "elsewhere"
        if method in ("GET", "HEAD") and self._is_key(query.get("key", "")):
            return "enter"
        if not self._is_key(cookies.get(self.cookie_name(host), "")):
            return "unknown"
        if method in ("GET", "HEAD"):
            return "welcome"
        if not self.changes:
            return "read only"
        return "welcome" if headers.get("Origin", "") == f"http://{host}" else "foreign"

    def _is_key(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.key.encode())

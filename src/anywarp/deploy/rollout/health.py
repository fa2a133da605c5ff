"""Which members of a pool are well, and what those carry."""

from __future__ import annotations

import http.client
import ssl
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from anywarp.deploy.rollout.plan import Member, Pool

PATIENCE = 2.0
"""Seconds in which a member answers, or is not well."""


def well(member: Member) -> bool:
    """Say whether a member answers its health path with 200 in time."""
    parts = urlsplit(member.url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(
            host, parts.port, timeout=PATIENCE, context=ssl.create_default_context()
        )
    else:
        connection = http.client.HTTPConnection(host, parts.port, timeout=PATIENCE)
    try:
        connection.request("GET", member.health, headers={"Connection": "close"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def look(pool: Pool) -> dict[str, bool]:
    """Ask all members at once; return by name whether each is well."""
    with ThreadPoolExecutor(min(len(pool.members), 16)) as workers:
        return dict(zip((m.name for m in pool.members), workers.map(well, pool.members), strict=True))


def carries(pool: Pool, health: dict[str, bool]) -> float:
    """Return the requests per second that the members that are well carry."""
    return sum(m.capacity for m in pool.members if health.get(m.name))

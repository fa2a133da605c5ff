"""Which side answers a request: conversations stay where they began, however the target's share grows."""

from __future__ import annotations

import hashlib
import json
from typing import Any, cast

from anywarp.deploy.shadow.framing import Head

LOOKED_AT = 64 << 10
"""Bytes of a body that are waited for when no header names the conversation."""


def named_conversation(head: Head, header: str, cookie: str) -> str:
    """Return the conversation that the request's header or cookie names; empty where neither is there."""
    if said := head.get(header):
        return said
    for part in head.get("cookie").split(";"):
        name, _, value = part.strip().partition("=")
        if name == cookie:
            return value
    return ""


def found_conversation(body: bytes) -> str:
    """Return what in a request's body stays the same through a conversation: a name for it, else how it began.

    A chat sends all earlier messages again with each turn, so those up to the first of its user name it. Empty where the body says nothing.
    """
    try:
        given: Any = json.loads(body)
    except (ValueError, RecursionError):
        return hashlib.sha256(body).hexdigest() if body else ""
    if not isinstance(given, dict):
        return ""
    told = cast("dict[str, Any]", given)
    for name in ("conversation", "prompt_cache_key", "user"):
        if isinstance(told.get(name), str) and told[name]:
            return f"{name}={told[name]}"
    messages: Any = told.get("messages")
    if isinstance(messages, list):
        turns = cast("list[Any]", messages)
        first = next((n for n, turn in enumerate(turns) if _is_users(turn)), len(turns))
        return json.dumps(turns[: first + 1])
    return json.dumps(told.get("prompt"))


def _is_users(turn: Any) -> bool:
    return isinstance(turn, dict) and cast("dict[str, Any]", turn).get("role") == "user"


def falls_to_target(conversation: str, share: float, seed: int) -> bool:
    """Tell whether a conversation is the target's at this share; once it is, it is at every greater one."""
    digest = hashlib.blake2b(
        conversation.encode("utf-8", "surrogatepass"), digest_size=8, key=str(seed).encode()
    ).digest()
    return int.from_bytes(digest, "big") < share * 2**64

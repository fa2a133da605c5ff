"""Durations, shares and addresses as people write them in a plan."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


def seconds(value: Any) -> Any:
    """Return a duration such as `90s`, `15m`, `2h` or `1d` in seconds; a bare number is seconds already."""
    if not isinstance(value, str):
        return value
    found = _DURATION.fullmatch(value)
    if found is None:
        raise ValueError("expected a duration such as 90s, 15m, 2h or 1d")
    return float(found[1]) * _SECONDS[found[2]]


def share(value: Any) -> Any:
    """Return a share such as `5 %` as a number from 0 to 1; a bare number is one already."""
    if not isinstance(value, str):
        return value
    found = _PERCENT.fullmatch(value)
    if found is None:
        raise ValueError("expected a share such as 5 % or 0.05")
    return float(found[1]) / 100


def _address(value: str) -> str:
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"expected an address such as http://10.0.0.1:8000: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("expected an address such as http://10.0.0.1:8000")
    if parts.query or parts.fragment or parts.username is not None or parts.path not in ("", "/"):
        raise ValueError("expected scheme, host and port only: paths come from the requests, credentials from them too")
    if not re.fullmatch(r"[A-Za-z0-9_.:-]+", parts.hostname):
        raise ValueError("the host has a character that no host name has")
    return value.rstrip("/")


def _listen(value: str) -> str:
    host, colon, port = value.rpartition(":")
    inner = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    good = colon and port.isdecimal() and len(port) < 6 and 0 < int(port) < 65536
    if not good or not re.fullmatch(r"[A-Za-z0-9_.:-]+", inner):
        raise ValueError("expected a host and a port such as 127.0.0.1:8080")
    return value


def in_words(duration: float) -> str:
    """Return a duration for people: two units at most, such as `2 h 10 min`."""
    if duration < 0.9995:
        return f"{duration * 1000:.0f} ms"
    if duration < 90:
        return f"{duration:.0f} s"
    minutes = round(duration / 60)
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [(days, "d"), (hours, "h"), (rest, "min")] if days < 7 else [(days, "d")]
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "0 min"


def percent(value: float) -> str:
    """Return a share for people, such as `0.5 %`."""
    return f"{100 * value:.3g} %"


Seconds = Annotated[float, BeforeValidator(seconds, json_schema_input_type=float | str), Field(ge=0, le=366 * 86400)]
Share = Annotated[float, BeforeValidator(share, json_schema_input_type=float | str), Field(ge=0, le=1)]
Address = Annotated[str, Field(max_length=300), AfterValidator(_address)]
Listen = Annotated[str, Field(max_length=300), AfterValidator(_listen)]

"""JSON from strangers: no constants that JSON does not have, no endless numbers, no nesting that ends the reader."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from anywarp.check.bundle import limits
from anywarp.check.bundle.problems import damaged


def parse(text: bytes, where: str) -> dict[str, Any]:
    """Return the JSON object in `text`; AnywarpError (V002) for anything else."""
    try:
        found = json.loads(text.decode(), parse_constant=_no_constant, parse_int=_whole)
    except RecursionError:
        raise damaged(where, "it nests too deeply") from None
    except ValueError as error:
        raise damaged(where, f"it is no JSON ({error})") from None
    if not isinstance(found, dict):
        raise damaged(where, "it is no JSON object")
    return found  # pyright: ignore[reportUnknownVariableType] - json.loads knows no types


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _whole(digits: str) -> int:
    if len(digits) > limits.DIGITS:
        raise ValueError("a number is too long")
    return int(digits)


def dump(content: Any) -> bytes:
    """Return `content` as one line of JSON; numbers that JSON does not have become null."""
    try:
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError):  # a number, or a name, that is none in JSON
        return json.dumps(_finite(content), separators=(",", ":"), allow_nan=False).encode()


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if content - content == 0 else None
    if isinstance(content, dict):
        return {str(name): _finite(value) for name, value in content.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]  # pyright: ignore[reportUnknownVariableType]
    return content

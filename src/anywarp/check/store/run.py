"""One result: what was run, where, how, and what came out."""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from anywarp import __version__
from anywarp.check.store.problems import UNKNOWN, problem

KINDS = ("bench", "verify", "cost", "assess", "rollout", "fleet", "organisation")
"""Who makes results."""

LONGEST = 64 << 20
"""Most bytes of one result as JSON."""


def _identity() -> str:
    return secrets.token_hex(6)


def here() -> str:
    """Return a name for this machine: its host's name, and the kind of processor."""
    return f"{platform.node() or 'unnamed'} {platform.machine()}"


@dataclass(frozen=True)
class Run:
    """A result with what is needed to trace and compare it; `time` in seconds since 1970 (UTC).

    `digest` is of what was run (a model's code and weights, a program, a prompt set), so that other content under the same name is not
    taken for it. `key` is of everything that was asked for: what has the same key need not be measured again.
    """

    kind: str
    result: Mapping[str, Any]
    id: str = field(default_factory=_identity)
    time: float = field(default_factory=time.time)
    machine: str = field(default_factory=here)
    device: str = ""
    model: str = ""
    dtype: str = ""
    digest: str = ""
    key: str = ""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    flags: Mapping[str, Any] = field(default_factory=dict[str, Any])
    anywarp: str = __version__

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping, in the order of the fields."""
        return asdict(self)


NAMES = tuple(each.name for each in fields(Run))
_TEXTS = ("kind", "id", "machine", "device", "model", "dtype", "digest", "key", "anywarp")
_MAPPINGS = ("result", "versions", "flags")


def from_json(value: Any, source: str) -> Run:
    """Return the run that `as_json` wrote down; AnywarpError (V032) where it is none. Unknown names are left out."""
    if not isinstance(value, dict) or not {"kind", "result", "id"} <= value.keys():
        raise problem(UNKNOWN, f"{source} holds no result", "give a file that `anywarp results show ID --format json` or `anywarp bench -o` wrote")  # fmt: skip
    known: dict[str, Any] = {name: value[name] for name in NAMES if name in value}
    wrong = [n for n in _TEXTS if not isinstance(known.get(n, ""), str)]
    wrong += [n for n in _MAPPINGS if not isinstance(known.get(n, {}), dict)]
    if not isinstance(known.get("time", 0.0), int | float):
        wrong.append("time")
    if wrong or known["kind"] not in KINDS:
        raise problem(UNKNOWN, f"{source} holds no result: {', '.join(wrong) or 'kind'} is not what it must be")
    return Run(**known)


def key_of(**asked: Any) -> str:
    """Return a digest of everything that was asked for, the same in every process."""
    text = json.dumps(asked, sort_keys=True, default=str, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]

"""What became of a task, as it is written into a file or a log: whole, and recognized where it is not what was written."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anywarp.check.store import Run
from anywarp.check.store import run as runs
from anywarp.deploy.fleet.problems import DAMAGED, problem
from anywarp.diagnostics import AnywarpError

MOST_BYTES = 128 << 20
_LINE = re.compile(r"anywarp-fleet ([0-9a-f]{16}) (\d{1,6})/(\d{1,6}) ([A-Za-z0-9+/=]+)\s*$")
_PIECE = 6000  # of a log's line: container runtimes cut lines at 16 KiB


@dataclass(frozen=True)
class Outcome:
    """The results of a task, or, where it failed, why there are none; `said` is the end of what it printed, `began` seconds since 1970."""

    key: str
    exit: int
    machine: str
    began: float
    seconds: float
    runs: tuple[Run, ...] = ()
    why: str = ""
    said: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is nothing to keep."""
        return bool(self.why)


def as_text(outcome: Outcome) -> str:
    """Return the outcome as JSON."""
    names = ("key", "exit", "machine", "began", "seconds", "why", "said")
    return json.dumps(
        {name: getattr(outcome, name) for name in names} | {"runs": [run.as_json() for run in outcome.runs]}
    )


def from_text(text: str, source: str) -> Outcome:
    """Return the outcome that `as_text` wrote; AnywarpError (Y145) where it is none, or a result is not what its id says."""
    try:
        value: Any = json.loads(text)
        found = [runs.from_json(each, source) for each in value["runs"]]
        known = {name: value[name] for name in ("key", "machine", "why", "said")}
        if not all(isinstance(each, str) for each in known.values()):
            raise ValueError("a part of it is of the wrong kind")
        outcome = Outcome(
            exit=int(value["exit"]),
            began=float(value["began"]),
            seconds=float(value["seconds"]),
            runs=tuple(found),
            **known,
        )
    except AnywarpError:
        raise
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise _damaged(source, f"{type(error).__name__}: {error}"[:200]) from None
    if wrong := [run.id for run in outcome.runs if run.id != identified(run).id]:
        raise _damaged(source, f"the result {wrong[0]} was changed after it was written")
    return outcome


def identified(run: Run) -> Run:
    """Return a result under the name of its content, so that the same from two places is one."""
    content = {name: value for name, value in run.as_json().items() if name != "id"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return replace(run, id=hashlib.sha256(text.encode()).hexdigest()[:24])


def as_lines(outcome: Outcome) -> list[str]:
    """Return an outcome as lines of a log."""
    packed = base64.b64encode(zlib.compress(as_text(outcome).encode())).decode()
    name = hashlib.sha256(packed.encode()).hexdigest()[:16]
    pieces = [packed[at : at + _PIECE] for at in range(0, len(packed), _PIECE)]
    return [f"anywarp-fleet {name} {n}/{len(pieces)} {piece}" for n, piece in enumerate(pieces, 1)]


def from_log(lines: Iterable[str], source: str) -> Outcome | None:
    """Return the last whole outcome in a log, None where there is none."""
    held: dict[str, dict[int, str]] = {}
    whole: list[str] = []
    for line in lines:
        found = _LINE.search(line)
        if found is None:
            continue
        name, number, total, piece = found[1], int(found[2]), int(found[3]), found[4]
        pieces = held.setdefault(name, {})
        pieces[number] = piece
        if len(pieces) == total:
            whole = _joined(name, pieces, total) or whole
    return from_text(_unpacked("".join(whole), source), source) if whole else None


def _joined(name: str, pieces: dict[int, str], total: int) -> list[str]:
    made = [pieces.get(n, "") for n in range(1, total + 1)]
    return made if hashlib.sha256("".join(made).encode()).hexdigest()[:16] == name else []


def _unpacked(packed: str, source: str) -> str:
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(base64.b64decode(packed, validate=True), MOST_BYTES)
        if not unpacking.eof:
            raise ValueError("it is larger than results may be")
        return data.decode()
    except (ValueError, zlib.error) as error:
        raise _damaged(source, str(error)) from None


def _damaged(source: str, why: str) -> AnywarpError:
    help = "remove it, and run the fleet again: what it was for is done anew"
    return problem(DAMAGED, f"{source} is not what a task wrote: {why}", help)


def named(outcome: Outcome, found: Sequence[Run]) -> Outcome:
    """Return the outcome with results: each under the task's key and the name of its content."""
    return replace(outcome, runs=tuple(identified(replace(run, key=outcome.key)) for run in found))

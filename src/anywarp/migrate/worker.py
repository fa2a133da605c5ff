"""A process that looks into files, one after the other, for the crew that started it.

It reads a task per line, answers each in order, and may die or be killed at any moment: whoever started it knows what it was at.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from anywarp.diagnostics import AnywarpError
from anywarp.migrate import codes
from anywarp.migrate.facts import Facts, encode
from anywarp.migrate.look import Look, look_into
from anywarp.migrate.scan import doors
from anywarp.migrate.tree import File

HEAD = struct.Struct("<II")
"""Bytes of an answer's JSON and of the facts behind it."""

MEMORY = 3 << 30
"""Bytes of private memory that a worker may have; files that are mapped do not count."""

_PR_SET_PDEATHSIG = 1
_BEAT = 1.0


def main(order: str) -> None:
    """Serve tasks from stdin until it ends; `order` is JSON: scanners, containers, root and version of the cache (or null)."""
    answers = _private_output()
    _bound_process()
    said = json.loads(order)
    facts = Facts(Path(said["root"]), said["version"]) if said["root"] else None
    if facts is not None:
        facts.load()
    look = Look(doors(said["scanners"], said["containers"]), _heart(answers))
    _send(answers, {"ready": True}, b"")
    for line in sys.stdin.buffer:
        head, payload = _answer(json.loads(line), look, facts)
        _send(answers, head, payload)


def _answer(task: list[Any], look: Look, facts: Facts | None) -> tuple[dict[str, Any], bytes]:
    number, *file = task
    known: Callable[[str], bool] = facts.knows if facts is not None else lambda key: False
    try:
        key, seen = look_into(File(*file), look, known)
    except AnywarpError as error:
        d = error.diagnostic
        return {"task": number, "problem": ["", d.code, d.message, d.severity, d.help]}, b""
    except MemoryError:
        row = ["", codes.NOT_UNDERSTOOD, "it needs too much memory", "error", ""]
        return {"task": number, "problem": row}, b""
    if seen is None:
        return {"task": number, "key": key, "known": True}, b""
    return {"task": number, "key": key}, encode(seen)


def _private_output() -> BinaryIO:
    """Keep stdout for answers; what a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _bound_process() -> None:
    """Bound memory, leave no core file, end with the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crew decides
    for limit, most in ((resource.RLIMIT_DATA, MEMORY), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (most if hard < 0 else min(most, hard), hard))
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _heart(answers: BinaryIO) -> Callable[[], None]:
    last = time.monotonic()

    def beat() -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > _BEAT:
            last = now
            _send(answers, {"alive": True}, b"")

    return beat


def _send(answers: BinaryIO, head: dict[str, Any], payload: bytes) -> None:
    text = json.dumps(head).encode()
    try:
        answers.write(HEAD.pack(len(text), len(payload)) + text + payload)
        answers.flush()
    except BrokenPipeError:
        os._exit(0)  # nobody waits for answers any more


if __name__ == "__main__":
    main(sys.argv[1])

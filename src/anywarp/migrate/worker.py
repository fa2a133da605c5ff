"""A process that works on files, one after the other, for the crew that started it.

It reads a file's name per line, answers each in order, and may die or be killed at any moment: whoever started it knows what it was at.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable
from typing import Any, BinaryIO

from anywarp.migrate.tree import File

HEAD = struct.Struct("<II")
"""Bytes of an answer's JSON and of what follows it."""

MEMORY = 3 << 30
"""Bytes of private memory that a worker may have; files that are mapped do not count."""

_PR_SET_PDEATHSIG = 1
_BEAT = 1.0


def main(begin: str, order: str) -> None:
    """Answer tasks from stdin until it ends: `begin` is `crew.Work`'s, `order` the number of a descriptor that holds its order."""
    answers = _private_output()
    _bound_process()
    module, _, name = begin.partition(":")
    descriptor = int(order)
    ordered = json.loads(os.pread(descriptor, os.fstat(descriptor).st_size, 0))  # all workers share its position
    os.close(descriptor)
    work = getattr(importlib.import_module(module), name)(ordered, _heart(answers))
    _send(answers, {"ready": True})
    for line in sys.stdin.buffer:
        number, *file = json.loads(line)
        said, payload = _done(work, File(*file))
        _send(answers, {"task": number} | said, payload)


def _done(work: Callable[[File], tuple[Any, bytes]], file: File) -> tuple[dict[str, Any], bytes]:
    """Return what the work on one file comes to; an error that is raised there costs that file alone."""
    try:
        head, payload = work(file)
    except MemoryError:
        return {"how": "memory", "why": "it needs too much memory"}, b""
    except Exception as error:
        return {"how": "raised", "why": f"{type(error).__name__}: {str(error)[:200]}"}, b""
    return {"head": head}, payload


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
            _send(answers, {"alive": True})

    return beat


def _send(answers: BinaryIO, said: dict[str, Any], payload: bytes = b"") -> None:
    text = json.dumps(said).encode()
    try:
        answers.write(HEAD.pack(len(text), len(payload)) + text)
        answers.write(payload)
        answers.flush()
    except BrokenPipeError:
        os._exit(0)  # nobody waits for answers any more

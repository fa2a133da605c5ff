"""The self-test: asks a device every question of the suites, through the driver library that programs get, and keeps the answers.

The asking is done by child processes, so that a kernel that hangs or kills its process costs one answer, not the test.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import IO, Any

from anywarp import settings
from anywarp.runtime import launch

SILENCE = 300.0
"""Seconds that one question may take; the first of a run waits for the compiler to start."""

KILLED_MOST = 25
"""Processes lost in one suite after which the rest of it is given up: a device that is gone does not come back."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a question ended: passed, wrong (a value), refused (an error of the driver), died (the process), silent (too long), left
    (out after too many losses). `count` are the rows that it stands for."""

    suite: str
    name: str
    outcome: str
    text: str
    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Device:
    """What the driver says of the device that was asked."""

    name: str
    memory: int
    cuda: int


def ask(device: str, suites: tuple[str, ...], every: int = 1) -> Iterator[Answer | Device]:
    """Yield what the device is, then every answer, as they come. AnywarpError when the device cannot be started at all."""
    environment = {**launch.environment(device, settings.environment(), pure=True), "PYTHONUNBUFFERED": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    for suite in suites:
        yield from _suite(environment, suite, every)


def _suite(environment: dict[str, str], suite: str, every: int) -> Iterator[Answer | Device]:
    """Ask one suite. A process that is lost is replaced by one that asks the question in parts, and goes on behind the part that
    costs it again."""
    first, part, lost = 0, -1, 0
    while True:
        last: dict[str, Any] = {}
        outcome = ""
        for outcome, last in _process(environment, suite, every, first, part):
            if outcome == "device":
                yield Device(last["name"], last["memory"], last["cuda"])
            elif outcome == "answer":
                yield Answer(**last["answer"])
        if outcome == "end":
            return
        lost += 1
        asked = last.get("asking")
        if lost >= KILLED_MOST or asked is None:
            yield Answer(suite, asked["name"] if asked else "the start", outcome, last.get("text", ""), 1, 0.0)
            yield Answer(suite, "the rest of the suite", "left", f"{lost} processes were lost", 1, 0.0)
            return
        if asked["part"] < 0 and asked["count"] > 1:
            first, part = asked["index"], 0
            continue
        yield Answer(suite, asked["name"], outcome, last.get("text", ""), asked["count"], 0.0)
        first, part = (asked["index"] + 1, -1) if asked["part"] < 0 else (asked["index"], asked["part"] + 1)


def _process(
    environment: dict[str, str], suite: str, every: int, first: int, part: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("device"|"answer", message) as a child tells, at last ("end"|"died"|"silent", what was being asked)."""
    command = settings.python_command(sys.executable, "anywarp.check.answering", suite, *map(str, (every, first, part)))
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert child.stdout is not None and child.stderr is not None
    asking: dict[str, Any] = {}
    try:
        for line in _lines(child.stdout, child.stderr):
            if line is None:
                yield "silent", {**asking, "text": f"no answer within {SILENCE:g} seconds"}
                return
            message = json.loads(line)
            kind = message.pop("kind")
            if kind == "asking":
                asking = {"asking": message}
            elif kind == "end":
                yield "end", {}
                return
            else:
                yield kind, message
        status = child.wait()
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        text = child.stderr.read().decode(errors="replace").strip().rpartition("\n")[2]
        yield "died", {**asking, "text": f"{how}: {text}" if text else how}
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
        child.stderr.close()


def _lines(out: IO[bytes], errors: IO[bytes]) -> Iterator[bytes | None]:
    """Yield the lines of a child; None when it has said nothing for too long. What it writes to stderr meanwhile is let go."""
    os.set_blocking(errors.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(out, selectors.EVENT_READ)
        held = b""
        while True:
            if not selector.select(SILENCE):
                yield None
                return
            chunk = os.read(out.fileno(), 1 << 16)
            if not chunk:
                os.set_blocking(errors.fileno(), True)
                return
            if len(held) > 1 << 20:
                held = b""
            *whole, held = (held + chunk).split(b"\n")
            yield from whole


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that a self-test found out, ready for a report."""

    device: str
    found: Device | None
    answers: tuple[Answer, ...]
    seconds: float

    @property
    def right(self) -> bool:
        """True when every question was answered as it must be."""
        return bool(self.answers) and all(answer.outcome == "passed" for answer in self.answers)

    def counts(self) -> dict[str, Counter[str]]:
        """Return how many rows of each suite ended how."""
        counts: dict[str, Counter[str]] = {}
        for answer in self.answers:
            counts.setdefault(answer.suite, Counter())[answer.outcome] += answer.count
        return counts

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping; questions that passed are only counted."""
        return {
            "device": self.device,
            "found": asdict(self.found) if self.found else None,
            "passed": self.right,
            "seconds": round(self.seconds, 1),
            "counts": {suite: dict(count) for suite, count in self.counts().items()},
            "problems": [asdict(answer) for answer in self.answers if answer.outcome != "passed"],
        }


def collect(device: str, found: Iterator[Answer | Device], started: float) -> Result:
    """Make a result of what `ask` yielded; `started` is the time.monotonic() when it began."""
    told, answers = None, list[Answer]()
    for one in found:
        if isinstance(one, Device):
            told = one
        else:
            answers.append(one)
    return Result(device, told, tuple(answers), time.monotonic() - started)

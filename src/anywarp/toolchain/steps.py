"""Running what a compilation consists of: commands of other programs and steps of our own, each printed as it could be typed.

One place knows --dryrun, --verbose and --time, so that no step forgets them.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Spent:
    """How long a step took: what it was, and when it started and ended, in seconds."""

    phase: str
    source: str
    start: float
    end: float


class StepFailed(Exception):
    """A program of a compilation failed, and has said why; `status` is its exit code."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(slots=True)
class Runner:
    """Runs steps: `show` prints them first, as nvcc does, `dry` runs none."""

    show: bool = False
    dry: bool = False
    times: list[Spent] = field(default_factory=list[Spent])

    def run(self, phase: str, source: str, command: Sequence[str], output: str | None = None) -> None:
        """Run a program; StepFailed when it does not end with 0. `output` receives its standard output."""
        self._do(phase, source, command, lambda: _call(command, output))

    def attempt(self, phase: str, source: str, command: Sequence[str]) -> tuple[int, str]:
        """Run a program whose failure the caller may mend; return its status, and what it said where it failed, else show that."""
        said = (0, "")

        def action() -> None:
            nonlocal said
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
            if done.returncode:
                said = _status(done.returncode), done.stderr
            else:
                sys.stderr.write(done.stderr)

        self._do(phase, source, command, action)
        return said

    def do(self, phase: str, source: str, command: Sequence[str], action: Callable[[], None]) -> None:
        """Do a step of our own; `command` is how it could be typed."""
        self._do(phase, source, command, action)

    def say(self, text: str) -> None:
        """Print a line of what nvcc tells about itself."""
        if self.show or self.dry:
            print(f"#$ {text}", file=sys.stderr, flush=True)

    def _do(self, phase: str, source: str, command: Sequence[str], action: Callable[[], None]) -> None:
        self.say(shlex.join(command))
        if self.dry:
            return
        start = time.time()
        action()
        self.times.append(Spent(phase, source, start, time.time()))


def _call(command: Sequence[str], output: str | None) -> None:
    if output is None:
        status = subprocess.run(command, check=False).returncode
    else:
        with open(output, "wb") as to:
            status = subprocess.run(command, stdout=to, check=False).returncode
    if status:
        raise StepFailed(_status(status))


def _status(code: int) -> int:
    """Return the exit status as a shell has it, for what ended by a signal, too."""
    return code if code > 0 else 128 - code

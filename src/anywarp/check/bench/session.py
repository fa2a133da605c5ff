"""A measured process seen from the measuring one: started, spoken to over a socket in a private folder, and ended whatever happens."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anywarp import settings
from anywarp.check.bench.measured import FIRST_ATTEMPT
from anywarp.check.bench.problems import FAILED, UNLOADED, problem

PATIENCE = 900.0
"""Seconds that loading, or one order, may take."""

LONGEST_LINE = 64 << 20

_attempts = itertools.count(1)
"""Processes of a rank that torchrun started, in order: those of one number on all ranks meet."""


@dataclass(frozen=True)
class Launched:
    """This process as one that the user's own torchrun started."""

    rank: int
    count: int


def launched() -> Launched | None:
    """Return which of torchrun's processes this one is, None where it is none, or another launcher's."""
    environment = settings.environment()
    if not all(name in environment for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")):
        return None
    try:
        found = Launched(int(environment["RANK"]), int(environment["WORLD_SIZE"]))
    except ValueError:
        return None
    return found if 0 <= found.rank < found.count else None


def _environment() -> dict[str, str]:
    """Return the environment of a measured process: each meets the others under a number of its own, since torchrun's store stays."""
    environment = dict(settings.environment())
    if launched() is not None:
        environment["TORCHELASTIC_RESTART_COUNT"] = str(FIRST_ATTEMPT + next(_attempts))
    return environment


def follow(spec: Mapping[str, Any], prefix: Sequence[str]) -> None:
    """Be a further rank of a model that the first rank measures, until that is done; AnywarpError (V034) where it fails."""
    with tempfile.TemporaryDirectory(prefix="anywarp-bench-") as name:
        folder = Path(name)
        (folder / "spec.json").write_text(json.dumps(dict(spec)), encoding="utf-8")
        words = [*prefix, *_command(1, folder / "socket")]
        with (folder / "said").open("wb") as said:
            try:
                done = subprocess.run(
                    words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=_environment(), check=False
                )
            except OSError as error:
                raise problem(FAILED, f"{words[0]} cannot be started: {error.strerror}") from None
        if done.returncode:
            text = f"the process of this rank ended{status_text(done.returncode)}{tail(folder / 'said')}"
            raise problem(FAILED, text)


class Session:
    """A model loaded in a process of its own; AnywarpError (V034, V035) where it fails."""

    def __init__(self, spec: Mapping[str, Any], prefix: Sequence[str], ranks: int = 1) -> None:
        """Start the process, with the words of `prefix` before it, and wait until its model has been called once."""
        self._folder = Path(tempfile.mkdtemp(prefix="anywarp-bench-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._rest = b""
        try:
            self._start(spec, [*prefix, *_command(ranks, self._folder / "socket")])
        except BaseException:
            self.close()
            raise

    def _start(self, spec: Mapping[str, Any], command: Sequence[str]) -> None:
        (self._folder / "spec.json").write_text(json.dumps(dict(spec)), encoding="utf-8")
        with socket.socket(socket.AF_UNIX) as listener, (self._folder / "said").open("wb") as said:
            listener.bind(str(self._folder / "socket"))
            listener.listen(1)
            started = time.perf_counter()
            try:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=_environment(), start_new_session=True
                )  # fmt: skip
            except OSError as error:
                raise problem(FAILED, f"{command[0]} cannot be started: {error.strerror}") from None
            self._await(listener)
            self._channel, _ = listener.accept()
        self._read()
        self.start_seconds = time.perf_counter() - started
        ready = self._read()
        self.ready_seconds = time.perf_counter() - started
        self.about: dict[str, Any] = ready["ready"]
        self.first_ns: int = ready["first"]

    def calls(self, count: int) -> list[list[int]]:
        """Have the model called so often; return nanoseconds of each call, per rank."""
        return self._asked({"calls": count})["times"]

    def memory(self) -> list[list[int]]:
        """Return the peaks of the process's and the device's memory in bytes (allocated, reserved), per rank."""
        return self._asked({"memory": True})["memory"]

    def close(self) -> None:
        """End the process with all that it started, and remove what it left."""
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            for which in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(self._process.pid, which)
                    self._process.wait(2)
                except (ProcessLookupError, PermissionError):
                    break
                except subprocess.TimeoutExpired:
                    continue
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _asked(self, order: Mapping[str, Any]) -> dict[str, Any]:
        assert self._channel is not None
        try:
            self._channel.sendall((json.dumps(dict(order)) + "\n").encode())
        except OSError:
            raise self._ended() from None
        return self._read()

    def _read(self) -> dict[str, Any]:
        """Return the next message; AnywarpError where there is none."""
        assert self._channel is not None
        while b"\n" not in self._rest:
            self._await(self._channel)
            block = self._channel.recv(1 << 20)
            if not block or len(self._rest) > LONGEST_LINE:
                raise self._ended()
            self._rest += block
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if "failed" in message:
            raise problem(UNLOADED, f"the model cannot be measured: {message['failed']}", message.get("help", ""))
        return message

    def _await(self, what: socket.socket) -> None:
        """Wait until there is something to read, or the process has ended without a word."""
        until = time.monotonic() + PATIENCE
        while not select.select([what], [], [], 0.2)[0]:
            assert self._process is not None
            if self._process.poll() is not None and not select.select([what], [], [], 0)[0]:
                raise self._ended()
            if time.monotonic() > until:
                raise problem(FAILED, f"the measured process has not answered for {PATIENCE:.0f} s")

    def _ended(self) -> Exception:
        assert self._process is not None
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            code = None
        return problem(FAILED, f"the measured process ended{status_text(code)}{tail(self._folder / 'said')}")


def status_text(code: int | None) -> str:
    """Return in words how a process ended."""
    if code is None:
        return ""
    return f" by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f" with exit code {code}"


def tail(path: Path, most: int = 1500) -> str:
    """Return the end of what a process said, as the rest of a message."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - most))
            text = file.read().decode(errors="replace").strip()
    except OSError:
        return ""
    return f"; it said last:\n{text}" if text else ""


def _command(ranks: int, place: Path) -> list[str]:
    python = [str(settings.PYTHON.get())]
    if ranks > 1 and launched() is None:
        python += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    return [*python, "-m", "anywarp.check.bench.measured", str(place)]

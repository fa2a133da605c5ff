"""What every driver of a program shares: its arguments, a copy of the program to run in, its command lines, the result line.

A driver runs the program's own files in a child process, as a user would, and reads numbers from what they print; it changes nothing.
"""

# pyright: basic
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MARK = "RESULT "


@dataclass
class Place:
    """Where a driver runs: the folder of fetched programs, a private copy of one of them, and the device asked for."""

    source: Path
    work: Path
    device: str
    case: str = ""
    log: list[str] = field(default_factory=list)

    def copy(self, name: str) -> Path:
        """Copy the program `name` into the private folder, once, and return the copy."""
        target = self.work / name
        if not target.exists():
            shutil.copytree(self.source / name, target, ignore=shutil.ignore_patterns(".git"))
        return target

    def script(
        self,
        folder: Path,
        *arguments: str,
        until: str = "",
        limit: int = 280,
        environment: dict[str, str] | None = None,
        launcher: Iterable[str] = (),
    ) -> str:
        """Run `python arguments` in `folder`; return what it printed; RuntimeError with its last words when it fails.

        With `until`, a pattern, the program is stopped at the first line that it matches: for programs that never end.
        """
        command = [sys.executable, *launcher, *arguments]
        self.log.append(" ".join(["python", *launcher, *arguments]))
        settings = {**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})}
        process = subprocess.Popen(
            ["timeout", "-k", "10", str(limit), *command],
            cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        lines: list[str] = []
        stopped = False
        for line in process.stdout:
            lines.append(line)
            if until and re.search(until, line):
                stopped = True
                os.killpg(process.pid, signal.SIGTERM)
                break
        process.stdout.close()
        code = process.wait()
        text = "".join(lines)
        if code and not stopped:
            raise RuntimeError(f"exit code {code} of {self.log[-1]}\n{text[-6000:]}")
        return text


def numbers(pattern: str, text: str) -> list[float]:
    """Return the first group of every match of `pattern` in `text`, as numbers."""
    return [float(each) for each in re.findall(pattern, text)]


def digest(tensor: Any) -> list[float]:
    """Return eight numbers that stand for a tensor: mean, mean magnitude, and six of its elements; it must be finite."""
    import torch

    flat = tensor.detach().cpu().double().flatten()
    assert bool(torch.isfinite(flat).all()), "not finite"
    places = torch.linspace(0, flat.numel() - 1, 6).long()
    return [float(flat.mean()), float(flat.abs().mean()), *flat[places].tolist()]


def run(body: Callable[[Place], dict[str, object]]) -> None:
    """Parse the arguments of a driver, run `body`, print its values as the result line; exit code 1 with the cause when it fails."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", default="", help="one of the driver's cases, where it has several")
    parser.add_argument("--source", type=Path, required=True, help="folder that holds the fetched programs")
    parser.add_argument("--device", choices=("cuda", "cpu"), required=True)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="program-") as work:
        place = Place(chosen.source.resolve(), Path(work), chosen.device, chosen.case)
        try:
            values = body(place)
        except Exception as problem:
            traceback.print_exc()
            print(MARK + json.dumps({"commands": place.log, "error": f"{type(problem).__name__}: {problem}"}))
            sys.exit(1)
        print(MARK + json.dumps({"commands": place.log, "values": values}))

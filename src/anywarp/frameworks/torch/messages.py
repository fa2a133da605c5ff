"""What the user is told about torch: on stderr, and once in a run however many processes it has.

A run has a name in the environment, which its processes inherit; who says something first leaves a file of that name.
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import Diagnostic

FORGOTTEN_AFTER = 7 * 86400.0
"""Seconds after which the files that keep messages from being repeated are removed."""


def place() -> Path:
    """Return the folder of the stand-in in the cache: binaries compiled at first use, and what was said."""
    return settings.CACHE_DIR.get() / "torch"


def say(text: str, end: str = "\n") -> None:
    """Write a line to stderr, when there is one."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - None in a process without a terminal
        print(f"anywarp: {text}", end=end, file=sys.stderr, flush=True)


def say_once(diagnostic: Diagnostic, subject: str = "") -> None:
    """Say a diagnostic unless another process of this run has said it, of the same subject (a module's name)."""
    if _first(f"{diagnostic.code}{subject and '-'}{subject}"):
        say(diagnostic.as_text())


def _first(code: str) -> bool:
    """Tell whether nobody in this run has been here with this code; True as well when that cannot be known."""
    run = settings.RUN.get()
    if not re.fullmatch(r"[\w.-]{1,64}", run):
        return True
    said = place() / "said"
    try:
        said.mkdir(parents=True, exist_ok=True)
        os.close(os.open(said / f"{run}-{code}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    _forget(said)
    return True


def _forget(said: Path) -> None:
    for old in said.iterdir():
        try:
            if time.time() - old.stat().st_mtime > FORGOTTEN_AFTER:
                old.unlink()
        except OSError:
            pass

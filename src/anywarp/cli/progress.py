"""What a long command is doing, on stderr: one line that changes in a terminal once two seconds have passed, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

_PATIENCE, _EVERY = 2.0, 15.0


@contextmanager
def told(program: str) -> Generator[Callable[[str], None]]:
    """Give a callback that takes what is being done."""
    from rich.console import Console

    console = Console(stderr=True)
    started = last = time.monotonic()
    if not console.is_terminal:

        def line(text: str) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last > _EVERY:
                last = now
                print(f"{program}: {text}", file=sys.stderr, flush=True)

        yield line
        return
    with console.status("") as status:

        def change(text: str) -> None:
            if time.monotonic() - started > _PATIENCE:
                status.update(text.replace("[", r"\["))

        yield change

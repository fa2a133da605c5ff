"""Lock files: made by tools from what a project asks for, so they are made anew, never edited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.deploy.convert.model import Finding, Options, Refusal
from anywarp.migrate.formats.lock_files import made_by

NAME = "lock"
MADE = "Y036"


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a lock file of a Python project."""
    return made_by(path) != ""


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield one refusal for the whole file."""
    reason = "it names files by their hashes, and those for ROCm are others: a lock file cannot be edited"
    yield Refusal(
        0, len(data), reason, f"convert what the project asks for, then make it anew: {made_by(path)}", "", MADE
    )


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """The whole file is spoken for."""
    return ()

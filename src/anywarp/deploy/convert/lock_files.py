"""Lock files: made by tools from what a project asks for, so they are made anew, never edited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.deploy.convert.model import Finding, Options, Refusal

NAME = "lock"
MADE = "Y036"
_TOOLS = {
    "poetry.lock": "poetry lock",
    "uv.lock": "uv lock",
    "pdm.lock": "pdm lock",
    "pipfile.lock": "pipenv lock",
    "pixi.lock": "pixi install",
    "conda-lock.yml": "conda-lock",
    "conda-lock.yaml": "conda-lock",
    "pylock.toml": "the tool that made it",
}


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a lock file of a Python project."""
    name = path.name.lower()
    return name in _TOOLS or (name.startswith("pylock.") and name.endswith(".toml"))


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield one refusal for the whole file."""
    tool = _TOOLS.get(path.name.lower(), "the tool that made it")
    reason = "it names files by their hashes, and those for ROCm are others: a lock file cannot be edited"
    yield Refusal(0, len(data), reason, f"convert what the project asks for, then make it anew: {tool}", "", MADE)


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """The whole file is spoken for."""
    return ()

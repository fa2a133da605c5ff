"""Install packages into a folder, by uv or pip, without their dependencies and without building anything."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from anywarp import settings
from anywarp.deploy.env.interpreter import Python
from anywarp.deploy.env.plan import DEFAULT
from anywarp.deploy.env.problems import NOT_INSTALLED, cannot_write, full, problem

Name = Literal["uv", "pip"]
_FULL = re.compile(r"No space left on device|os error 28|Errno 28|Disk quota exceeded|os error 122")


@dataclass(frozen=True, slots=True)
class Sources:
    """Where packages come from, where the user says it: an index in the place of all others, folders or pages of files besides, or no index."""

    index: str = ""
    find_links: tuple[str, ...] = ()
    no_index: bool = False

    @classmethod
    def named(cls, index: str, links: Sequence[str], no_index: bool) -> Sources:
        """Return sources as a user names them: places of theirs by their whole paths, since installers run in another folder."""
        there = tuple(str(Path(one).resolve()) if Path(one).exists() else one for one in links)
        return cls(index, there, no_index)

    def options(self, index: str) -> list[str]:
        """Return the options, which uv and pip share, for packages that come from `index`."""
        links = [word for one in self.find_links for word in ("--find-links", one)]
        if self.no_index:
            return ["--no-index", *links]
        address = self.index or index
        return [*(["--index-url", address] if address != DEFAULT else []), *links]


def choose(name: Name | None) -> Name:
    """Return the installer: the one asked for, else uv where it is installed, else pip. AnywarpError (Y061) for a uv that is not."""
    if name == "uv" and shutil.which("uv") is None:
        raise problem(NOT_INSTALLED, "uv is not installed", "leave --installer out, or install uv")
    return name or ("uv" if shutil.which("uv") else "pip")


def install(
    name: Name, python: Python, wanted: Sequence[str], index: str, sources: Sources, target: Path, scratch: Path
) -> None:
    """Install the requirements `wanted` for `python` into `target`; what the installer prints goes to stderr.

    AnywarpError: Y061 with the installer's own last line, Y062 on a full disk. Nothing is written in the environment.
    """
    command = [*_command(name, python), "--target", str(target), "--no-deps", "--only-binary", ":all:"]
    env = settings.environment() | {"TMPDIR": str(scratch), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*command, *sources.options(index), "--", *wanted],
            cwd=scratch, env=env, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(), stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    except OSError as error:
        raise cannot_write(error, target.parent) from error
    if done.returncode == 0:
        return
    said = done.stderr.decode("utf-8", "replace")
    if _FULL.search(said):
        raise full(target.parent)
    place = sources.index or index or "the index that it is set up for"
    if sources.no_index:
        place = ", ".join(sources.find_links) or "no place at all"
    text = f"{name} could not install {', '.join(wanted)} for Python {python.version} from {place}: {_last(said, done.returncode)}"
    raise problem(
        NOT_INSTALLED,
        text,
        "look there which versions have a wheel for this Python; --rocm chooses another release, --index-url or --find-links another place",
    )


def _last(said: str, status: int) -> str:
    """Return what an installer said in the end: pip's last line with ERROR, all that follows uv's mark."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    marked = next((at for at, line in enumerate(lines) if line.startswith(("×", "error:"))), len(lines) - 1)
    return (errors[-1] if errors else " ".join(lines[max(marked, 0) :]) or f"exit code {status}")[:300]


def _command(name: Name, python: Python) -> list[str]:
    if name == "uv":
        return [shutil.which("uv") or "uv", "pip", "install", "--python", python.command]
    quiet = ["--no-input", "--disable-pip-version-check", "--quiet"]
    own = [python.command, "-E", "-B", "-m", "pip"]
    if _has_pip(python):
        return [*own, "install", *quiet]
    return [sys.executable, "-B", "-m", "pip", "--python", python.command, "install", *quiet]


def _has_pip(python: Python) -> bool:
    return any(os.path.isfile(folder / "pip" / "__main__.py") for folder in python.folders)

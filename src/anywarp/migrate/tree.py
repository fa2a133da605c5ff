"""What lies below a path that a user names: its files in a stable order, and their bytes, read without being harmed by them.

Trees come from anywhere: links may form loops, names may hold any byte, and what looks like a file may be a device that never ends.
So links are not followed, only regular files are opened, and each problem is told for its file alone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pathspec

from anywarp.diagnostics import AnywarpError, Diagnostic, Source
from anywarp.migrate import codes
from anywarp.migrate.shown import visible

SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".jj", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", "node_modules"}
)  # fmt: skip
"""Folders that hold nothing that a person wrote or a machine runs; `.gitignore` is not asked, for a venv is ignored by git and matters."""

_ENVIRONMENT = frozenset({"pyvenv.cfg", "conda-meta"})
"""What tells the folder of a virtual or conda environment."""

_ITS_FOLDERS = frozenset({"bin", "etc", "include", "lib", "lib64", "libexec", "man", "pkgs", "sbin", "share", "ssl", "var", "conda-meta", "Scripts", "Lib"})  # fmt: skip
"""What an environment consists of; some people keep their sources beside that."""

LARGEST = 64 << 20
"""Most bytes of one file that is read as text."""


@dataclass(frozen=True, slots=True)
class File:
    """A regular file: where it lies, how it is shown (relative to the folder asked for, `/` between parts) and its bytes on disk.

    Names may hold any byte: those that are not UTF-8 are lone surrogates here, as in `os.fsdecode`.
    """

    place: str
    shown: str
    size: int
    named: bool = False
    """Whether the user named this very file."""
    installed: bool = False
    """Whether it lies in a virtual or conda environment: others made it."""


@dataclass(slots=True)
class Walked:
    """What was left out on the way: links, things that are no files, folders that hold nothing of interest, excluded paths."""

    links: int = 0
    special: int = 0
    skipped: int = 0
    excluded: int = 0
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    environments: list[str] = field(default_factory=list[str])


def walk(root: str | Path, exclude: Sequence[str] = (), left_out: Walked | None = None) -> Iterator[File]:
    """Yield the regular files at or below `root`, sorted by name within each folder; `exclude` holds patterns as in .gitignore.

    `root` itself may be a link; below it, links are not followed. Unreadable folders become problems in `left_out`.
    AnywarpError M011 when `root` is not there or is neither file nor folder.
    """
    root, out = os.fspath(root), left_out if left_out is not None else Walked()
    try:
        status = os.stat(root)
    except (OSError, ValueError) as error:
        raise codes.problem(codes.NO_SUCH_PATH, f"{visible(root)}: {_reason(error)}") from None
    if stat.S_ISREG(status.st_mode):
        yield File(root, os.path.basename(root), status.st_size, named=True)
        return
    if not stat.S_ISDIR(status.st_mode):
        raise codes.problem(codes.NO_SUCH_PATH, f"{visible(root)} is neither a file nor a folder")
    spec = pathspec.PathSpec.from_lines("gitignore", exclude) if exclude else None
    waiting = [("", False)]
    while waiting:
        folder, installed = waiting.pop()
        entries = _entries(root, folder, out)
        environment = any(entry.name in _ENVIRONMENT for entry in entries)
        inner: list[tuple[str, bool]] = []
        for entry in entries:
            shown = f"{folder}{entry.name}"
            kind = _kind(entry)
            if spec is not None and spec.match_file(shown + "/" if kind == "folder" else shown):
                out.excluded += 1
            elif kind == "folder":
                if entry.name in SKIPPED:
                    out.skipped += 1
                else:
                    its_own = environment and entry.name in _ITS_FOLDERS
                    if its_own and not installed:
                        out.environments.append(entry.path)
                    inner.append((f"{shown}/", installed or its_own))
            elif kind == "file":
                yield from _file(entry, shown, installed, out)
            elif kind == "link":
                out.links += 1
            else:
                out.special += 1
        waiting += reversed(inner)


def read(place: str | Path, shown: str = "", limit: int = LARGEST) -> bytes:
    """Return the bytes of a regular file; AnywarpError M002 when it cannot be read or is none, M003 when it is over `limit` bytes."""
    name = visible(shown or os.fspath(place))
    try:
        with open_regular(place) as file:
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                raise too_large(name, size, limit)
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise codes.problem(codes.UNREADABLE, f"{name} cannot be read: {_reason(error)}", Source(name, "")) from None
    if len(data) > limit:
        raise too_large(name, len(data), limit)
    return data


def open_regular(place: str | Path):
    """Open a regular file for reading; OSError for anything else. A fifo or device is never waited for, for none is opened to be read."""
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a regular file")
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def too_large(name: str, size: int, limit: int) -> AnywarpError:
    """Build the error for a file of `size` bytes where at most `limit` are looked into."""
    text = f"{name} has {size:,} bytes; what is over {limit:,} bytes is not looked into"
    return codes.problem(codes.TOO_LARGE, text, Source(name, ""))


def _entries(root: str, folder: str, out: Walked) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(os.path.join(root, folder)) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        name = visible(folder or root)
        text = f"the folder {name} cannot be read: {_reason(error)}"
        out.problems.append(codes.problem(codes.UNREADABLE, text, Source(name, "")).diagnostic)
        return []


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_symlink():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else "special"
    except OSError:
        return "special"


def _file(entry: os.DirEntry[str], shown: str, installed: bool, out: Walked) -> Iterator[File]:
    try:
        yield File(entry.path, shown, entry.stat(follow_symlinks=False).st_size, installed=installed)
    except OSError as error:
        name = visible(shown)
        text = f"{name} cannot be read: {_reason(error)}"
        out.problems.append(codes.problem(codes.UNREADABLE, text, Source(name, "")).diagnostic)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)

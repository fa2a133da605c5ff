"""Overlays: packages for ROCm that `anywarp env make` has laid beside an environment, and whether they still fit it.

`anywarp run` reads what was left here and nothing else. An environment's record lies below `environments` at the environment's own path,
so that every Python finds its own by its prefix (site/sitecustomize.py); the packages lie in a folder named by their content.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from anywarp.diagnostics import AnywarpError, Diagnostic

FORMAT = 1
RECORD = "anywarp-overlay.json"
IMAGE = Path("/opt/anywarp/overlays/environments")
"""Where records lie in an image that `anywarp image wrap --rocm-packages` made; `site/sitecustomize.py` looks there, too."""
LARGEST = 64 << 20
"""The most bytes of one file that is read whole."""

_ROOT = 0
"""Who may write to what root owns may do all else, too: an image's overlay is root's, whoever the container's user is."""
_PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?$")
_LONG_LINE = re.compile(rb"#!/bin/sh\n'''exec' \"?([^\"\n]+?)\"? \"\$0\"")
"""How installers write a script's interpreter where its path is too long for the first line, or has spaces."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A package of the environment that one of the overlay stands before: where its metadata lie, and their digest."""

    name: str
    version: str
    place: str
    digest: str


@dataclass(frozen=True, slots=True)
class Laid:
    """A package of the overlay; `folder` is that of its metadata, in the overlay."""

    name: str
    version: str
    folder: str
    digest: str


@dataclass(frozen=True, slots=True)
class Without:
    """A package of the environment that nothing answers on ROCm, why, and what to do."""

    name: str
    version: str
    reason: str
    help: str


@dataclass(frozen=True, slots=True)
class Record:
    """What `anywarp env make` did for one environment; `overlay` is the folder that comes before its own packages."""

    prefix: str
    python: str
    rocm: str
    overlay: str
    laid: tuple[Laid, ...]
    replaced: tuple[Replaced, ...]
    without: tuple[Without, ...]

    def text(self) -> str:
        """Return the record as its file holds it."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"


def environments(cache: Path) -> Path:
    """Return the folder below which records lie at their environments' paths."""
    return cache / "overlays" / "environments"


def objects(cache: Path) -> Path:
    """Return the folder of the overlays themselves."""
    return cache / "overlays" / "objects"


def place(cache: Path, prefix: str) -> Path:
    """Return where the record of the environment with this (resolved) prefix lies."""
    return Path(f"{environments(cache)}{os.path.realpath(prefix)}") / RECORD


def find(cache: Path, prefix: str) -> Record | None:
    """Read the record of an environment, the user's own before that of the image; None where there is none. AnywarpError as `read`."""
    own = read(place(cache, prefix))
    return own if own is not None else read(Path(f"{IMAGE}{os.path.realpath(prefix)}") / RECORD)


def read(path: Path) -> Record | None:
    """Read a record; None where there is none. AnywarpError (R032) for one that is damaged or that others may write to."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            data = file.read(LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from error
    if status.st_uid not in (os.getuid(), _ROOT) or status.st_mode & 0o022:
        raise _damaged(path, "others may write to it")
    try:
        return _record(json.loads(data))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _damaged(path, f"it is no record of format {FORMAT}") from error


def _record(values: Any) -> Record:
    if values.pop("format") != FORMAT:
        raise ValueError
    strings = {name: values[name] for name in ("prefix", "python", "rocm", "overlay")}
    if not all(isinstance(value, str) for value in strings.values()):
        raise TypeError
    return Record(
        **strings,
        laid=tuple(Laid(**one) for one in values["laid"]),
        replaced=tuple(Replaced(**one) for one in values["replaced"]),
        without=tuple(Without(**one) for one in values["without"]),
    )


def _damaged(path: Path, reason: str) -> AnywarpError:
    text = f"the record of an overlay, {path}, cannot be used: {reason}"
    return AnywarpError(Diagnostic("R032", text, help="make it again: anywarp env make"))


def digest(folder: Path) -> str:
    """Return the SHA-256 of a distribution's METADATA and RECORD; "" where METADATA is missing, as when pip was interrupted."""
    content = hashlib.sha256()
    for name in ("METADATA", "RECORD"):
        try:
            with (folder / name).open("rb") as file:
                content.update(hashlib.sha256(file.read(LARGEST)).digest())
        except OSError:
            if name == "METADATA":
                return ""
    return content.hexdigest()


def misfits(record: Record) -> list[str]:
    """Say, a line each, what has changed in an environment or its overlay since that was made; nothing: it fits."""
    found: list[str] = []
    folder = Path(record.overlay)
    try:
        status = folder.lstat()
    except OSError:
        return [f"its overlay {folder} is gone"]
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (os.getuid(), _ROOT) or status.st_mode & 0o022:
        return [f"its overlay {folder} is not yours alone"]
    for one in record.replaced:
        now = digest(Path(one.place))
        if now != one.digest:
            found.append(_since(one, bool(now)))
    found += [
        f"{one.name} {one.version} of its overlay is damaged"
        for one in record.laid
        if digest(folder / one.folder) != one.digest
    ]
    return found


def _since(one: Replaced, there: bool) -> str:
    if there:
        return f"{one.name} {one.version} has been installed anew since"
    folder = Path(one.place)
    if folder.is_dir():
        return f"{one.name} {one.version} is half installed: it has no METADATA any more"
    start = f"{re.sub(r'[-_.]+', '_', one.name).lower()}-"
    try:
        names = os.listdir(folder.parent)
    except OSError:
        names = []
    for name in names:
        if name.lower().startswith(start) and name.endswith(".dist-info"):
            version = name[len(start) : -len(".dist-info")]
            return f"{one.name} {one.version} has been replaced by {version} since"
    return f"{one.name} {one.version} has been removed since"


def prefix_of(python: str) -> str:
    """Return the prefix of a Python, by where it lies: that of its virtual environment, else that of the file behind all links."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(python)))
    if os.path.isfile(os.path.join(folder, "pyvenv.cfg")):
        return os.path.realpath(folder)
    return os.path.dirname(os.path.dirname(os.path.realpath(python)))


def environment_of(program: str, path: str) -> str | None:
    """Return the prefix of the environment that a command belongs to; where it is no Python's, that of the first Python on `path`."""
    found = shutil.which(program, path=path)
    python = _interpreter(found, path) if found else None
    python = python or shutil.which("python3", path=path) or shutil.which("python", path=path)
    return prefix_of(python) if python else None


def _interpreter(program: str, path: str) -> str | None:
    if _PYTHON.match(os.path.basename(program)):
        return program
    try:
        with open(program, "rb") as file:
            head = file.read(4096)
    except OSError:
        return None
    if long := _LONG_LINE.match(head):
        words = [os.fsdecode(long[1])]
    elif head.startswith(b"#!"):
        words = os.fsdecode(head[2:].split(b"\n", 1)[0]).split()
    else:
        return None
    if words and os.path.basename(words[0]) == "env":
        named = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
        words = [found] if (found := shutil.which(named, path=path)) else []
    return words[0] if words and _PYTHON.match(os.path.basename(words[0])) else None


def records(cache: Path) -> list[tuple[Path, Record | AnywarpError]]:
    """Return every record with its place, in order; in the place of one that cannot be used, why."""
    found: list[tuple[Path, Record | AnywarpError]] = []
    for folder, folders, names in os.walk(environments(cache)):
        folders.sort()
        if RECORD in names:
            path = Path(folder) / RECORD
            try:
                record: Record | AnywarpError | None = read(path)
            except AnywarpError as error:
                record = error
            found.append((path, cast("Record | AnywarpError", record)))
    return found

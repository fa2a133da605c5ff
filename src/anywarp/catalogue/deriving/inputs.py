"""Load the list of what the tables are derived from: data/derive/inputs.tsv.

An input is one package, or one folder at one tag of a repository. Its name is FOLDER/SHORT, where the folder stands for a release
(`cuda13`, `rocm-7.2`, `tools`): a new version of it changes one row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, cast, get_args

from anywarp import settings
from anywarp.catalogue.load import DATA, TableError

Kind = Literal["pypi", "debian", "git"]
PATH = DATA / "derive" / "inputs.tsv"
COLUMNS = ("name", "kind", "package", "version", "place", "file", "take", "moved", "sha256")


@dataclass(frozen=True, slots=True)
class Input:
    """One input.

    `place` is the suite of a package of Debian or the paths inside a repository; `file` what the archive is called. Of its files those are
    taken that fit one of the patterns `take`; `moved` says under which paths they stand instead: (old beginning, new beginning).
    """

    name: str
    kind: Kind
    package: str
    version: str
    place: str
    file: str
    take: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    sha256: str

    @property
    def folder(self) -> str:
        """The release that it belongs to: `rocm-7.2`."""
        return self.name.partition("/")[0]

    def taken(self, path: str) -> str | None:
        """Return where a file of the archive is to stand, None for one that is not wanted."""
        if not any(fnmatchcase(path, pattern) for pattern in self.take):
            return None
        old, new = next((pair for pair in self.moved if path.startswith(pair[0])), ("", ""))
        return new + path.removeprefix(old)

    def as_line(self) -> str:
        """Return its row, without the line end."""
        moved = " ".join(f"{old}={new}" for old, new in self.moved)
        cells = (
            self.name,
            self.kind,
            self.package,
            self.version,
            self.place,
            self.file,
            " ".join(self.take),
            moved,
            self.sha256,
        )
        return "\t".join(cells)


def folder() -> Path:
    """Return the folder that inputs are kept in where none is named."""
    return settings.CACHE_DIR.get() / "derive"


def load(path: Path = PATH) -> tuple[Input, ...]:
    """Read the list; TableError on the first line that is wrong."""
    return parse(path.read_text(encoding="utf-8"), path.name)


def parse(text: str, name: str) -> tuple[Input, ...]:
    """Read the list from its text; `name` is what errors call it."""
    lines = text.split("\n")
    if len(lines) < 3 or not lines[0].startswith("# ") or lines[1] != "\t".join(COLUMNS) or lines[-1]:
        raise TableError(f"{name}: a table begins with its source and its columns and ends with a line end")
    found: dict[str, Input] = {}
    for number, line in enumerate(lines[2:-1], start=3):
        each = _input(line, f"{name}:{number}")
        if each.name in found:
            raise TableError(f"{name}:{number}: {each.name} is there twice")
        found[each.name] = each
    return tuple(found.values())


def _input(line: str, where: str) -> Input:
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise TableError(f"{where}: expected {len(COLUMNS)} cells, found {len(cells)}")
    name, kind, package, version, place, file, take, moved, sha256 = cells
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name) or kind not in get_args(Kind):
        raise TableError(f"{where}: an input is called FOLDER/NAME, and its kind is one of {', '.join(get_args(Kind))}")
    if not re.fullmatch(r"[0-9a-f]{64}", sha256) or "/" in file or file.startswith(".") or not version:
        raise TableError(f"{where}: an input has a version, the name of a file and its SHA-256")
    pairs = tuple((old, new) for old, _, new in (part.partition("=") for part in moved.split()))
    return Input(name, cast(Kind, kind), package, version, place, file, tuple(take.split()), pairs, sha256)


def chosen(inputs: Iterable[Input], patterns: Iterable[str]) -> tuple[Input, ...]:
    """Return the inputs that fit one of the patterns, less those that fit one with a `-` before it; KeyError for a pattern that fits none."""
    known, found = tuple(inputs), dict[str, Input]()
    for pattern in patterns:
        fitting = [each for each in known if fnmatchcase(each.name, pattern.removeprefix("-"))]
        if not fitting:
            raise KeyError(f"no input is called {pattern}: see {PATH.name}")
        for each in fitting:
            if pattern.startswith("-"):
                found.pop(each.name, None)
            else:
                found[each.name] = each
    return tuple(found.values())

"""Load the releases of ROCm that something is known of: data/rocm/releases.tsv.

Whoever names a release or asks for the newest, the usual or the ones told apart asks here. Standard library only: the build uses it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anywarp.catalogue.rocm import DATA, TableError, read

PATH = DATA / "releases.tsv"
COLUMNS = ("release", "hip", "told_apart", "marks", "read")
MARKS = ("usual", "lends")


@dataclass(frozen=True, slots=True)
class Release:
    """One release, `7.2`.

    `hip` is what HIP calls itself there, where it was read; `told_apart` whether the tables say what came and went with it; `usual` marks
    the one that a conversion is for unless its user says otherwise, `lends` the one whose headers complete those of others where only one
    library of theirs was at hand. `read` names the libraries that were.
    """

    number: str
    hip: str
    told_apart: bool
    usual: bool
    lends: bool
    read: tuple[str, ...]


def number(version: str) -> tuple[int, ...]:
    """Return a version as numbers, for comparing."""
    return tuple(int(part) for part in version.split("."))


@cache
def releases(path: Path = PATH) -> tuple[Release, ...]:
    """Return the releases, oldest first; TableError where they are out of order, or no single one is usual or lends."""
    found: list[Release] = []
    for row, place in read(path, COLUMNS):
        marks = row["marks"].split()
        if row["told_apart"] not in ("", "yes") or not set(marks) <= set(MARKS):
            raise TableError(f"{place}: a release is told apart (yes) or not, and its marks are {', '.join(MARKS)}")
        if found and number(row["release"]) <= number(found[-1].number):
            raise TableError(f"{place}: {row['release']} is out of order")
        kept = tuple(row["read"].split())
        found.append(
            Release(row["release"], row["hip"], row["told_apart"] == "yes", "usual" in marks, "lends" in marks, kept)
        )
    for what in ([one for one in found if one.usual and one.told_apart], [one for one in found if one.lends]):
        if len(what) != 1:
            raise TableError(f"{path.name}: one release is the usual one, and one lends its headers")
    return tuple(found)


def having(library: str) -> tuple[str, ...]:
    """Return the releases in which a library was read, oldest first; KeyError for a library that no release names."""
    found = tuple(one.number for one in releases() if library in one.read)
    if not found:
        raise KeyError(f"no release of ROCm in {PATH.name} has {library}")
    return found


def hip_versions(library: str) -> tuple[str, ...]:
    """Return what HIP calls itself in the releases in which a library was read, oldest first."""
    return tuple(one.hip for one in releases() if library in one.read)


RELEASES = tuple(one.number for one in releases() if one.told_apart)
"""The releases that the tables tell apart. Between two of them counts the older."""
NEWEST = RELEASES[-1]
USUAL = next(one.number for one in releases() if one.usual)
LENDER = next(one.number for one in releases() if one.lends)

"""What is installed in folders of packages, by the files alone; what an interrupted installer left is told apart from what is whole."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from functools import cached_property
from pathlib import Path

from packaging.version import InvalidVersion, Version

from anywarp.catalogue.replacements import canonical
from anywarp.runtime.overlay import LARGEST


@dataclass(frozen=True)
class Distribution:
    """An installed package: its name as indexes compare it, its version, the folder of its metadata, and what it needs (PEP 508).

    `listed`: its metadata alone are here, its files lie in an image, and whether they are whole is not asked.
    """

    name: str
    version: str
    place: Path
    needs: tuple[str, ...]
    listed: bool = False

    @cached_property
    def number(self) -> Version | None:
        """The version as installers compare it; None where it is none."""
        try:
            return Version(self.version)
        except InvalidVersion:
            return None

    def missing(self) -> str:
        """Return the first file that its RECORD names and that is not there, or not as long; "" where all are, or it has no RECORD.

        Commands and what else lies outside the folder of packages is left out: an overlay has none.
        """
        for name, size in () if self.listed else _files(self.place):
            try:
                status = (self.place.parent / name).stat()
            except OSError:
                return name
            if size is not None and status.st_size != size:
                return name
        return ""


def _files(place: Path) -> Iterator[tuple[str, int | None]]:
    try:
        with (place / "RECORD").open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            for row in csv.reader(file):
                if row and not row[0].startswith(("../", "/")) and not row[0].endswith(".pyc"):
                    yield row[0], int(row[2]) if len(row) > 2 and row[2].isdecimal() else None
    except (OSError, csv.Error, ValueError):
        return


@dataclass(frozen=True)
class Found:
    """What lies in folders of packages: by name what Python would take, and a line for each thing that is not whole."""

    packages: dict[str, Distribution]
    faults: dict[str, str]


def look(folders: Sequence[Path]) -> Found:
    """Read the metadata of every package in `folders`; the first of several folders wins, as on Python's path."""
    packages: dict[str, Distribution] = {}
    faults: dict[str, str] = {}
    for folder in folders:
        here: dict[str, Distribution] = {}
        for entry in _listing(folder):
            if entry.startswith("~"):
                name = canonical(re.split(r"-\d", entry.lstrip("~"))[0])
                faults.setdefault(
                    entry, f"{entry} in {folder} is what an interrupted pip left of *{name}: install that again"
                )
            elif entry.endswith((".dist-info", ".egg-info")):
                _enter(folder / entry, here, faults)
        for name, found in here.items():
            packages.setdefault(name, found)
    return Found(packages, faults)


def _listing(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _enter(place: Path, here: dict[str, Distribution], faults: dict[str, str]) -> None:
    found = read(place)
    if found is None:
        name = canonical(place.name.rpartition(".")[0].partition("-")[0])
        faults[name] = f"{name} is half installed: {place} tells no name and version; install it again"
    elif found.name in here and here[found.name].version != found.version:
        both = f"{here[found.name].version} and {found.version}"
        faults[found.name] = (
            f"{found.name} is installed twice in {place.parent}, {both}: uninstall it, then install it again"
        )
    else:
        here[found.name] = found


def read(place: Path) -> Distribution | None:
    """Read the folder (or, of eggs, the file) with a package's metadata; None where no name and version stand there."""
    path = place / ("METADATA" if place.suffix == ".dist-info" else "PKG-INFO") if place.is_dir() else place
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return None
    head = HeaderParser().parsestr(text, headersonly=True)
    name, version = str(head.get("Name", "")).strip(), str(head.get("Version", "")).strip()
    if not name or not version:
        return None
    return Distribution(canonical(name), version, place, tuple(str(one) for one in head.get_all("Requires-Dist", [])))

"""Count which functions published programs import: data/derive/demand.tsv, which was measured and cannot be fetched."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from anywarp.catalogue.rocm import DATA, read

PATH = DATA.parent / "derive" / "demand.tsv"


def demand_of(libraries: Collection[str], path: Path = PATH) -> dict[str, int]:
    """Return how many of the measured programs import each function of some libraries (`libcublas`)."""
    programs: dict[str, set[str]] = {}
    for row, _ in read(path, ("program", "library", "functions")):
        if row["library"] in libraries:
            programs.setdefault(row["program"], set()).update(row["functions"].split())
    counts: dict[str, int] = {}
    for functions in programs.values():
        for name in functions:
            counts[name] = counts.get(name, 0) + 1
    return counts

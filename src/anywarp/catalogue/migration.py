"""Load the tables of what surrounds a CUDA program (packages, images, resources, metrics) and what takes its place on AMD GPUs.

Assessing says what would change and converting changes it: both must go by the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from anywarp.catalogue.rocm import TableError, read

DATA = Path(__file__).parent / "data" / "migration"
REQUIRED = ("target", "reason", "source", "confidence")
CONFIDENCE = ("read", "ran", "unchecked")
"""Read in the source named; tried; or taken from experience and not checked."""

Row = Mapping[str, str]


@cache
def rows(table: str, folder: Path = DATA) -> tuple[Row, ...]:
    """Return the rows of a table, `packages`; TableError where a row has no target and no reason, or no source."""
    found: list[Row] = []
    path = folder / f"{table}.tsv"
    for row, place in read(path, REQUIRED):
        if not row["target"] and not row["reason"]:
            raise TableError(f"{place}: neither a target nor a reason why there is none")
        if not row["source"] or row["confidence"] not in CONFIDENCE:
            raise TableError(f"{place}: a row names its source and how sure it is ({', '.join(CONFIDENCE)})")
        found.append(MappingProxyType(row))
    return tuple(found)


@cache
def by(table: str, column: str, folder: Path = DATA) -> Mapping[str, Row]:
    """Return the rows of a table by one of its columns, the first of several that have the same."""
    found: dict[str, Row] = {}
    for row in rows(table, folder):
        found.setdefault(row[column], row)
    return MappingProxyType(found)


def tables(folder: Path = DATA) -> tuple[str, ...]:
    """Return the names of all tables."""
    return tuple(sorted(path.stem for path in folder.glob("*.tsv")))

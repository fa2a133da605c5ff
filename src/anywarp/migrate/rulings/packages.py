"""Indexes of Python packages: what takes the place of one that holds builds for CUDA."""

from __future__ import annotations

import re

from anywarp.catalogue.migration import rows
from anywarp.migrate.rulings.answer import Answer
from anywarp.migrate.target import Target

REFUSED = "Y033"


def release(target: Target) -> str:
    """Return the release of ROCm as indexes write it: 7.1 for 7.1.2."""
    return ".".join((target.rocm or "").split(".")[:2])


def index(address: str, target: Target) -> Answer | None:
    """Return what becomes of the address of a package index; None where it is none of CUDA's."""
    for row in rows("indexes"):
        found = re.fullmatch(row["pattern"], address) if row["pattern"] else None
        if found is None:
            continue
        if row["conversion"] == "rename":
            values = {"rocm": release(target), **{key: text or "" for key, text in found.groupdict().items()}}
            return Answer("replace", row["reason"], row["target"].format_map(values), source=row["source"])
        if row["conversion"] == "remove":
            return Answer("remove", row["reason"], source=row["source"])
        if row["conversion"] == "keep":
            return Answer("keep", row["reason"], source=row["source"])
        help = "build from source, or do without"
        return Answer("refuse", row["reason"], help=help, source=row["source"], code=REFUSED, instead=row["target"])
    return None

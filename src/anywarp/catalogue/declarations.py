"""Load the tables of declarations that nvml.h, nvJitLink.h and the headers of CUPTI are written from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent / "data"
COLUMNS = ("kind", "name", "type", "members")


class Declaration(NamedTuple):
    """One name of a header.

    `kind` is enum, struct, union, handle, alias, function, macro or rename; `type` what an alias stands for, a function returns or a
    renamed function is called, or `packed` for a struct without gaps; `members` are constants, fields, parameters, or the value of a macro.
    """

    kind: str
    name: str
    type: str
    members: str

    @property
    def is_versioned(self) -> bool:
        """Whether it is a struct that says first which version of it a program knows."""
        named = re.fullmatch(r"nvml\w+_v\d+_t", self.name)
        return self.kind == "struct" and named is not None and self.members.startswith("unsigned int version;")


def load(name: str) -> tuple[Declaration, ...]:
    """Read the table `name`."""
    lines = (DATA / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("# ")]
    assert tuple(rows[0]) == COLUMNS, name
    return tuple(Declaration(*row) for row in rows[1:])

"""What `anywarp record` and `anywarp verify` want of a program: a file that its processes find through ANYWARP_RECORD."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

BUDGET = 256 << 20
CALLS = 4
SAMPLE = 1 << 11
"""How many values of a larger tensor statistics look at."""


@dataclass(frozen=True)
class Kind:
    """What copies of a name hold: `copy 3`, `copy 3 after saxpy`, `*after saxpy`; no shape: one dimension."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None = None

    def is_of(self, name: str) -> bool:
        """Whether it is said of a copy."""
        return fnmatchcase(name, self.name) or fnmatchcase(name.partition(" after ")[0], self.name)


@dataclass(frozen=True)
class Plan:
    """What to capture, and where to; with a `reference`, what to run again on its values."""

    output: str
    command: tuple[str, ...] = ()
    mode: str = "tensors"
    modules: tuple[str, ...] = ()
    calls: int = CALLS
    budget: int = BUDGET
    seed: int = 0
    sample: int = SAMPLE
    reference: str = ""
    part: str = ""
    """The part of the reference that this process's values are held against; empty: the one of its own name."""
    isolated: bool = True
    precise: bool = False
    other_weights: bool = False
    kinds: tuple[Kind, ...] = ()
    """What buffers hold that the program copies to the host."""

    def chooses(self, name: str) -> bool:
        """Whether the module of this path is wanted; every one, where no pattern is given."""
        return not self.modules or any(fnmatchcase(name, pattern) for pattern in self.modules)

    def write(self, path: Path) -> None:
        """Write the plan for the program's processes; private to the user."""
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as out:
            json.dump(asdict(self), out)


def read(path: Path) -> Plan:
    """Read a plan that this same anywarp wrote."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found["command"], found["modules"] = tuple(found["command"]), tuple(found["modules"])
    found["kinds"] = tuple(
        Kind(name, dtype, None if shape is None else tuple(shape))
        for name, dtype, shape in (k.values() for k in found["kinds"])
    )
    return Plan(**found)

"""What is said of a pod: what was changed and what is left, each with its place in the object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Said:
    """A reason, the JSON pointer of the place that it is about, and what a person is to do where something is left."""

    pointer: str
    reason: str
    help: str = ""

    def line(self) -> str:
        """Return it as one line."""
        return f"{self.pointer}: {self.reason}" + (f" ({self.help})" if self.help else "")


@dataclass(frozen=True, slots=True)
class Conversion:
    """A pod before and after, without what nobody looks at; `left` waits for a person."""

    old: dict[str, Any]
    new: dict[str, Any]
    changes: list[Said]
    left: list[Said]

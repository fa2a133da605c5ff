"""One line of what `anywarp doctor` tells, wherever it is found out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["ok", "absent", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the report; `error` means that nothing can run, `warning` that something is lost, `absent` is no problem."""

    part: str
    name: str
    status: Status
    text: str
    help: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        return asdict(self)

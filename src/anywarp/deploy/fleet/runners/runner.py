"""What a place where tasks run must do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from anywarp.deploy.fleet.folder import Batch

State = Literal["waiting", "running", "ended"]


@dataclass(frozen=True)
class Seen:
    """Where a task is; of one that ended, why it may have left nothing. Ended without a reason is not the task's fault, and does not count as an attempt."""

    state: State
    why: str = ""


class Runner(Protocol):
    """A place where tasks run. Every function raises AnywarpError (Y144) where it cannot be reached."""

    settle: float
    """Seconds that a result may be under way after its task ended."""

    def submit(self, batch: Batch) -> str:
        """Hand a batch over; return the name under which it is found again."""
        ...

    def find(self, batch: Batch) -> str | None:
        """Return the name of a batch that was handed over before a crash kept it from being written down; None where it was not."""
        ...

    def look(self, batch: Batch, ticket: str) -> Mapping[int, Seen]:
        """Return where the tasks of a batch are, by their place in it; bring results that lie elsewhere into the folder."""
        ...

    def close(self) -> None:
        """End what must not outlive the process that drives."""
        ...

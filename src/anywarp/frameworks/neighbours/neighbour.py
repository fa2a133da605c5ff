"""What is said of a neighbour, and the door behind which each is a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

How = Literal["runs", "through us", "replaced by", "not yet"]
State = Literal["absent", "usable", "machine code", "broken"]


@dataclass(frozen=True, order=True)
class Ran:
    """What was found of one version: how it is served, the words for it, when and by what it was checked."""

    version: str
    how: How
    words: str
    date: str
    checked: str


@dataclass(frozen=True)
class Found:
    """What is installed of a package: `words` say, after its name, what is wrong or what it is."""

    state: State
    version: str
    words: str


@dataclass(frozen=True)
class Difference:
    """One line of a self-test: how far a result is from the same in double precision, and how far it may be."""

    name: str
    error: float
    bound: float


class Neighbour(Protocol):
    """One package beside torch."""

    @property
    def name(self) -> str:
        """Return the top module that programs import."""
        ...

    @property
    def ran(self) -> tuple[Ran, ...]:
        """Return what was found of its versions: the rows of docs/neighbours.md."""
        ...

    def detect(self) -> Found:
        """Say what is installed, without importing it."""
        ...

    def explain(self, found: Found) -> str:
        """Say in a line what becomes of it here."""
        ...

    def activate(self) -> None:
        """Put in force what it needs; nothing for those that run as they are."""
        ...

    def self_test(self) -> Iterator[Difference]:
        """Compute with it on `cuda` and yield how far that is from double precision on the host; torch must be imported."""
        ...


class Answering(Neighbour, Protocol):
    """One whose imports are answered by ours."""

    @property
    def distribution(self) -> str:
        """Return the name by which it is installed."""
        ...

    @property
    def version(self) -> str:
        """Return what `__version__` says: as of which release its interface is."""
        ...

    @property
    def answers(self) -> Mapping[str, str]:
        """Return its modules and, for each, ours in `answers/`."""
        ...

    @property
    def whole(self) -> bool:
        """Return whether importing the package imports its modules."""
        ...

    @property
    def reason(self) -> str:
        """Return why imports are answered."""
        ...

    def folders(self, module: str) -> list[Path]:
        """Return where Python modules of the real package lie that ours do not take the place of."""
        ...

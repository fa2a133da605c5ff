"""A package that we answer: the same names and arguments, computed by torch on its `cuda`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anywarp.frameworks.neighbours import finder, installed
from anywarp.frameworks.neighbours.neighbour import Difference, Found, Ran


@dataclass(frozen=True)
class Answered:
    """A package answered by ours: the modules (theirs to ours in `answers/`), as of which version, and what makes the real one usable."""

    name: str
    distribution: str
    version: str
    """As of which release the interface is; its local part says whose it is."""
    oldest: tuple[int, ...]
    """Older releases had another interface."""
    kernels: Sequence[str]
    """Patterns, from where packages lie, of the real one's libraries for cards; it is usable where one carries PTX."""
    answers: Mapping[str, str]
    ran: tuple[Ran, ...]
    test: Callable[[], Iterator[Difference]] = field(repr=False)
    whole: bool = False
    """Whether importing the package imports its modules, so that programs find them as attributes."""

    @property
    def reason(self) -> str:
        """Return why the import is answered."""
        return f"the kernels of {self.name} are machine code for NVIDIA's cards; torch's own operators compute the same"

    def detect(self) -> Found:
        """Say what is installed, without importing it."""
        return installed.look(self.name, (self.distribution, self.name), self.oldest, self.kernels)

    def explain(self, found: Found) -> str:
        """Say what becomes of the import."""
        if found.state == "usable":
            return "it is left as it is"
        if found.state == "broken":
            return "it is left as it is, until that is mended"
        return f"imports are answered with the interface of {self.version.partition('+')[0]}, computed by torch's operators"

    def folders(self, module: str) -> list[Path]:
        """Return where Python modules of the real package lie that ours do not take the place of."""
        places = [Path(each).joinpath(*module.split(".")) for each in sys.path]
        return [each for each in places if (each / "__init__.py").is_file()]

    def activate(self) -> None:
        """Answer imports from now on, whoever asks."""
        finder.install().take(self, self.detect())

    def self_test(self) -> Iterator[Difference]:
        """Compute with the answers on `cuda` and yield how far they are from double precision on the host."""
        return self.test()

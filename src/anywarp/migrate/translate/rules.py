"""What the engine asks of a rule of the translator: a unit of source goes in, edits, problems and needs (`edits.py`) come out.

Rules are written by subject and know nothing of each other, of files or of the command line; the engine
(`engine.py`) runs those whose words occur in a unit, and resolves what they yield into one list of edits.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Protocol

from anywarp.migrate.translate.edits import Outcome
from anywarp.migrate.translate.unit import Unit


class Rule(Protocol):
    """A rule for CUDA C++ sources and headers.

    `words`: identifiers of which at least one must occur in the code (not in comments or literals) of a unit for
    the rule to be asked at all; empty means always. `apply` must be quick to say that there is nothing: search
    `unit.code` with a regular expression first, and ask for `unit.tree` only where that is not enough.
    It must find nothing left to edit in its own output.
    """

    name: str

    @property
    def words(self) -> frozenset[bytes]: ...

    def apply(self, unit: Unit) -> Iterator[Outcome]: ...


class Rewriter(Protocol):
    """A rewriter for one kind of other files (CMakeLists.txt, Makefile, setup.py, BUILD.bazel ...).

    `wants` sees the path alone; `apply` gets a unit whose `data` is the file (its `code` and `tree` mean nothing).
    """

    name: str

    def wants(self, path: PurePath) -> bool: ...

    def apply(self, unit: Unit) -> Iterator[Outcome]: ...

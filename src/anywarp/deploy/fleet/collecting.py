"""Bringing results from fleets' folders into the store of results: each task's at once, each result once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anywarp.check.store import Store
from anywarp.deploy.fleet.folder import Folder
from anywarp.diagnostics import AnywarpError, Diagnostic


@dataclass(frozen=True)
class Collected:
    """How many results are new in the store, how many were there, and which files are not what was written."""

    new: int
    known: int
    problems: tuple[Diagnostic, ...]


def collect(folder: Folder, store: Store, keys: Iterable[str] | None = None) -> Collected:
    """Bring the results of some tasks, or of all in a folder, into the store; one that was removed from the store comes back."""
    new = all_of_them = 0
    problems: list[Diagnostic] = []
    done = folder.done()
    for key in sorted(done if keys is None else done.intersection(keys)):
        try:
            found = folder.result(key).runs
        except AnywarpError as error:
            problems.append(error.diagnostic)
            continue
        new += store.merge(found)
        all_of_them += len(found)
    return Collected(new, all_of_them - new, tuple(problems))

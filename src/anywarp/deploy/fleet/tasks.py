"""A task: one command line of anywarp, with a key of all that it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from anywarp.deploy.fleet.problems import DAMAGED, problem

ANYWARP = "{anywarp}"
"""Stands in a task's words for those that start anywarp where it runs."""


VERBS = ("bench", "verify", "assess")


@dataclass(frozen=True)
class Task:
    """One run of a verb: `words` come behind those that start anywarp; `seconds` is the most that it may take; `gpus` of the kind of `device`."""

    key: str
    entry: str
    verb: str
    machine: str
    words: tuple[str, ...]
    folder: str
    seconds: float
    device: str = ""
    gpus: int = 0
    axes: Mapping[str, str] = field(default_factory=dict[str, str])

    def title(self) -> str:
        """Return its name for people."""
        axes = "".join(f", {name} {value}" for name, value in self.axes.items())
        return f"{self.verb} {self.entry} on {self.machine}{axes}"

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        return asdict(self)


def from_json(value: Any) -> Task:
    """Return the task that `as_json` wrote down; AnywarpError (Y145) where it is none."""
    try:
        known = {each.name: value[each.name] for each in fields(Task)}
        known["words"] = tuple(known["words"])
        texts: list[Any] = [known[name] for name in ("key", "entry", "verb", "machine", "folder", "device")]
        if not all(isinstance(text, str) for text in (*texts, *known["words"], *known["axes"].values())):
            raise ValueError("a part of it is no text")
        known["seconds"], known["gpus"] = float(known["seconds"]), int(known["gpus"])
        task = Task(**known)
        if task.verb not in VERBS or not task.key.isalnum():
            raise ValueError("its verb or its key is none")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise problem(DAMAGED, f"what was to be a task is none: {type(error).__name__}: {error}"[:300]) from None
    return task

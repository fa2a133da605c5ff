"""The register of every change made in this process: what `anywarp explain --patches` lists.

One door, so that a change without a reason cannot be made, and so that changes wait for the module they change.
"""

# pyright: basic
from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from anywarp import settings
from anywarp.frameworks.torch import scope


@dataclass(frozen=True)
class Patch:
    """One change: the dotted name, whether it is an addition (else something was there before), and why it is made."""

    target: str
    added: bool
    reason: str


applied: list[Patch] = []
"""Every change made so far, in order."""

waiting: dict[str, list[Callable[[Any], None]]] = {}
"""What runs right after a module that is not imported yet was executed; the finder of `hook.py` looks here."""

_MISSING = object()


def set_attribute(owner: Any, name: str, value: Any, reason: str) -> Any:
    """Set `owner.name` to `value`, write it down, and return what was there before (None when nothing was)."""
    before = getattr(owner, name, _MISSING)
    setattr(owner, name, value)
    where = getattr(owner, "__module__", None) if isinstance(owner, type) else None
    label = getattr(owner, "__qualname__", None) or getattr(owner, "__name__", repr(owner))
    write_down(".".join(filter(None, (where, label, name))), before is _MISSING, reason)
    return None if before is _MISSING else before


def when_imported(module: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Run the decorated function with the module as soon as it has been executed; now, when it has been already.

    Not at all when the user has blocked the module (ANYWARP_TORCH_BLOCK).
    """

    def register(change: Callable[[Any], None]) -> Callable[[Any], None]:
        if not scope.changes_module(module):
            return change
        if _is_executed(module):
            change(sys.modules[module])
        else:
            waiting.setdefault(module, []).append(change)
        return change

    return register


def executed(name: str, module: Any) -> None:
    """Make the changes that wait for a module that has just been executed.

    After `torch` also those for modules that were being executed when their change came, too late for the finder.
    """
    for change in waiting.pop(name, []):
        change(module)
    if name == "torch":
        for late in [each for each in waiting if _is_executed(each)]:
            executed(late, sys.modules[late])


def write_down(target: str, added: bool, reason: str) -> None:
    """Remember a change, and append it to this process's file when somebody collects them."""
    patch = Patch(target, added, reason)
    applied.append(patch)
    folder = settings.PATCH_REPORT.get()
    if folder is not None:
        with (folder / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(patch)) + "\n")


def _is_executed(name: str) -> bool:
    """Tell whether a module has been executed to its end: what the import system itself looks at."""
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)

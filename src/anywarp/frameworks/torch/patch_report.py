"""Reading what the processes of a run wrote about the changes made in them (`patches.write_down`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anywarp.frameworks.torch.patches import Patch


@dataclass(frozen=True)
class Changes:
    """What was changed, alike, in some processes of a run, by process number."""

    processes: tuple[int, ...]
    patches: tuple[Patch, ...]

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        patches = [{"target": p.target, "added": p.added, "reason": p.reason} for p in self.patches]
        return {"processes": list(self.processes), "changes": patches}


REASONS = {
    "LD_LIBRARY_PATH": "our libraries lie where programs look for NVIDIA's",
    "LD_AUDIT": "where the loader finds our libraries, which some clients load from their own wheel by path",
    "LD_PRELOAD": "a library of ours that some clients load from their own wheel by path",
    "PYTHONPATH": "a sitecustomize that waits for `import torch` and `import cuda.bindings`",
}
"""Why `anywarp run` sets a variable of others."""


def environment(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Patch, ...]:
    """Return the variables that a program finds changed."""
    own = "a setting of anywarp, passed on to child processes"
    names = [name for name, value in after.items() if before.get(name) != value]
    return tuple(Patch(f"environment: {name}", name not in before, REASONS.get(name, own)) for name in names)


def read(folder: Path) -> list[Changes]:
    """Return the changes of all processes, those alike together, the largest list first."""
    alike: dict[tuple[Patch, ...], list[int]] = {}
    for path in sorted(folder.glob("*.jsonl"), key=lambda each: int(each.stem) if each.stem.isdecimal() else 0):
        if path.stem.isdecimal():
            alike.setdefault(tuple(_patches(path)), []).append(int(path.stem))
    found = [Changes(tuple(processes), patches) for patches, processes in alike.items()]
    return sorted(found, key=lambda each: -len(each.patches))


def _patches(path: Path) -> Iterator[Patch]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found = json.loads(line)
            yield Patch(str(found["target"]), bool(found["added"]), str(found["reason"]))
        except (ValueError, KeyError, TypeError):  # a process that was killed in the middle of a line
            continue

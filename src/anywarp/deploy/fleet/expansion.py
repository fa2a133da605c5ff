"""The tasks that a plan makes: a point of its axes on a machine each."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from anywarp.check.bench.cell import HOST, command_digest
from anywarp.check.store.run import key_of
from anywarp.deploy.fleet.plan import MOST_TASKS, Bench, Entry, ReadPlan, Verify
from anywarp.deploy.fleet.problems import PLAN, problem
from anywarp.deploy.fleet.tasks import ANYWARP, Task


def tasks_of(read: ReadPlan) -> list[Task]:
    """Return the tasks of a plan, in its order; AnywarpError (Y140) where they are too many."""
    made: list[Task] = []
    digests: dict[tuple[str, ...], str] = {}
    for entry in read.plan.entries:
        names = [
            machine.name for machine in read.plan.machines if entry.machines is None or machine.name in entry.machines
        ]
        for axes in _points(entry.axes):
            for machine in names:
                if len(made) >= MOST_TASKS:
                    raise problem(PLAN, f"the plan makes more than {MOST_TASKS:,} tasks", "divide it into several")
                made.append(_task(entry, axes, machine, str(read.base), digests))
    return made


def _points(axes: Mapping[Any, Sequence[str]]) -> Iterator[dict[str, str]]:
    for values in itertools.product(*(dict.fromkeys(values) for values in axes.values())):
        yield dict(zip(map(str, axes), values, strict=True))


def _task(entry: Entry, axes: Mapping[str, str], machine: str, base: str, digests: dict[tuple[str, ...], str]) -> Task:
    words, files = _words(entry, axes)
    if files not in digests:
        digests[files] = _content(base, files)
    key = key_of(fleet=1, words=words, content=digests[files], machine=machine)
    device = axes.get("device", "") if entry.verb != "assess" else ""
    gpus = entry.gpus if device in ("hip", "cuda") else 0
    return Task(key, entry.name, entry.verb, machine, words, base, entry.timeout, device, gpus, axes)


def _words(entry: Entry, axes: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a task, and the files that it depends on."""
    if isinstance(entry, Bench):
        return _bench(entry, axes)
    if isinstance(entry, Verify):
        null = [f"--null={entry.null}"] if entry.null is not None else []
        device = axes.get("device", HOST)
        before = [] if device == HOST else [ANYWARP, "run", "--device", device, "--"]
        words = ["verify", *null, *["--precise"] * entry.precise, entry.recording, "--", *before, *entry.command]
        return tuple(words), (entry.recording, entry.null or "", *entry.command)
    options = [f"--{name}={value}" for name, value in axes.items()]
    options += [f"--exclude={pattern}" for pattern in entry.exclude]
    return ("assess", "--keep", *options, "--", entry.tree), (entry.tree,)


def _bench(entry: Bench, axes: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words = ["bench", f"--seconds={entry.seconds:g}"]
    words += [
        f"--{name}={value}" if name in ("device", "dtype") else f"--axis={name}={value}" for name, value in axes.items()
    ]
    words += [f"--input={text}" for text in entry.input]
    words += [f"--weights={entry.weights}"] if entry.weights is not None else []
    words += [f"--{n}={getattr(entry, n)}" for n in ("threads", "ranks", "processes") if n in entry.model_fields_set]
    words += [f"--{name}" for name in ("compile", "graphs") if getattr(entry, name)]
    if entry.model is not None:
        place = entry.model if entry.model.endswith(".pt2") else entry.model.rpartition(":")[0]
        return (*words, "--", entry.model), (place, entry.weights or "")
    return (*words, "--", *(entry.command or ())), entry.command or ()


def _content(base: str, files: Sequence[str]) -> str:
    """Return a digest of the files that a task names; of a folder, of the names, sizes and times of what lies in it."""
    digest = hashlib.sha256()
    for number, name in enumerate(files):
        place = Path(base, name) if name else None
        if place is not None and place.is_dir():
            digest.update(f"\0{number}\0{name}\0{tree_digest(place)}".encode(errors="surrogateescape"))
        elif place is not None and place.is_file():
            digest.update(command_digest((str(place),), search=False).encode())
        else:
            digest.update(f"\0{number}\0{name}".encode(errors="surrogateescape"))
    return digest.hexdigest()[:32]


def tree_digest(root: Path) -> str:
    """Return a digest of the paths, sizes and times of the files below a folder, links not followed."""
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(root, onerror=None):
        folders[:] = sorted(name for name in folders if name not in (".git", "__pycache__"))
        for name in sorted(names):
            place = os.path.join(folder, name)
            try:
                status = os.lstat(place)
            except OSError:
                continue
            line = f"{os.path.relpath(place, root)}\0{status.st_size}\0{status.st_mtime_ns}\n"
            digest.update(os.fsencode(line))
    return digest.hexdigest()[:32]

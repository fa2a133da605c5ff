"""The judges: what becomes of a fact on a target, from the catalogue and from what the runtime serves.

A judge is a module of this room, named once in `JUDGES`, with

    SUBJECTS: tuple[str, ...]                                 # the subjects it knows: "cuda.api", or "cuda" for all that begin "cuda."
    def judge(use: Use, target: Target) -> Verdict | None     # None: a fact that asks nothing of anybody

The longest subject that fits decides who is asked. Facts whose subject is in `FACTS` are never findings: they connect others.
A judge reads tables and nothing else, so the same facts can be judged for one target after the other.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.target import Target

JUDGES: tuple[str, ...] = (
    "cuda_source",
    "python_source",
    "binaries",
    "packages",
    "images",
    "environment",
    "commands",
    "kubernetes",
    "metrics",
    "slurm",
    "build",
)
"""The modules of this room."""

FACTS: tuple[str, ...] = ("deploy", "docker", "oci", "dist")
"""Subjects (and all below them) that say how things hang together; what has no judge and is not here is told as not judged."""

Judge = Callable[[Use, Target], Verdict | None]


def judges(names: Sequence[str] = JUDGES) -> dict[str, Judge]:
    """Import the judges named (of this room, or from anywhere by a dotted name); return them by subject."""
    found: dict[str, Judge] = {}
    for name in names:
        module = importlib.import_module(name if "." in name else f"{__name__}.{name}")
        for subject in module.SUBJECTS:
            if subject in found:
                raise ValueError(f"two judges for {subject}")
            found[subject] = module.judge
    return found


def judge_of(subject: str, known: dict[str, Judge]) -> Judge | None:
    """Return who judges a subject: the judge of its longest prefix, None where nobody does."""
    while subject:
        if subject in known:
            return known[subject]
        subject = subject.rpartition(".")[0]
    return None


def is_fact(subject: str) -> bool:
    """Tell whether a subject only connects other findings."""
    return subject.partition(".")[0] in FACTS

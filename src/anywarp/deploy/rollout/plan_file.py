"""Reading a plan's YAML, with the line and column of each mistake."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from anywarp.deploy import checked_yaml
from anywarp.deploy.checked_yaml import FileErrors as PlanErrors
from anywarp.deploy.rollout.plan import Plan

__all__ = ["FORM", "PlanErrors", "ReadPlan", "parse", "read"]

FORM = checked_yaml.Form(
    Plan,
    "Y070",
    "plan",
    "`anywarp rollout plan --new FILE` writes a first one",
    "docs/rollout.md describes every key; `anywarp rollout plan --new FILE` writes a commented plan",
)


@dataclass(frozen=True)
class ReadPlan:
    """A plan with the text that it was read from; the digest tells whether it was changed since."""

    plan: Plan
    text: str
    name: str

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read(path: Path) -> ReadPlan:
    """Read and check a plan; PlanErrors with every mistake in it, AnywarpError where the file cannot be read."""
    return parse(checked_yaml.text_of(path, FORM), str(path))


def parse(text: str, name: str) -> ReadPlan:
    """Read and check the text of a plan; errors as `read` has them."""
    return ReadPlan(checked_yaml.parse(text, name, FORM), text, name)

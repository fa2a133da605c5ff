"""The kinds of files that are converted, in the order in which they are asked; a file goes to the first that wants it.

A kind is a module of this folder, imported when a file needs it.
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import PurePath
from typing import cast

from anywarp.deploy.convert.model import Kind

KINDS: tuple[str, ...] = (
    "prometheus",
    "scrape",
    "grafana",
    "lock_files",
    "project_files",
    "requirements",
    "dockerfile",
    "compose",
    "pipelines",
    "conda",
    "shell_scripts",
    "slurm_gres",
    "providers",
    "kubernetes",
)
"""Modules by name; the special before the general: a compose file is YAML, too."""


@cache
def kind(name: str) -> Kind:
    """Return the module of a kind."""
    return cast(Kind, importlib.import_module(f"anywarp.deploy.convert.{name}"))


def names() -> tuple[str, ...]:
    """Return the names of all kinds, as `--only` takes them."""
    return tuple(kind(module).NAME for module in KINDS)


def kind_of(path: PurePath, data: bytes) -> Kind | None:
    """Return the kind that wants a file; None where none does."""
    return next((kind(module) for module in KINDS if kind(module).wants(path, data)), None)

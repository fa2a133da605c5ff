"""What programs trip over that take a build of torch for ROCm for one for CUDA: a file each, with the thread that tells of it.

Each has a door of its own (runtime/site/sitecustomize.py), so that a program that does not import what is mended imports nothing of ours. In a program's own environment only
the standard library is at hand, and of anywarp what needs no more.
"""

from __future__ import annotations

import importlib.util
from importlib import metadata
from pathlib import Path

from anywarp.diagnostics import AnywarpError
from anywarp.frameworks.torch import found, scope


def concerns(module: str) -> bool:
    """Tell whether `module` may be changed here: torch is a build for ROCm, and the user has not blocked it (ANYWARP_TORCH_BLOCK)."""
    return scope.changes_module(module) and (torch := installed()) is not None and torch.vendor == "ROCm"


def installed() -> found.Torch | None:
    """Return the torch that an import would take, None where there is none or it tells no version."""
    folder = folder_of("torch")
    try:
        return found.read(folder) if folder is not None and found.is_torch(folder) else None
    except (AnywarpError, OSError):
        return None


def folder_of(package: str) -> Path | None:
    """Return where a package lies, without importing it."""
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def version_of(*distributions: str) -> str:
    """Return the version on record of the first of these that is installed, "" where none is."""
    for name in distributions:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return ""

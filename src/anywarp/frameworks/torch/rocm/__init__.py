"""What programs trip over that take a build of torch for ROCm for one for CUDA: a file each, with the thread that tells of it.

Each has a door of its own (runtime/site/sitecustomize.py), so that a program that does not import what is mended imports nothing of ours.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from anywarp.diagnostics import AnywarpError
from anywarp.frameworks.torch import found, scope


def concerns(module: str) -> bool:
    """Tell whether `module` may be changed here: torch is a build for ROCm, and the user has not blocked it (ANYWARP_TORCH_BLOCK)."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.origin or not scope.changes_module(module):
        return False
    try:
        return found.read(Path(spec.origin).parent).vendor == "ROCm"
    except (AnywarpError, OSError):
        return False

"""The names of `torch._C` that a CUDA build has and a CPU build lacks.

One module per subject, each with `names(library) -> dict[str, object]`; all are put in place before `torch.cuda` is executed, which binds them.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import importlib
import sys
from typing import Any

from anywarp.frameworks.torch import load, patches

SUBJECTS = ("device", "streams", "memory", "random", "graphs", "libraries", "distributed")
"""The modules of this package, in the order in which their names are set."""

_named = False


def fill(module: Any, library: ctypes.CDLL) -> None:
    """Set every name of every subject on `module` (torch._C)."""
    for subject in SUBJECTS:
        found = importlib.import_module(f"anywarp.frameworks.torch.names.{subject}").names(library)
        for name, value in found.items():
            patches.set_attribute(module, name, value, f"CUDA builds have it ({subject})")


def before_torch_cuda() -> None:
    """Give `torch._C` the names that `torch.cuda` is about to bind; once, since a reload would make new classes."""
    global _named
    if load.library is not None and not _named:
        _named = True
        fill(sys.modules["torch._C"], load.library)

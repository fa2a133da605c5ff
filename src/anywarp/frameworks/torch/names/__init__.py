"""The names of `torch._C` that a CUDA build has and a CPU build lacks.

One module per subject, each with `names(library) -> dict[str, object]`; all are put in place before `torch.cuda` is executed.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import importlib
from typing import Any

from anywarp.frameworks.torch import patches

SUBJECTS = ("device", "streams", "memory", "random", "graphs", "libraries", "distributed")
"""The modules of this package, in the order in which their names are set."""


def fill(module: Any, library: ctypes.CDLL) -> None:
    """Set every name of every subject on `module` (torch._C)."""
    for subject in SUBJECTS:
        found = importlib.import_module(f"anywarp.frameworks.torch.names.{subject}").names(library)
        for name, value in found.items():
            patches.set_attribute(module, name, value, f"CUDA builds have it ({subject})")

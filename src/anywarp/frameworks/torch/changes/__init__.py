"""Changes to modules of torch and of packages on top of it, where a CUDA build's own code cannot be reached otherwise.

One module per subject; importing it registers its changes by `patches.when_imported`, and none is made before its target is imported.
"""

# pyright: basic
from __future__ import annotations

import importlib

SUBJECTS: tuple[str, ...] = (
    "compile",
    "cpp_extension",
    "cudnn",
    "device_count",
    "gpu_trace",
    "storage_size",
    "storages_on_device",
    "shared_storages",
    "legacy_tensors",
    "operator_libraries",
    "profiler",
)
"""The modules of this package, imported once the stand-in is loaded, before torch is executed; they must not import torch."""

OVER_CUDA = ("compile", "companions", "cpp_extension")
"""Those for a CUDA build of torch, which has all that the others stand for."""


def register(over_cuda: bool) -> None:
    """Import every subject that a build of torch needs."""
    for subject in OVER_CUDA if over_cuda else SUBJECTS:
        importlib.import_module(f"{__name__}.{subject}")

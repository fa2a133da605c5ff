"""JAX and its plugin for CUDA: it looks for NVIDIA's device files before it asks the driver, which is ours.

XLA tries dozens of kernels for each product of matrices and keeps the fastest, which takes minutes where each is compiled for vectors of the
processor, and the fastest is cuBLAS, which is ours: it is told to take that at once. Everything else of JAX runs as it is: XLA's PTX is compiled
by us, and NVIDIA's libraries are answered by ours.
"""

# pyright: basic
from __future__ import annotations

import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from anywarp.frameworks.torch import patches

LOOKS = "jax._src.hardware_utils"
"""The module that looks for /dev/nvidia0."""


FLAGS = {"--xla_gpu_autotune_level": "0", "--xla_gpu_enable_triton_gemm": "false"}
"""What XLA_FLAGS gets where the user has not said otherwise: products by cuBLAS, without trying others."""


def add_flags(given: str) -> str:
    """Return XLA_FLAGS with ours before those that were given, which count."""
    named = {word.partition("=")[0] for word in given.split()}
    return " ".join([*(f"{name}={value}" for name, value in FLAGS.items() if name not in named), given]).strip()


class _Seeing(Loader):
    """A loader that lets a module see a device once the real one has executed it."""

    def __init__(self, real: Any):
        self.real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.real  # what inspects the module sees the loader it would have had
        if module.__spec__ is not None:
            module.__spec__.loader = self.real
        self.real.exec_module(module)
        if hasattr(module, "has_visible_nvidia_gpu"):
            module.has_visible_nvidia_gpu = lambda: True  # type: ignore[attr-defined]
            os.environ["XLA_FLAGS"] = add_flags(os.environ.get("XLA_FLAGS", ""))
            patches.write_down("XLA_FLAGS", False, "products of matrices by cuBLAS at once, without trying kernels that are compiled first")
            patches.write_down(f"{LOOKS}.has_visible_nvidia_gpu", False, "our driver has a device, but no device file")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class Finder(MetaPathFinder):
    """Wraps the loader of the module that looks for device files."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != LOOKS:
            return None
        for finder in list(sys.meta_path):
            if finder is not self and (spec := finder.find_spec(name, path, target)) is not None:
                if spec.loader is not None:
                    spec.loader = _Seeing(spec.loader)
                return spec
        return None


def install() -> Finder:
    """Put the finder in force, once, and return it."""
    for finder in sys.meta_path:
        if isinstance(finder, Finder):
            return finder
    finder = Finder()
    others = [each for each in sys.meta_path if getattr(each, "stands_for", None) != __name__]  # site/sitecustomize.py
    sys.meta_path[:] = [finder, *others]
    return finder

"""AITER stops with a RuntimeError when it is imported on a GPU that it does not know; who can do without it catches ImportError.

https://github.com/vllm-project/vllm/pull/30952 (gfx1201), https://github.com/ROCm/aiter/pull/1498 (gfx11). Which kernels vLLM then chooses is vLLM's decision, also where AITER would
run (https://github.com/vllm-project/vllm/issues/51136): it is not changed.
"""

# pyright: basic
from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from anywarp.frameworks import watching
from anywarp.frameworks.torch import patches, rocm

MODULE = "aiter"


class Guarded(watching.Around):
    """Turns an error about the GPU into the ImportError that callers expect."""

    def exec_module(self, module: ModuleType) -> None:
        try:
            super().exec_module(module)
        except RuntimeError as error:
            if "arch" not in str(error).lower() or not rocm.concerns(MODULE):
                raise
            for name in [each for each in sys.modules if each.startswith(f"{MODULE}.")]:
                del sys.modules[name]
            patches.write_down(f"import {MODULE}", False, f"it does not know this GPU, and is absent: {error}")
            raise ImportError(f"aiter does not know this GPU: {error}", name=MODULE) from error


class Watcher(watching.Watcher):
    """Wraps the loader of the package in such a guard."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != MODULE:
            return None
        spec = watching.found_by_others(self, name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Guarded(spec.loader, None, None)
        return spec


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, Watcher())

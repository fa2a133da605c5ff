"""What is looked at and chosen when torch itself is imported for an AMD GPU: its build, its architectures, MIOpen's search, floats of 8 bits.

One watcher for all, since two of one module would wrap each other.
"""

from __future__ import annotations

from types import ModuleType

from anywarp.frameworks import watching
from anywarp.frameworks.torch import rocm
from anywarp.frameworks.torch.rocm import builds, float8, miopen

MODULE = "torch"


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(before={MODULE: _before}, after={MODULE: _after}))


_for_rocm = False
"""Whether the torch that is being imported is a build for ROCm; `_before` has seen it."""


def _before() -> None:
    global _for_rocm
    torch = rocm.installed()
    _for_rocm = torch is not None and torch.vendor == "ROCm"
    if torch is not None:
        builds.examine(torch)
    if _for_rocm:
        miopen.choose()


def _after(module: ModuleType) -> None:
    if _for_rocm:
        miopen.keep_from_searching(module)
        float8.mend(module)

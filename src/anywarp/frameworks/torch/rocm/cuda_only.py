"""Packages whose wheels are for NVIDIA's cards alone: under `anywarp run` libcuda is there, so they load, and fail at their first kernel.

https://github.com/sgl-project/sglang/issues/4778, https://github.com/sgl-project/sglang/issues/9309. Nothing is answered: SGLang and vLLM do without them on
ROCm, and an ImportError of ours would hide theirs.
"""

from __future__ import annotations

import mmap
from functools import partial
from pathlib import Path

from anywarp.diagnostics import Diagnostic
from anywarp.frameworks import watching
from anywarp.frameworks.torch import messages, rocm

PACKAGES = {
    "sgl_kernel": (("sglang-kernel", "sgl-kernel"), "build it for ROCm from SGLang's sources, or use SGLang's image for ROCm"),
    "flashinfer": (("flashinfer-python",), "AMD's port of it (AMD-Ecosystem/flashinfer), built from source, or its image"),
}  # fmt: skip
"""For each: the names by which it is installed, and what to do."""

RUNTIME = b"libamdhip64.so"


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(before={name: partial(_say, name) for name in PACKAGES}))


def _say(name: str) -> None:
    """Say once that the package has no code for AMD GPUs (F032); nothing for a build that has."""
    distributions, help = PACKAGES[name]
    if not rocm.concerns(name):
        return
    version = rocm.version_of(*distributions)
    if "amd" not in version and not any(map(_is_for_rocm, _libraries(name))):
        text = f"{name} {version or 'of an unknown version'} is built for NVIDIA's cards: its kernels do not run on AMD GPUs"
        messages.say_once(Diagnostic("F032", text, severity="warning", help=help), name)


def _libraries(name: str) -> list[Path]:
    folder = rocm.folder_of(name)
    return [] if folder is None else list(folder.rglob("*.so"))


def _is_for_rocm(library: Path) -> bool:
    """Tell whether a library names HIP's runtime, as one that is linked to it does."""
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(RUNTIME) >= 0
    except (OSError, ValueError):
        return False

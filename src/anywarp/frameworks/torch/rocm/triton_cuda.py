"""Kernels that name triton.language.extra.cuda.libdevice: its functions are NVIDIA's, by names that no library of AMD's has.

https://github.com/vllm-project/vllm/pull/47209, https://github.com/sgl-project/sglang/pull/26437. Those that Triton has for AMD by the same name take their place; the others stay, and fail by their
name when a kernel that calls them is compiled.
"""

# pyright: basic
from __future__ import annotations

import importlib
from typing import Any

from anywarp.frameworks import watching
from anywarp.frameworks.torch import patches, rocm

MODULE = "triton.language.extra.cuda"
HIP = "triton.language.extra.hip.libdevice"


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(after={MODULE: _mend}))


def _mend(module: Any) -> None:
    theirs = getattr(module, "libdevice", None)
    if theirs is None or not rocm.concerns("triton"):
        return
    try:
        ours = importlib.import_module(HIP)
    except ImportError:
        return
    own = [name for name, value in vars(ours).items() if getattr(value, "__module__", None) == HIP]
    for name in own:
        if hasattr(theirs, name):
            setattr(theirs, name, getattr(ours, name))
    patches.write_down(f"{MODULE}.libdevice", False, f"{len(own)} functions are those that Triton has for AMD GPUs")

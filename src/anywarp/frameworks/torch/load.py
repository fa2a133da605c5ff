"""Loading the stand-in before `torch._C`: torch caches its CUDA hooks at first use."""

# pyright: basic
from __future__ import annotations

import ctypes
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.frameworks.torch import extensions, found, patches

DRIVER = "libcuda.so.1"

library: ctypes.CDLL | None = None
"""The stand-in of this process, once loaded."""


def load_library(torch: found.Torch, binary: Path) -> ctypes.CDLL:
    """Load our driver, torch's libraries and then `binary`, as `import torch` itself would have begun.

    The driver is loaded by its path, so that it needs no library path and is the one that others find by name.
    AnywarpError (F007) with the loader's words when one of them does not load.
    """
    global library
    driver = settings.LIBRARY_DIR.get() / DRIVER
    parts = [torch.folder / "lib" / name for name in ("libtorch_global_deps.so", "libc10.so", "libtorch_cpu.so")]
    try:
        for path in (driver, *(each for each in parts if each.exists())):
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        loaded = ctypes.CDLL(str(binary), mode=ctypes.RTLD_GLOBAL)
        loaded.awt_load.restype = ctypes.c_char_p
        words = loaded.awt_load()
        if words is not None:
            raise OSError(words.decode("utf-8", "replace"))
        extensions.load(torch)
    except OSError as error:
        text = f"torch {torch.version} in {torch.folder} runs without `cuda`: {error}"
        raise AnywarpError(Diagnostic("F007", text, help="remove the binary named, it is made again")) from error
    library = loaded
    patches.write_down(str(binary), True, "the CUDA backend that a CPU build of torch lacks")
    return library

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
"""The stand-in of this process, once loaded: the whole CUDA backend of a CPU build."""

over_cuda: ctypes.CDLL | None = None
"""The same over a CUDA build: operators in the place of its kernels."""

LIBRARIES = ("libtorch_global_deps.so", "libc10.so", "libtorch_cpu.so")
"""What `import torch` loads first of a CPU build."""

CUDA_LIBRARIES = ("libc10_cuda.so", "libtorch_cuda.so")
"""The same of a CUDA build: torch's own code of the host, which calls our runtime and libraries."""


def load_library(torch: found.Torch, binary: Path) -> ctypes.CDLL:
    """Load our driver, torch's libraries and then `binary`, as `import torch` itself would have begun.

    The driver is loaded by its path, so that it needs no library path and is the one that others find by name.
    AnywarpError (F007) with the loader's words when one of them does not load.
    """
    global library, over_cuda
    driver = settings.LIBRARY_DIR.get() / DRIVER
    parts = [torch.folder / "lib" / name for name in (*LIBRARIES, *(CUDA_LIBRARIES if torch.cuda else ()))]
    try:
        for path in (driver, *(each for each in parts if each.exists())):
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        loaded = ctypes.CDLL(str(binary), mode=ctypes.RTLD_GLOBAL)
        loaded.awt_load.restype = ctypes.c_char_p
        words = loaded.awt_load()
        if words is not None:
            raise OSError(words.decode("utf-8", "replace"))
        if not torch.cuda:
            extensions.load(torch)
    except OSError as error:
        without = "operators on `cuda`" if torch.cuda else "`cuda`"
        text = f"torch {torch.version} in {torch.folder} runs without {without}: {error}"
        raise AnywarpError(Diagnostic("F007", text, help="remove the binary named, it is made again")) from error
    if torch.cuda:
        over_cuda = loaded
        patches.write_down(str(binary), True, "operators in the place of the kernels for NVIDIA's cards")
    else:
        library = loaded
        patches.write_down(str(binary), True, "the CUDA backend that a CPU build of torch lacks")
    return loaded

"""Loading the library that maps `cuda` before `torch._C`, and what follows in Python; it is compiled for the torch that is there at its first use."""

# pyright: basic
from __future__ import annotations

import ctypes
import importlib
import sys
from typing import Any

from anywarp import settings
from anywarp.devices import device as devices
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.frameworks.torch import binary, build, found, load, messages, patches
from anywarp.frameworks.torch.accelerators import names
from anywarp.frameworks.torch.accelerators.module import Accelerator

mapped: Accelerator | None = None
"""The accelerator that `cuda` is in this process, once the library is loaded."""

FIRST = ("libtorch_global_deps.so", "libc10.so")
"""What `import torch` loads before libtorch_cpu."""

CHANGES = (
    "accelerators.collectives",
    "accelerators.compiled",
    "changes.cudnn",
    "changes.legacy_tensors",
    "changes.storage_size",
    "changes.storages_on_device",
)


def wanted() -> str | None:
    """Return the accelerator that ANYWARP_DEVICE names: what is no device of anywarp's own."""
    name = settings.DEVICE.get()
    return None if name in ("cpu", "cuda") or name in devices.names() else name


def load_mapped(torch: found.Torch, name: str) -> None:
    """Load torch's libraries and ours, as `import torch` itself would have begun.

    AnywarpError: F003 to F007 as for the stand-in of the processor.
    """
    global mapped
    accelerator = Accelerator(name)
    ours = binary.fitting(torch, build.MAPPING)
    try:
        # It finds libtorch_cpu itself, which is loaded behind it so that one of its functions comes first (native/torch_accelerator/device.cpp).
        for path in (torch.folder / "lib" / each for each in FIRST):
            if path.exists():
                ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        loaded = ctypes.CDLL(str(ours), mode=ctypes.RTLD_GLOBAL)
        loaded.awt_load_mapped.restype = ctypes.c_char_p
        words = loaded.awt_load_mapped(accelerator.type.encode())
        if words is not None:
            raise OSError(words.decode("utf-8", "replace"))
    except OSError as error:
        text = f"torch {torch.version} in {torch.folder} runs without `cuda`: {error}"
        raise AnywarpError(Diagnostic("F007", text, help="remove the binary named, it is made again")) from error
    load.library, mapped = loaded, accelerator
    patches.write_down(str(ours), True, f"a CUDA backend whose operators, memory and streams are those of {name}")
    patches.when_imported("torch")(_check)
    for each in CHANGES:
        importlib.import_module(f"anywarp.frameworks.torch.{each}")


def before_torch_cuda() -> None:
    """Give `torch._C` the names that `torch.cuda` is about to bind."""
    torch_c = sys.modules["torch._C"]
    if mapped is not None and load.library is not None and not hasattr(torch_c, "_cuda_getDeviceCount"):
        names.fill(torch_c, load.library, mapped)


def _check(torch: Any) -> None:
    """Say once where torch has no such accelerator: `anywarp run` has asked the first Python that it knew of, and this is another."""
    if mapped is None:
        return
    module = getattr(torch, mapped.name, None)
    if module is None or not module.is_available():
        messages.say_once(absent(mapped.name, torch.__version__, torch.__file__, module is not None))


def absent(name: str, version: str, place: str, known: bool) -> Diagnostic:
    """Return F021 where torch knows the accelerator and sees none, F020 where it does not know it."""
    if known:
        text = f"torch {version} in {place} sees no {name}: `cuda` has nothing to be mapped to"
        return Diagnostic(
            "F021", text, help=f"mend what the vendor's driver needs until torch.{name}.is_available() is true"
        )
    text = f"torch {version} in {place} has no device {name!r}"
    help = "install the build or the package of torch that its vendor has for it; anywarp doctor lists anywarp's own devices"
    return Diagnostic("F020", text, help=help)

"""NVIDIA's Python interface to CUDA (`cuda.bindings`, on which cuda.core stands): its runtime API reaches our libcudart.

Two of its extension modules carry NVIDIA's CUDA runtime, linked statically and stripped, which works with NVIDIA's own driver
only. Nobody calls them but through the table that every Cython module publishes for others, `__pyx_capi__`: a dictionary of
capsules, each with a C function in it, from which the modules above take what they declare when they are imported. Between
the two the capsules are exchanged for such with our functions in them: no code is changed, and NVIDIA's runtime is not called.
Sources: Cython's user guide ("Sharing declarations between Cython modules", C-API capsules); the `.pxd` files in the wheel, by
which a function `_cudaX` has the parameters of `cudaX`.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import sys
from typing import Any

from anywarp import settings
from anywarp.diagnostics import Diagnostic
from anywarp.frameworks import watching
from anywarp.frameworks.torch import messages, patches

PER_THREAD = ("cuda.bindings._internal.runtime_ptds", "cuda.bindings._bindings.cyruntime_ptds")
CARRIERS = ("cuda.bindings._internal.runtime", "cuda.bindings._bindings.cyruntime", *PER_THREAD)
"""The modules that carry the runtime: those of 13, those of 12; the streams of the latter two are per thread."""

REASON = "its functions are those of our libcudart: the CUDA runtime in this file works with NVIDIA's driver only"


def exchange(module: Any) -> None:
    """Put the functions of our runtime into the table of a module that carries NVIDIA's.

    All of them: two runtimes in one program would not know of each other's streams. What ours has not returns 801 (N004).
    """
    table: dict[str, Any] = module.__pyx_capi__
    library = _runtime(str(sys.modules["cuda.bindings"].__version__).partition(".")[0])
    if library is None:
        return
    for name in [each for each in table if each.startswith("_cuda")]:
        address = _function(library, name[1:], module.__name__ in PER_THREAD) or _refusal(name[1:])
        table[name] = _new_capsule(address, _capsule_name(table[name]), None)
    patches.write_down(f"{module.__name__}.__pyx_capi__", False, REASON)


def _runtime(major: str) -> ctypes.CDLL | None:
    path = settings.LIBRARY_DIR.get().resolve() / f"libcudart.so.{major}"
    return ctypes.CDLL(str(path)) if path.exists() else None


def _function(library: ctypes.CDLL, name: str, per_thread: bool) -> int | None:
    """Return the address of a function: the one of the stream per thread where that is asked for and differs."""
    for suffix in ("_ptds", "_ptsz", "") if per_thread else ("",):
        if (function := getattr(library, name + suffix, None)) is not None:
            return ctypes.cast(function, ctypes.c_void_p).value
    return None


_refusals: list[Any] = []


def _refusal(name: str) -> int | None:
    """Return the address of a function, whatever its parameters, that returns cudaErrorNotSupported and says so."""

    def refuse() -> int:
        text = f"{name} was called, which our CUDA runtime does not know; it returned cudaErrorNotSupported (801)"
        messages.say(Diagnostic("N004", text, "warning", help="an older cuda-bindings (up to 13.5) may do").as_text())
        return 801

    _refusals.append(ctypes.CFUNCTYPE(ctypes.c_int)(refuse))
    return ctypes.cast(_refusals[-1], ctypes.c_void_p).value


_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
"""A capsule's name is the C signature, a constant of its module, which stays loaded."""


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(after=dict.fromkeys(CARRIERS, exchange)))

"""Names of C++ kernels as people write them, by the demangler of the C++ library that the machine has.

A trace comes from anywhere, so only short names of the right form are given to it.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable

_MANGLED = re.compile(r"_Z\w{1,400}")
_STARTS = re.compile(r"^(?:void |\(anonymous namespace\)::)+")


def readable(name: str) -> str:
    """Return the C++ name that a symbol stands for, without a leading `void`; the symbol where it is none."""
    demangle = _demangler()
    if demangle is None or not _MANGLED.fullmatch(name) or not name.isascii():
        return name
    return _STARTS.sub("", demangle(name) or name)


@functools.cache
def _demangler() -> Callable[[str], str | None] | None:
    """Return `abi::__cxa_demangle` (Itanium C++ ABI); None on a machine without a C++ library."""
    try:
        library, c = ctypes.CDLL("libstdc++.so.6"), ctypes.CDLL(None)
    except OSError:
        return None
    library.__cxa_demangle.restype = ctypes.c_void_p
    c.free.argtypes = [ctypes.c_void_p]

    @functools.cache
    def demangle(name: str) -> str | None:
        status = ctypes.c_int()
        text = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
        if not text:
            return None
        try:
            return ctypes.string_at(text).decode(errors="replace")
        finally:
            c.free(text)

    return demangle

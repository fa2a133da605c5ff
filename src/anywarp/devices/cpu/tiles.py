"""Permission to use the processor's tiles (AMX): Linux keeps their 8 KiB per thread only for processes that ask."""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache

from anywarp import settings

_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _TILE_DATA = 158, 0x1023, 18


_LESS = ("avx512_bf16", "avx512", "avx2", "portable")
"""What ANYWARP_PRODUCT says where products must do without."""


@cache
def ask_for_tiles() -> bool:
    """Ask for this process, once; return whether code that runs in it may use tiles."""
    if (
        settings.PRODUCT.get() in _LESS
        or sys.platform != "linux"
        or platform.machine() != "x86_64"
        or sys.maxsize < 1 << 32
    ):
        return False
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    return call(ctypes.c_long(_ARCH_PRCTL), ctypes.c_long(_ARCH_REQ_XCOMP_PERM), ctypes.c_long(_TILE_DATA)) == 0

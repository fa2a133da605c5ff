"""The names of torch._C about memory: the allocators' switches, and what the neighbours of this file supply.

`torch.cuda.memory` calls them as they are; the work is done in native/torch (memory_calls.cpp).
"""

# pyright: basic
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from anywarp.frameworks.torch.calls import checked, returning
from anywarp.frameworks.torch.names import memory_history, memory_pools, memory_stats, memory_storages


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    return {
        **_allocator(library),
        **_settings(library),
        **memory_stats.names(library),
        **memory_history.names(library),
        **memory_pools.names(library),
        **memory_storages.names(library),
    }


def memory_info(library: ctypes.CDLL) -> Callable[[int], tuple[int, int]]:
    """Return the function behind cudaMemGetInfo: free and total bytes of a device."""
    ask = checked(
        library, "awt_memory_info", ctypes.c_int, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64)
    )

    def get(device: int) -> tuple[int, int]:
        free, total = ctypes.c_int64(), ctypes.c_int64()
        ask(device, ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    return get


def _allocator(library: ctypes.CDLL) -> dict[str, Any]:
    allocate = returning(library, "awt_memory_allocate", ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p)
    free = checked(library, "awt_memory_free", ctypes.c_void_p)
    set_caching = checked(library, "awt_memory_set_caching", ctypes.c_int)
    caching = returning(library, "awt_memory_caching", ctypes.c_int)
    empty = checked(library, "awt_memory_empty_cache")
    empty_pinned = checked(library, "awt_pinned_empty_cache")
    pinned = returning(library, "awt_pinned_allocator", ctypes.c_uint64)

    def _cuda_cudaCachingAllocator_raw_alloc(size: int, cuda_stream: int) -> int:
        return allocate(size, cuda_stream)

    def _cuda_cudaCachingAllocator_raw_delete(ptr: int) -> None:
        free(ptr)

    def _cuda_cudaCachingAllocator_enable(val: bool) -> None:
        if not isinstance(val, bool):
            raise TypeError("cudaCachingAllocator_enable expects a bool, but got " + type(val).__name__)
        set_caching(val)

    def _cuda_cudaCachingAllocator_is_enabled() -> bool:
        return bool(caching())

    def _cuda_emptyCache() -> None:
        empty()

    def _host_emptyCache() -> None:
        empty_pinned()

    def _cuda_cudaHostAllocator() -> int:
        return pinned()

    return {name: value for name, value in locals().items() if name.startswith("_")}


def _settings(library: ctypes.CDLL) -> dict[str, Any]:
    set_fraction = checked(library, "awt_memory_set_fraction", ctypes.c_double, ctypes.c_int)
    fraction = returning(library, "awt_memory_fraction", ctypes.c_double, ctypes.c_int)
    set_settings = checked(library, "awt_memory_set_settings", ctypes.c_char_p)

    def _cuda_setMemoryFraction(fraction: float, device: int) -> None:
        set_fraction(fraction, device)

    def _cuda_getMemoryFraction(device: int) -> float:
        return fraction(device)

    def _cuda_getAllocatorBackend() -> str:
        return "native"

    def _cuda_cudaCachingAllocator_set_allocator_settings(env: str) -> None:
        set_settings(env.encode())

    return {name: value for name, value in locals().items() if name.startswith("_")}

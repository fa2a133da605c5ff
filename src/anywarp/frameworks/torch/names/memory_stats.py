"""The counters of device memory and of page-locked memory, as nested dictionaries.

The library hands out plain numbers in a fixed order, because `memory_allocated()` is called in training loops.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator
from typing import Any

from anywarp.frameworks.torch.calls import checked, returning

POOL_COUNTERS = (
    "allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes", "active_bytes",
    "inactive_split_bytes", "requested_bytes",
)  # fmt: skip
COUNTERS = ("oversize_allocations", "oversize_segments")
NUMBERS = (
    "num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free", "num_oom_rejections",
    "max_split_size",
)  # fmt: skip
KINDS = ("all", "small_pool", "large_pool")
METRICS = ("current", "peak", "allocated", "freed")
PINNED_COUNTERS = ("allocations", "allocated_bytes", "active_requests", "active_bytes")
PINNED_TIMES = ("host_alloc_time", "host_free_time")

_COUNT = 12 * len(POOL_COUNTERS) + 4 * len(COUNTERS) + len(NUMBERS)
_PINNED_COUNT = 4 * len(PINNED_COUNTERS) + 4 * len(PINNED_TIMES)


def _counter(numbers: Iterator[int]) -> dict[str, int]:
    return {metric: next(numbers) for metric in METRICS}


def _by_kind(numbers: Iterator[int]) -> dict[str, dict[str, int]]:
    return {kind: _counter(numbers) for kind in KINDS}


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    stats = checked(library, "awt_memory_stats", ctypes.c_int, ctypes.POINTER(ctypes.c_int64))
    by_pool = returning(library, "awt_memory_stats_by_pool", ctypes.c_char_p, ctypes.c_int)
    reset = checked(library, "awt_memory_reset", ctypes.c_int, ctypes.c_int)
    pinned = checked(library, "awt_pinned_stats", ctypes.POINTER(ctypes.c_int64))
    reset_pinned = checked(library, "awt_pinned_reset", ctypes.c_int)

    def _cuda_memoryStats(device: int) -> dict[str, Any]:
        room = (ctypes.c_int64 * _COUNT)()
        stats(device, room)
        numbers = iter(room)
        found: dict[str, Any] = {name: _by_kind(numbers) for name in POOL_COUNTERS}
        found.update((name, _counter(numbers)) for name in COUNTERS)
        found.update((name, next(numbers)) for name in NUMBERS)
        pools = json.loads(by_pool(device))
        found["reserved_bytes_by_private_pools"] = {
            tuple(map(int, pool.split(","))): _by_kind(iter(each)) for pool, each in pools.items()
        }
        return found

    def _cuda_resetPeakMemoryStats(device: int) -> None:
        reset(device, 1)

    def _cuda_resetAccumulatedMemoryStats(device: int) -> None:
        reset(device, 0)

    def _cuda_hostMemoryStats() -> dict[str, Any]:
        room = (ctypes.c_int64 * _PINNED_COUNT)()
        pinned(room)
        numbers = iter(room)
        found: dict[str, Any] = {name: _counter(numbers) for name in PINNED_COUNTERS}
        for name in PINNED_TIMES:
            times = {metric: next(numbers) for metric in ("total", "max", "min", "count")}
            found[name] = {**times, "avg": times["total"] // times["count"] if times["count"] else 0}
        found["num_host_alloc"] = found["allocations"]["allocated"]
        found["num_host_free"] = found["allocations"]["freed"]
        return found

    def _cuda_resetPeakHostMemoryStats() -> None:
        reset_pinned(1)

    def _cuda_resetAccumulatedHostMemoryStats() -> None:
        reset_pinned(0)

    return {name: value for name, value in locals().items() if name.startswith("_")}

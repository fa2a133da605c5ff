"""Memory pools and allocators of the user's: `_MemPool`, `_cuda_CUDAAllocator` and the functions beside them.

Classes of Python stand for the pybind classes of a CUDA build; `torch.cuda.MemPool` derives from the first.
"""

# pyright: basic
from __future__ import annotations

import ctypes
from typing import Any

from anywarp.frameworks.torch.calls import Owner, checked, returning

_ID = (ctypes.c_uint64, ctypes.c_uint64)
EVERY_STREAM, THIS_THREAD, THIS_STREAM = range(3)


class _cuda_CUDAAllocator:
    """An allocator of device memory: the native one, or two functions of the user's."""

    def __init__(self) -> None:
        raise TypeError("torch._C._cuda_CUDAAllocator: No constructor defined!")


class _cuda_CUDAPluggableAllocator(_cuda_CUDAAllocator):
    """Two functions of the user's, by address; see torch.cuda.memory.CUDAPluggableAllocator."""

    def __init__(self, alloc_fn: int, free_fn: int) -> None:
        self.alloc_fn, self.free_fn = alloc_fn, free_fn


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    return {**_classes(library), **_routes(library)}


def _routes(library: ctypes.CDLL) -> dict[str, Any]:
    begin = checked(library, "awt_pool_begin", ctypes.c_int, *_ID, ctypes.c_int)
    end = checked(library, "awt_pool_end", ctypes.c_int, *_ID)
    release = checked(library, "awt_pool_release", ctypes.c_int, *_ID)

    def _cuda_beginAllocateToPool(device: int, mempool_id: tuple[int, int]) -> None:
        begin(device, *mempool_id, EVERY_STREAM)

    def _cuda_beginAllocateCurrentThreadToPool(device: int, mempool_id: tuple[int, int]) -> None:
        begin(device, *mempool_id, THIS_THREAD)

    def _cuda_beginAllocateCurrentStreamToPool(device: int, mempool_id: tuple[int, int]) -> None:
        begin(device, *mempool_id, THIS_STREAM)

    def _cuda_endAllocateToPool(device: int, mempool_id: tuple[int, int]) -> None:
        end(device, *mempool_id)

    def _cuda_endAllocateCurrentStreamToPool(device: int, mempool_id: tuple[int, int]) -> None:
        end(device, *mempool_id)

    def _cuda_releasePool(device: int, mempool_id: tuple[int, int]) -> None:
        release(device, *mempool_id)

    return {name: value for name, value in locals().items() if name.startswith("_")}


def _classes(library: ctypes.CDLL) -> dict[str, Any]:
    new_id = checked(library, "awt_pool_new_id", ctypes.c_int, *[ctypes.POINTER(each) for each in _ID])
    plain, flag = ctypes.c_void_p, ctypes.c_int
    open_pool = checked(library, "awt_pool_open", ctypes.c_int, *_ID, plain, plain, flag, flag)
    release = checked(library, "awt_pool_release", ctypes.c_int, *_ID)
    empty = checked(library, "awt_pool_empty", ctypes.c_int, *_ID)
    uses = returning(library, "awt_pool_uses", ctypes.c_int, ctypes.c_int, *_ID)
    plug_in = checked(library, "awt_memory_plug_in", plain, plain)
    current: list[_cuda_CUDAAllocator] = [object.__new__(_cuda_CUDAAllocator)]

    def pool_id(by_hand: bool) -> tuple[int, int]:
        graph, hand = ctypes.c_uint64(), ctypes.c_uint64()
        new_id(by_hand, ctypes.byref(graph), ctypes.byref(hand))
        return graph.value, hand.value

    def close_pool(device: int, graph: int, hand: int) -> None:
        release(device, graph, hand)
        empty(device, graph, hand)

    class _MemPool:
        """A pool of one device, kept until the last use of it ends."""

        def __init__(
            self,
            allocator: _cuda_CUDAAllocator | None = None,
            is_user_created: bool = True,
            use_on_oom: bool = False,
            no_split: bool = False,
        ) -> None:
            import torch

            self._device = -1
            given = (
                (allocator.alloc_fn, allocator.free_fn)
                if isinstance(allocator, _cuda_CUDAPluggableAllocator)
                else (None, None)
            )
            self._allocator = allocator
            self._id = pool_id(is_user_created)
            device = torch.cuda.current_device()
            open_pool(device, *self._id, *given, use_on_oom, no_split)
            self._device = device
            self._owner = Owner(close_pool, device, *self._id)

        @property
        def id(self) -> tuple[int, int]:
            return self._id

        @property
        def allocator(self) -> _cuda_CUDAAllocator | None:
            return self._allocator

        @property
        def device(self) -> int:
            return self._device

        def use_count(self) -> int:
            return uses(self._device, *self._id)

    def _graph_pool_handle() -> tuple[int, int]:
        return pool_id(True)

    def _cuda_customAllocator(alloc_fn: int, free_fn: int) -> _cuda_CUDAPluggableAllocator:
        if not alloc_fn or not free_fn:
            raise ValueError("a custom allocator needs a function that allocates and one that frees")
        return _cuda_CUDAPluggableAllocator(alloc_fn, free_fn)

    def _cuda_changeCurrentAllocator(allocator: _cuda_CUDAAllocator) -> None:
        if allocator is current[0]:
            return
        if not isinstance(allocator, _cuda_CUDAPluggableAllocator):
            raise TypeError(f"not an allocator that can be made current: {allocator!r}")
        plug_in(allocator.alloc_fn, allocator.free_fn)
        current[0] = allocator

    def _cuda_getAllocator() -> _cuda_CUDAAllocator:
        return current[0]

    return {
        "_cuda_CUDAAllocator": _cuda_CUDAAllocator,
        "_cuda_CUDAPluggableAllocator": _cuda_CUDAPluggableAllocator,
        **{name: value for name, value in locals().items() if name.startswith("_")},
    }

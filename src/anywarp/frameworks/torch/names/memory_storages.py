"""Storages and pools that torch._inductor.cudagraph_trees takes apart and puts together between graphs.

A storage is given by the address of its StorageImpl, as torch's own functions take it.
"""

# pyright: basic
from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from anywarp.frameworks.torch.calls import checked, returning

_ID = (ctypes.c_uint64, ctypes.c_uint64)
_LIST = (ctypes.POINTER(ctypes.c_uint64), ctypes.c_int64)


def _array(values: Sequence[int]) -> tuple[Any, int]:
    return (ctypes.c_uint64 * max(len(values), 1))(*values), len(values)


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    return {**_checkpoints(library), **_storages(library), **_tensors()}


def _checkpoints(library: ctypes.CDLL) -> dict[str, Any]:
    save = returning(library, "awt_pool_checkpoint", ctypes.c_uint64, ctypes.c_int, *_ID)
    forget = checked(library, "awt_pool_forget_checkpoint", ctypes.c_uint64)
    restore = checked(library, "awt_pool_restore", ctypes.c_int, ctypes.c_uint64, *_LIST, *_LIST)
    exactly = returning(
        library,
        "awt_pool_holds_exactly",
        ctypes.c_int,
        ctypes.c_int,
        *_ID,
        ctypes.POINTER(ctypes.c_uint64),
        ctypes.c_int64,
    )

    class _cuda_CUDAAllocator_AllocatorState:
        """The layout of a pool at one moment."""

        def __init__(self, handle: int) -> None:
            self.handle = handle

        def __del__(self) -> None:
            forget(self.handle)

    def _cuda_getCheckpointState(device: int, mempool: tuple[int, int]) -> _cuda_CUDAAllocator_AllocatorState:
        return _cuda_CUDAAllocator_AllocatorState(save(device, *mempool))

    def _cuda_setCheckpointPoolState(
        device: int,
        state: _cuda_CUDAAllocator_AllocatorState,
        stale_storages: list[int],
        storages_to_add_deleters_to: list[int],
    ) -> None:
        restore(device, state.handle, *_array(stale_storages), *_array(storages_to_add_deleters_to))

    def _cuda_checkPoolLiveAllocations(
        device: int, mempool_id: tuple[int, int], expected_live_allocations: set[int]
    ) -> bool:
        return bool(exactly(device, *mempool_id, *_array(sorted(expected_live_allocations))))

    return {name: value for name, value in locals().items() if name.startswith("_")}


def _storages(library: ctypes.CDLL) -> dict[str, Any]:
    owns = returning(library, "awt_storage_owns_block", ctypes.c_int, ctypes.c_uint64)
    free = checked(library, "awt_storage_free", ctypes.c_uint64)
    end_storage = checked(library, "awt_storage_make_unusable", ctypes.c_uint64, ctypes.c_char_p)
    end_tensor = checked(library, "awt_tensor_make_unusable", ctypes.c_uint64, ctypes.c_char_p)

    def _has_Standard_Deleter(storage_ptr: int) -> bool:
        return bool(owns(storage_ptr))

    def _free_And_Remove_DeleterFn(storage_ptr: int) -> None:
        free(storage_ptr)

    def _set_storage_data_ptr_access_error_msg(storage_ptr: int, s: str) -> None:
        end_storage(storage_ptr, s.encode())

    def _set_storage_access_error_msg(t: Any, s: str) -> None:
        end_tensor(t._cdata, s.encode())

    return {name: value for name, value in locals().items() if name.startswith("_")}


def _tensors() -> dict[str, Any]:
    def _construct_CUDA_Tensor_From_Storage_And_Metadata(metadata: dict[str, Any], storage: Any) -> Any:
        import torch

        with torch.no_grad():
            tensor = torch.empty(0, dtype=metadata["dtype"], device=metadata["device"])
            return tensor.set_(storage, metadata["storage_offset"], metadata["size"], metadata["stride"])

    def _tensors_data_ptrs_at_indices_equal(tensors: list[Any], ptrs: list[int | None], indices: list[int]) -> bool:
        return all(tensors[place].data_ptr() == ptrs[place] for place in indices if ptrs[place] is not None)

    return {name: value for name, value in locals().items() if name.startswith("_")}

"""Device tensors sent to another process by torch.multiprocessing: handles of our driver instead of copies.

The sender keeps what it sent until the receiver lets go. Torch counts that in shared memory; here each parcel has an empty file
in a private folder of the sender, which the receiver removes.
"""

# pyright: basic
from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import shutil
import tempfile
import threading
import uuid
import weakref
from typing import Any

from anywarp.frameworks.torch import calls, load, patches

_HANDLE = 64
"""Bytes of a CUipcMemHandle."""

_lock = threading.RLock()
_sent: dict[str, Any] = {}
_opened: dict[bytes, list[int]] = {}
_folder: tuple[int, str] | None = None


@patches.when_imported("torch.storage")
def _share(module: Any) -> None:
    if load.library is None:
        return
    reason = "a CPU build's own says that CUDA is not available"
    owner = module.UntypedStorage
    patches.set_attribute(owner, "_share_cuda_", _send, reason)
    patches.set_attribute(owner, "_new_shared_cuda", classmethod(_receive), reason)
    patches.set_attribute(owner, "_release_ipc_counter_cuda", classmethod(lambda _, file, __: _let_go(file)), reason)


def collect() -> None:
    """Forget what every receiver has let go of (torch.cuda.ipc_collect)."""
    with _lock:
        for file in [each for each in _sent if not os.path.exists(each)]:
            del _sent[file]


def _send(storage: Any, *_: Any, **__: Any) -> tuple[Any, ...]:
    """Return what `torch.multiprocessing.reductions.reduce_tensor` puts into the parcel."""
    import torch

    collect()
    device = storage.device.index
    if storage.nbytes() == 0:
        return device, None, 0, 0, b"", 0, b"", False
    library = load.library
    assert library is not None
    base, size = ctypes.c_uint64(), ctypes.c_uint64()
    find = calls.checked(library, "awt_memory_base", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    handle = ctypes.create_string_buffer(_HANDLE)
    with torch.cuda.device(device):
        torch.cuda.current_stream().synchronize()  # so that the receiver needs no event
        find(storage.data_ptr(), ctypes.byref(base), ctypes.byref(size))
        _check(_driver().cuIpcGetMemHandle(handle, ctypes.c_uint64(base.value)))
    file = os.path.join(_own_folder(), uuid.uuid4().hex)
    with open(file, "x"):
        pass
    with _lock:
        _sent[file] = storage
    return device, handle.raw, storage.nbytes(), storage.data_ptr() - base.value, file.encode(), 0, b"", False


def _receive(_: Any, device: int, handle: bytes, size: int, offset: int, file: bytes, *__: Any) -> Any:
    """Return a storage over the sender's memory, which lets go of it when it is freed."""
    import torch

    with torch.cuda.device(device):
        torch.cuda.current_stream().synchronize()  # so that there is a context, and it is current
        window = _Window(_open(handle) + offset, size)
        weakref.finalize(window, _close, handle, file)
        return torch.as_tensor(window, device=torch.device("cuda", device)).untyped_storage()


class _Window:
    """Memory as torch takes it over, with everything that hangs on its end."""

    def __init__(self, address: int, size: int):
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "strides": None,
            "version": 2,
        }


def _open(handle: bytes) -> int:
    with _lock:
        known = _opened.get(handle)
        if known is None:
            address = ctypes.c_uint64()
            _check(_driver().cuIpcOpenMemHandle_v2(ctypes.byref(address), _Handle.from_buffer_copy(handle), 1))
            known = _opened[handle] = [address.value, 0]
        known[1] += 1
        return known[0]


class _Handle(ctypes.Structure):
    _fields_ = [("content", ctypes.c_ubyte * _HANDLE)]


def _close(handle: bytes, file: bytes) -> None:
    with _lock:
        known = _opened.get(handle)
        if known is not None:
            known[1] -= 1
            if known[1] == 0:
                del _opened[handle]
                _driver().cuIpcCloseMemHandle(ctypes.c_uint64(known[0]))
    _let_go(file)


def _let_go(file: bytes) -> None:
    with contextlib.suppress(OSError):  # the sender has ended, and its folder with it
        os.unlink(file)


def _own_folder() -> str:
    global _folder
    with _lock:
        if _folder is None or _folder[0] != os.getpid():  # another process's after a fork
            _folder = os.getpid(), tempfile.mkdtemp(prefix="anywarp-torch-")
            atexit.register(_remove, *_folder)
        return _folder[1]


def _remove(owner: int, folder: str) -> None:
    if owner == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def _check(code: int) -> None:
    if code:
        import torch

        cudart: Any = torch.cuda.cudart()
        raise RuntimeError(f"CUDA error: {cudart.cudaGetErrorString(code)}")

"""`storage.resize_()` of device memory: FSDP frees and allocates its buffers by it."""

# pyright: basic
from __future__ import annotations

import ctypes
from typing import Any

from anywarp.frameworks.torch import load, patches
from anywarp.frameworks.torch.calls import checked


@patches.when_imported("torch.storage")
def _resizable(module: Any) -> None:
    library = load.library
    if library is None:
        return
    resize = checked(library, "awt_storage_resize", ctypes.c_uint64, ctypes.c_uint64)
    owner = module.UntypedStorage
    real = owner.resize_

    def resize_(self: Any, size: int) -> Any:
        if self.device.type != "cuda":
            return real(self, size)
        bytes_ = int(size)
        if bytes_ < 0:
            raise RuntimeError(f"Trying to resize a storage to a negative size: {bytes_}")
        resize(self._cdata, bytes_)
        return self

    patches.set_attribute(owner, "resize_", resize_, "torch's own refuses device memory in a CPU build")

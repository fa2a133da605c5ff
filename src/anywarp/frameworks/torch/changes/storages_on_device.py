"""`torch.UntypedStorage(n, device="cuda")`: what torch.load, `storage.cuda()` and `torch.cuda.FloatStorage` make.

Its C++ takes the device's allocator only in a CUDA build. The memory comes from an empty tensor instead, whose storage is the same.
"""

# pyright: basic
from __future__ import annotations

from typing import Any

from anywarp.frameworks.torch import load, patches


@patches.when_imported("torch.storage")
def _allocate(module: Any) -> None:
    if load.library is None:
        return
    owner = module.UntypedStorage
    real = owner.__new__

    def __new__(cls: Any, *arguments: Any, device: Any = None, **others: Any) -> Any:
        if device is None:
            return real(cls, *arguments, **others)
        if cls is not owner or others or not _is_cuda(device):
            return real(cls, *arguments, device=device, **others)
        return _on_device(device, *arguments)

    patches.set_attribute(owner, "__new__", staticmethod(__new__), "a CPU build's own does not know the device cuda")


def _is_cuda(device: Any) -> bool:
    import torch

    return torch.device(device).type == "cuda"


def _on_device(device: Any, *arguments: Any) -> Any:
    import torch

    if len(arguments) > 1:
        raise RuntimeError(
            f"torch.UntypedStorage(): only one of size, sequence and nothing is taken, not {len(arguments)} values"
        )
    first = arguments[0] if arguments else 0
    if isinstance(first, int):
        return torch.empty(first, dtype=torch.uint8, device=device).untyped_storage()
    values = torch.UntypedStorage(first)
    made = torch.empty(values.nbytes(), dtype=torch.uint8, device=device).untyped_storage()
    return made.copy_(values)

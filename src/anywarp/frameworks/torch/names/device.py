"""Names of torch._C about devices: counting and choosing them, their properties, and what `torch.cuda` sets up at first use.

The truth comes from our driver, so that PyTorch and a CUDA program see the same device.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import os
import sys
import uuid
from typing import Any

from anywarp.frameworks.torch import calls, patches
from anywarp.frameworks.torch.changes import shared_storages

ATTRIBUTES = {
    "max_threads_per_block": 1,
    "shared_memory_per_block": 8,
    "warp_size": 10,
    "clock_rate": 13,
    "multi_processor_count": 16,
    "is_integrated": 18,
    "pci_bus_id": 33,
    "pci_device_id": 34,
    "memory_clock_rate": 36,
    "memory_bus_width": 37,
    "L2_cache_size": 38,
    "max_threads_per_multi_processor": 39,
    "pci_domain_id": 50,
    "major": 75,
    "minor": 76,
    "shared_memory_per_multiprocessor": 81,
    "regs_per_multiprocessor": 82,
    "is_multi_gpu_board": 84,
    "shared_memory_per_block_optin": 97,
}
"""What torch calls a property, and the number of the driver's attribute (CUdevice_attribute in the driver's manual)."""

NO_FORK = "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method"
"""torch's words (torch/cuda/__init__.py)."""

_forked = False
_watching = False


class CUuuid:
    """A device's identity: `bytes`, and the text of a UUID."""

    def __init__(self, content: bytes):
        self._content = content

    @property
    def bytes(self) -> list[int]:
        return list(self._content)

    def __str__(self) -> str:
        return str(uuid.UUID(bytes=self._content))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CUuuid) and other._content == self._content

    def __hash__(self) -> int:
        return hash(self._content)


class DeviceProperties:
    """What `torch.cuda.get_device_properties` returns; nothing in it can be changed."""

    __slots__ = ("_values",)
    _values: dict[str, Any]

    def __init__(self, *_: Any):
        raise TypeError("_CudaDeviceProperties: No constructor defined!")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._values:
            raise AttributeError(f"property '{name}' of '_CudaDeviceProperties' object has no setter")
        raise AttributeError(f"'_CudaDeviceProperties' object has no attribute '{name}'")

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "_values")[name]
        except KeyError:
            raise AttributeError(f"'torch._C._CudaDeviceProperties' object has no attribute '{name}'") from None

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self._values]

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle 'torch._C._CudaDeviceProperties' object")

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, multi_processor_count={self.multi_processor_count}, "
            f"uuid={self.uuid}, pci_bus_id={self.pci_bus_id}, pci_device_id={self.pci_device_id}, "
            f"pci_domain_id={self.pci_domain_id}, L2_cache_size={self.L2_cache_size >> 20}MB)"
        )


DeviceProperties.__name__ = DeviceProperties.__qualname__ = "_CudaDeviceProperties"
DeviceProperties.__module__ = "torch._C"


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    count = calls.returning(library, "awt_device_count", ctypes.c_int)
    current = calls.returning(library, "awt_device_current", ctypes.c_int)
    exchange = calls.returning(library, "awt_device_exchange", ctypes.c_int, ctypes.c_int)
    choose = calls.checked(library, "awt_device_set", ctypes.c_int)
    version = calls.returning(library, "awt_driver_version", ctypes.c_int)
    has_context = calls.returning(library, "awt_device_has_context", ctypes.c_int, ctypes.c_int)
    access = calls.returning(library, "awt_device_can_access", ctypes.c_int, ctypes.c_int, ctypes.c_int)
    init = calls.checked(library, "awt_device_init")
    properties: dict[int, DeviceProperties] = {}

    def device_count() -> int:
        _watch_forks()
        return count()

    def set_device(device: int) -> None:
        _initialized()
        choose(device)

    def get_device() -> int:
        _initialized()
        return current()

    # Dynamo tells these two apart by identity, so they must be two objects.
    def exchange_device(device: int) -> int:
        if device < 0:
            return -1
        _initialized()
        return exchange(device)

    def maybe_exchange_device(device: int) -> int:
        if device < 0:
            return -1
        _initialized()
        return exchange(device)

    def get_properties(device: int) -> DeviceProperties:
        if device not in properties:
            properties[device] = _properties(library, device)
        return properties[device]

    def cuda_init() -> None:
        if _forked:
            raise RuntimeError(NO_FORK)
        _watch_forks()
        init()
        cuda = sys.modules["torch.cuda"]
        from anywarp.frameworks.torch.names import random

        generators = tuple(random.default_generator(each) for each in range(count()))
        reason = "a CUDA build sets it when CUDA is first used"
        patches.set_attribute(cuda, "default_generators", generators, reason)
        patches.set_attribute(cuda, "_get_device_properties", get_properties, reason)

    def architectures() -> str:
        first = get_properties(0)
        return f"sm_{first.major}{first.minor} compute_{first.major}{first.minor}"

    return {
        "_cuda_getDeviceCount": device_count,
        "_cuda_getDevice": get_device,
        "_cuda_setDevice": set_device,
        "_cuda_exchangeDevice": exchange_device,
        "_cuda_maybeExchangeDevice": maybe_exchange_device,
        "_cuda_init": cuda_init,
        "_cuda_isInBadFork": lambda: _forked,
        "_cuda_hasPrimaryContext": lambda device: bool(has_context(device)),
        "_cuda_canDeviceAccessPeer": lambda device, peer: bool(access(device, peer)),
        "_cuda_getDriverVersion": version,
        "_cuda_getCompiledVersion": version,
        "_cuda_getArchFlags": lambda: architectures() if count() else None,
        "_cuda_get_sync_debug_mode": calls.returning(library, "awt_sync_debug", ctypes.c_int),
        "_cuda_set_sync_debug_mode": calls.checked(library, "awt_set_sync_debug", ctypes.c_int),
        "_cuda_ipc_collect": shared_storages.collect,
        "_CudaDeviceProperties": DeviceProperties,
        "_has_cuda": True,
    }


def _properties(library: ctypes.CDLL, device: int) -> DeviceProperties:
    attribute = calls.returning(library, "awt_device_attribute", ctypes.c_int, ctypes.c_int, ctypes.c_int)
    memory = calls.returning(library, "awt_device_memory", ctypes.c_uint64, ctypes.c_int)
    name, identity = ctypes.create_string_buffer(256), ctypes.create_string_buffer(16)
    calls.checked(library, "awt_device_name", ctypes.c_int, ctypes.c_char_p)(device, name)
    calls.checked(library, "awt_device_uuid", ctypes.c_int, ctypes.c_char_p)(device, identity)
    values: dict[str, Any] = {each: attribute(device, number) for each, number in ATTRIBUTES.items()}
    for flag in ("is_integrated", "is_multi_gpu_board"):
        values[flag] = int(values[flag])
    values["name"] = values["gcnArchName"] = name.value.decode("utf-8", "replace")
    values["uuid"] = CUuuid(identity.raw)
    values["total_memory"] = memory(device)
    made = object.__new__(DeviceProperties)
    object.__setattr__(made, "_values", values)
    return made


def _initialized() -> None:
    """Do what torch does first in these functions: bring CUDA up, or refuse in a forked child."""
    sys.modules["torch.cuda"]._lazy_init()


def _watch_forks() -> None:
    """From now on a forked child cannot use CUDA: what the driver holds does not survive a fork, here as there."""
    global _watching
    if not _watching:
        _watching = True
        os.register_at_fork(after_in_child=_in_child)


def _in_child() -> None:
    global _forked
    _forked = True

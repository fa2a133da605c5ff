"""What the devices of this machine are and do, read through our libnvidia-ml.

The answers come from the library that programs ask, so that `nvidia-smi` and a program's own questions cannot differ.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from anywarp import settings
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.runtime.launch import folder_for

LIBRARY = "libnvidia-ml.so.1"

T = TypeVar("T")


@dataclass(frozen=True)
class Process:
    """A process that uses a device; memory in bytes."""

    pid: int
    name: str
    memory: int | None


@dataclass(frozen=True)
class DeviceState:
    """One device; memory in bytes, shares in percent, clocks in MHz, power in watts. None: the machine does not tell."""

    index: int
    name: str
    uuid: str
    bus: str
    capability: str
    total: int
    used: int
    free: int
    reserved: int
    busy: int | None
    memory_busy: int | None
    temperature: int | None
    power: float | None
    power_limit: float | None
    clock: int | None
    clock_limit: int | None
    processes: tuple[Process, ...]


@dataclass(frozen=True)
class MachineState:
    """All devices, and the versions of what answers."""

    driver: str
    cuda: str
    devices: tuple[DeviceState, ...]


def look() -> MachineState:
    """Read the state of the machine; takes a tenth of a second, in which load is measured.

    AnywarpError R026: our library is not there; R029: it cannot start.
    """
    nvml = _binding()
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        raise AnywarpError(
            Diagnostic(
                "R029",
                f"the management library says: {error}",
                help="on AMD GPUs it needs ROCm's amdsmi (package amd-smi-lib); anywarp doctor shows what else is missing",
            )
        ) from error
    try:
        count: int = nvml.nvmlDeviceGetCount()
        version: int = nvml.nvmlSystemGetCudaDriverVersion()
        devices = tuple(_device(nvml, i) for i in range(count))
        return MachineState(nvml.nvmlSystemGetDriverVersion(), f"{version // 1000}.{version % 1000 // 10}", devices)
    finally:
        nvml.nvmlShutdown()


def _binding() -> ModuleType:
    """Return NVIDIA's binding, with our library in the process: it is then the one found by its name."""
    path = folder_for(settings.DEVICE.get()) / LIBRARY
    if not path.exists():
        raise AnywarpError(
            Diagnostic("R026", f"{LIBRARY} is not in {path.parent}", help="in a checkout, build it with scripts/build")
        )
    ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    import pynvml  # late: only this command needs it

    return pynvml


def _told(nvml: Any, read: Callable[[], T]) -> T | None:
    """Return what `read` returns, None where the device does not tell."""
    try:
        return read()
    except nvml.NVMLError as error:
        if error.value == nvml.NVML_ERROR_NOT_SUPPORTED:
            return None
        raise


def _device(nvml: Any, index: int) -> DeviceState:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    rates: Any = _told(nvml, lambda: nvml.nvmlDeviceGetUtilizationRates(handle))
    power: Any = _told(nvml, lambda: nvml.nvmlDeviceGetPowerUsage(handle))
    limit: Any = _told(nvml, lambda: nvml.nvmlDeviceGetPowerManagementLimit(handle))
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    return DeviceState(
        index=index,
        name=nvml.nvmlDeviceGetName(handle),
        uuid=nvml.nvmlDeviceGetUUID(handle),
        bus=nvml.nvmlDeviceGetPciInfo(handle).busId,
        capability=f"{major}.{minor}",
        total=memory.total,
        used=memory.used,
        free=memory.free,
        reserved=memory.reserved,
        busy=rates and rates.gpu,
        memory_busy=rates and rates.memory,
        temperature=_told(nvml, lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
        power=None if power is None else power / 1000,
        power_limit=None if limit is None else limit / 1000,
        clock=_told(nvml, lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
        clock_limit=_told(nvml, lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM)),
        processes=tuple(
            _process(nvml, p) for p in _told(nvml, lambda: nvml.nvmlDeviceGetComputeRunningProcesses(handle)) or ()
        ),
    )


def _process(nvml: Any, found: Any) -> Process:
    try:
        name: str = nvml.nvmlSystemGetProcessName(found.pid)
    except nvml.NVMLError_NotFound:  # it has just ended
        name = "[Not Found]"
    return Process(found.pid, name, found.usedGpuMemory)

"""The names of `torch._C` that `torch.cuda` binds, over an accelerator: C++ by the library, the rest by `torch.NAME`.

Devices, streams and events go through torch's device guard, as they do for every backend. A name that is not here raises and says so.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import sys
import types
from collections.abc import Callable
from typing import Any

from anywarp.frameworks.torch import calls, patches
from anywarp.frameworks.torch.accelerators.module import Accelerator
from anywarp.frameworks.torch.names import streams
from anywarp.frameworks.torch.names.device import NO_FORK, DeviceProperties
from anywarp.frameworks.torch.names.streams import CUDA

CAPABILITY = (8, 0)
"""What torch.cuda.get_device_capability says: the first with bfloat16 and TF32, which torch and programs ask it for. No PTX runs here."""

_REASON = "a build for CUDA has it; answered by {}"


def fill(module: Any, library: ctypes.CDLL, accelerator: Accelerator) -> None:
    """Set the names on `module` (torch._C), and say of others that they are missing."""
    found = {
        **_devices(library, accelerator),
        **_streams(library),
        **_memory(accelerator),
        **_graphs(accelerator),
    }
    for name, value in found.items():
        patches.set_attribute(module, name, value, _REASON.format(accelerator.name))

    def missing(name: str) -> Any:
        what = f"torch._C has no {name}"
        if name.startswith(("_cuda_", "_Cuda")):
            what += f": anywarp maps cuda to {accelerator.name} here, and this is not mapped"
        raise AttributeError(what)

    patches.set_attribute(module, "__getattr__", missing, "a name that is not mapped says so")


def _devices(library: ctypes.CDLL, accelerator: Accelerator) -> dict[str, Any]:
    count = calls.returning(library, "awt_device_count", ctypes.c_int)
    current = calls.returning(library, "awt_device_current", ctypes.c_int)
    exchange = calls.returning(library, "awt_device_exchange", ctypes.c_int, ctypes.c_int)
    known: dict[int, DeviceProperties] = {}

    def forked() -> bool:
        return accelerator.has("_is_in_bad_fork") and bool(accelerator.module._is_in_bad_fork())

    def ready() -> None:
        sys.modules["torch.cuda"]._lazy_init()

    def get_device() -> int:
        ready()
        return current()

    def set_device(device: int) -> None:
        ready()
        exchange(device)

    # Dynamo tells these two apart by identity, so they must be two objects.
    def exchange_device(device: int) -> int:
        return exchange(device) if device >= 0 else -1

    def maybe_exchange_device(device: int) -> int:
        return exchange(device) if device >= 0 else -1

    def properties(device: int) -> DeviceProperties:
        if device not in known:
            known[device] = _properties(accelerator, device)
        return known[device]

    def init() -> None:
        import torch

        if forked():
            raise RuntimeError(NO_FORK)
        if not count():
            raise RuntimeError(
                f"No CUDA GPUs are available: anywarp maps cuda to {accelerator.name}, and there is none"
            )
        if accelerator.has("init"):
            accelerator.module.init()
        with torch._C._DisableTorchDispatch():
            generators = tuple(torch.ops.anywarp.default_generator(each) for each in range(count()))
        reason = "a CUDA build sets it when CUDA is first used"
        patches.set_attribute(torch.cuda, "default_generators", generators, reason)
        patches.set_attribute(torch.cuda, "_get_device_properties", properties, reason)

    def reaches(device: int, peer: int) -> bool:
        return bool(accelerator.function("can_device_access_peer")(device, peer))

    return {
        "_cuda_getDeviceCount": count,
        "_cuda_getDevice": get_device,
        "_cuda_setDevice": set_device,
        "_cuda_exchangeDevice": exchange_device,
        "_cuda_maybeExchangeDevice": maybe_exchange_device,
        "_cuda_init": init,
        "_cuda_isInBadFork": forked,
        "_cuda_canDeviceAccessPeer": reaches,
        "_cuda_getArchFlags": lambda: None,
        "_cuda_synchronize": calls.checked(library, "awt_device_synchronize"),
        "_CudaDeviceProperties": DeviceProperties,
        "_has_cuda": True,
    }


def _properties(accelerator: Accelerator, device: int) -> DeviceProperties:
    zeros = dict.fromkeys(("multi_processor_count", "pci_bus_id", "pci_device_id", "pci_domain_id", "L2_cache_size"), 0)
    values = {**zeros, "uuid": None, "warp_size": 32, **accelerator.properties(device)}
    values["major"], values["minor"] = CAPABILITY
    made = object.__new__(DeviceProperties)
    object.__setattr__(made, "_values", values)
    return made


def _streams(library: ctypes.CDLL) -> dict[str, Any]:
    import torch

    current = calls.returning(library, "awt_current_stream", ctypes.c_int64, ctypes.c_int)
    default = calls.returning(library, "awt_default_stream", ctypes.c_int64, ctypes.c_int)
    made = calls.returning(library, "awt_new_stream", ctypes.c_int64, ctypes.c_int, ctypes.c_int)
    chosen = calls.checked(library, "awt_set_stream", ctypes.c_int64, ctypes.c_int)
    capturing = calls.returning(library, "awt_capturing", ctypes.c_int)
    pointer = ctypes.c_void_p
    elapsed = calls.returning(library, "awt_event_elapsed", ctypes.c_double, pointer, pointer, ctypes.c_int)

    class _CudaStreamBase(streams.compared()):
        def __new__(cls, priority=0, stream_id=0, device_index=0, device_type=0, stream_ptr=0):
            if stream_ptr:
                raise NotImplementedError(
                    "a stream of CUDA from elsewhere (ExternalStream) is none of this accelerator's"
                )
            device = torch._C._cuda_getDevice()
            if stream_id or device_index or device_type:
                device = device_index
            else:
                stream_id = made(device, priority)
            return super().__new__(cls, stream_id=stream_id, device_index=device, device_type=CUDA)

        @property
        def cuda_stream(self) -> int:
            return super().native_handle  # pyright: ignore

        @staticmethod
        def priority_range() -> tuple[int, int]:
            return 0, 0  # torch asks no accelerator for its own

        @property
        def priority(self) -> int:
            return 0

    class _CudaEventBase(torch._C.Event):
        def __new__(cls, enable_timing=False, blocking=False, interprocess=False, external=False):
            if interprocess or external:
                raise NotImplementedError("torch.cuda.Event: interprocess and external events are not mapped")
            return super().__new__(cls, torch.device("cuda"), enable_timing=enable_timing, blocking=blocking)

        @property
        def cuda_event(self) -> int:
            return self.event_id

        # torch's own takes no event of a class like this one.
        def elapsed_time(self, end_event: Any) -> float:
            if not (self.event_id and end_event.event_id):
                raise RuntimeError("Both events must be recorded before calculating elapsed time.")
            return elapsed(self.event_id, end_event.event_id, self.device.index)

    def raw_stream(device: int) -> int:
        stream: Any = torch._C.Stream(stream_id=current(device), device_index=device, device_type=CUDA)
        return stream.native_handle

    def set_stream(stream_id: int = 0, device_index: int = 0, device_type: int = CUDA) -> None:
        if device_type != CUDA:
            raise ValueError("device_type should be cuda")
        chosen(stream_id, device_index)

    return {
        "_CudaStreamBase": _CudaStreamBase,
        "_CudaEventBase": _CudaEventBase,
        "_cuda_getCurrentStream": lambda device: (current(device), device, CUDA),
        "_cuda_getDefaultStream": lambda device: (default(device), device, CUDA),
        "_cuda_getCurrentRawStream": raw_stream,
        "_cuda_setStream": set_stream,
        "_cuda_isCurrentStreamCapturing": lambda: bool(capturing()),
    }


def _memory(accelerator: Accelerator) -> dict[str, Any]:
    def statistics(device: int) -> dict[str, Any]:
        nested: dict[str, Any] = {}
        for name, value in accelerator.function("memory_stats")(device).items():
            *above, last = name.split(".")
            place = nested
            for part in above:
                place = place.setdefault(part, {})
            place[last] = value
        return nested

    def passed_on(name: str) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            return accelerator.function(name)(*given)

        return call

    def nothing_else(name: str) -> Any:
        raise accelerator.missing(f"torch.cuda.cudart().{name} for it")

    runtime = types.ModuleType(
        "torch._C._cudart", f"The one function of CUDA's runtime that {accelerator.name} answers."
    )
    vars(runtime).update(cudaMemGetInfo=passed_on("mem_get_info"), __getattr__=nothing_else)
    return {
        "_cudart": runtime,
        "_cuda_memoryStats": statistics,
        "_cuda_resetPeakMemoryStats": passed_on("reset_peak_memory_stats"),
        "_cuda_resetAccumulatedMemoryStats": passed_on("reset_accumulated_memory_stats"),
        "_cuda_emptyCache": passed_on("empty_cache"),
        "_cuda_setMemoryFraction": passed_on("set_per_process_memory_fraction"),
        "_cuda_getAllocatorBackend": lambda: "native",
        "_host_emptyCache": lambda: (
            None
        ),  # page-locked memory is the accelerator's, which torch does not ask for it back
    }


def _graphs(accelerator: Accelerator) -> dict[str, Any]:
    """Return torch's graphs over the accelerator's class of them."""
    kind = f"{accelerator.name.upper()}Graph"

    class _CUDAGraph:
        _graph: Any

        def __new__(cls, keep_graph: bool = False):
            made = super().__new__(cls)
            made._graph = accelerator.function(kind)(*([keep_graph] if keep_graph else []))
            return made

        def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
            self._graph.capture_begin(**({} if pool is None else {"pool": pool}))

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(self._graph, name)

        capture_end = property(lambda self: self._graph.capture_end)
        replay = property(lambda self: self._graph.replay)
        reset = property(lambda self: self._graph.reset)
        pool = property(lambda self: self._graph.pool)

    def no_trees(*_: Any) -> Any:
        raise accelerator.missing("states of an allocator, on which Inductor's trees of graphs stand")

    def keep_tensors(enabled: bool) -> None:
        if enabled:
            no_trees()

    # torch._dynamo imports these two with Inductor's trees of graphs, whoever compiles, and turns the second off.
    names = {"_cuda_CUDAAllocator_AllocatorState": no_trees, "_set_cached_tensors_enabled": keep_tensors}
    return {
        **names,
        "_CUDAGraph": _CUDAGraph,
        "_graph_pool_handle": lambda: accelerator.function("graph_pool_handle")(),
    }

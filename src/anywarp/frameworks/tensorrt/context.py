"""The execution context: shapes of the inputs, addresses of all tensors, and execution in the order of a stream."""

# pyright: basic
from __future__ import annotations

import ctypes
import math
import time
from typing import Any

from anywarp.frameworks.tensorrt import stream as streams
from anywarp.frameworks.tensorrt.bindings import ContextBindings
from anywarp.frameworks.tensorrt.computing import Tensor, compute, shapes_with_zeros
from anywarp.frameworks.tensorrt.dims import Dims, Unknown
from anywarp.frameworks.tensorrt.enums import ProfilingVerbosity
from anywarp.frameworks.tensorrt.model import Port

Shape = tuple[int, ...]


class _Refused(Exception):
    """What a call is refused with: told to the logger."""


class IExecutionContext(ContextBindings):
    """Executes an engine."""

    __slots__ = (
        "_addresses", "_allocators", "_consumed", "_profile", "_set", "debug_sync", "device_memory", "engine", "enqueue_emits_profile", "error_recorder",
        "name", "nvtx_verbosity", "persistent_cache_limit", "profiler", "temporary_allocator",
    )  # fmt: skip

    def __init__(self, engine: Any):
        self.engine, self.name = engine, ""
        self._set: dict[str, Shape] = {}
        self._addresses: dict[str, int] = {}
        self._allocators: dict[str, Any] = {}
        self._profile, self._consumed, self.debug_sync, self.enqueue_emits_profile = 0, 0, False, True
        self.profiler = self.error_recorder = self.temporary_allocator = self.device_memory = None
        self.persistent_cache_limit, self.nvtx_verbosity = 0, ProfilingVerbosity.LAYER_NAMES_ONLY

    active_optimization_profile = property(lambda self: self._profile)
    all_binding_shapes_specified = property(lambda self: not self.infer_shapes())
    all_shape_inputs_specified = True

    def __enter__(self) -> IExecutionContext:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def _error(self, function: str, text: str) -> bool:
        self.engine.error(f"IExecutionContext.{function}", text)
        return False

    # Shapes

    def set_optimization_profile_async(self, profile_index: int, stream_handle: int) -> bool:
        """Choose a profile, which forgets the shapes that were set."""
        if not 0 <= profile_index < self.engine.num_optimization_profiles:
            return self._error("set_optimization_profile_async", f"there is no optimization profile {profile_index}")
        if profile_index != self._profile:
            self._profile = profile_index
            self._set.clear()
        return True

    def set_input_shape(self, name: str, shape: Any) -> bool:
        """Set the shape of an input, within the profile's range."""
        port: Port | None = self.engine.find(name, "set_input_shape")
        sizes = tuple(int(size) for size in shape)
        if port is None or not port.is_input:
            return self._error("set_input_shape", f"{name} is not an input")
        low, _, high = self.engine.range_of(port, self._profile)
        if len(sizes) != len(low) or not all(a <= size <= b for a, size, b in zip(low, sizes, high)):
            text = f"{Dims(sizes)} for {name} is outside of optimization profile {self._profile}, {Dims(low)} to {Dims(high)}"
            return self._error("set_input_shape", text)
        self._set[name] = sizes
        return True

    def infer_shapes(self) -> list[str]:
        """Return the names of inputs whose shapes are still to be set."""
        return [port.name for port in self.engine.ports if port.is_input and -1 in self._given(port)]

    def _given(self, port: Port) -> Shape:
        return self._set.get(port.name, port.shape)

    def get_tensor_shape(self, name: str) -> Dims:
        """Return a shape, with those of the inputs as set; -1 where it is not known before it is computed."""
        port: Port | None = self.engine.find(name, "get_tensor_shape")
        if port is None:
            return Unknown()
        return Dims(self._given(port) if port.is_input else self._shape_of(port) or port.shape)

    def _shape_of(self, port: Port) -> Shape | None:
        """Return an output's shape, with -1 in it or None where it is not known."""
        if self.infer_shapes():
            return port.shape
        given = {each.name: self._given(each) for each in self.engine.ports if each.is_input}
        known = self.engine.shapes.outputs(given)
        if not self.engine.depends_on_data and any(shape is None or -1 in shape for shape in known.values()):
            known.update(shapes_with_zeros(self.engine.session, self.engine.ports, given))
        return known[port.name]

    def get_tensor_strides(self, name: str) -> Dims:
        """Return how many elements lie between neighbours in each dimension."""
        shape = list(self.get_tensor_shape(name))
        return Dims(math.prod(shape[number + 1 :]) for number in range(len(shape)))

    def get_max_output_size(self, name: str) -> int:
        """Return the bytes of an output with the inputs as set, -1 where that is not known."""
        port: Port | None = self.engine.find(name, "get_max_output_size")
        shape = None if port is None or port.is_input else self._shape_of(port)
        return -1 if port is None or shape is None or -1 in shape else port.size(shape)

    # Addresses

    def set_tensor_address(self, name: str, memory: int) -> bool:
        """Say where a tensor lies."""
        if self.engine.find(name, "set_tensor_address") is None:
            return False
        self._addresses[name] = int(memory)
        return True

    def get_tensor_address(self, name: str) -> int:
        """Return where a tensor lies, 0 where that was not said."""
        return self._addresses.get(name, 0)

    def set_output_allocator(self, name: str, output_allocator: Any) -> bool:
        """Have the program allocate an output when its size is known."""
        port: Port | None = self.engine.find(name, "set_output_allocator")
        if port is None or port.is_input:
            return False
        self._allocators[name] = output_allocator
        return True

    def get_output_allocator(self, name: str) -> Any:
        """Return what allocates an output."""
        return self._allocators.get(name)

    def set_input_consumed_event(self, event: int) -> bool:
        """Record an event when the inputs may be written again."""
        self._consumed = int(event)
        return True

    def get_input_consumed_event(self) -> int:
        """Return that event, 0 for none."""
        return self._consumed

    def set_aux_streams(self, aux_streams: Any) -> None:
        """Take streams for what could run beside: there is nothing."""

    def report_to_profiler(self) -> bool:
        """Refuse: the profiler is told after each execution."""
        return self._error("report_to_profiler", "the profiler is told after each execution")

    def take_addresses(self, bindings: Any, function: str) -> bool:
        """Take an address for each number, as up to TensorRT 9."""
        ports, given = self.engine.ports, [int(each) for each in bindings]
        if len(given) not in (len(ports), self.engine.num_bindings):
            return self._error(function, f"there are {len(given)} addresses for {len(ports)} inputs and outputs")
        first = self._profile * len(ports) if len(given) > len(ports) else 0
        self._addresses = {port.name: given[first + number] for number, port in enumerate(ports)}
        return True

    # Execution

    def execute_v2(self, bindings: Any) -> bool:
        """Execute with an address for each number, in their order, and wait."""
        return self.take_addresses(bindings, "execute_v2") and self._execute(0, "execute_v2", wait=True)

    def execute_async_v3(self, stream_handle: int) -> bool:
        """Execute in a stream, behind all that was given to it. False with a message when something is missing."""
        return self._execute(int(stream_handle), "execute_async_v3")

    def _execute(self, stream: int, function: str, wait: bool = False) -> bool:
        try:
            tensors = self._tensors()
            later = [each for each in tensors if each.shape is None]
            if later or self.profiler is not None:
                self._at_once(stream, tensors)
            else:
                streams.submit(stream, lambda: compute(self.engine.session, tensors))
            if self._consumed:
                streams.record(self._consumed, stream)
            if wait:
                streams.synchronize(stream)
        except (_Refused, RuntimeError) as error:
            return self._error(function, str(error))
        return True

    def _tensors(self) -> list[Tensor]:
        """Return all tensors; _Refused where a shape or an address is missing or the memory there is too small."""
        if missing := self.infer_shapes():
            raise _Refused(f"the shape of the input {missing[0]} was not set")
        return [self._tensor(port) for port in self.engine.ports]

    def _tensor(self, port: Port) -> Tensor:
        shape = self._given(port) if port.is_input else self._shape_of(port)
        shape = None if shape is None or -1 in shape or port.name in self._allocators else shape
        address = self._addresses.get(port.name, 0)
        if port.name not in self._allocators:
            self._check(port, 1 if shape is None else port.size(shape), address)
        return Tensor(port, shape, address)

    @staticmethod
    def _check(port: Port, size: int, address: int) -> None:
        if size == 0:
            return
        if address == 0:
            raise _Refused(f"the address of {port.name} was not set")
        room = streams.room_at(address)
        if room < size:
            what = f"{room} bytes of memory lie" if room else "no memory of CUDA's lies"
            raise _Refused(f"{what} at the address of {port.name}, {address:#x}, which has {size}")

    def _at_once(self, stream: int, tensors: list[Tensor]) -> None:
        """Wait for the stream and compute on this thread: the program is to allocate outputs, or to be told times."""
        streams.synchronize(stream)
        begin = time.perf_counter()
        for name, value in compute(self.engine.session, tensors).items():
            port = next(each.port for each in tensors if each.port.name == name)
            address = self._allocated(port, value, stream)
            self._check(port, value.nbytes, address)
            ctypes.memmove(address, value.ctypes.data, value.nbytes)
        if self.profiler is not None:
            self.profiler.report_layer_time(self.engine.name, (time.perf_counter() - begin) * 1e3)

    def _allocated(self, port: Port, value: Any, stream: int) -> int:
        """Return where an output goes: the program's allocator says it, or the address that was set."""
        allocator, current = self._allocators.get(port.name), self._addresses.get(port.name, 0)
        if allocator is None:
            return current
        size = max(1, value.nbytes)
        if hasattr(allocator, "reallocate_output_async"):
            address = allocator.reallocate_output_async(port.name, current, size, 256, stream)
        else:
            address = allocator.reallocate_output(port.name, current, size, 256)
        if not address:
            raise _Refused(f"the program's allocator gave no memory for {port.name}, {size} bytes")
        allocator.notify_shape(port.name, Dims(value.shape))
        return int(address)

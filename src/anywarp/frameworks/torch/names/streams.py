"""Names of torch._C about streams and events.

Both are built on torch's own classes, which reach our driver through the device guard, so that torch.Stream and torch.Event
work with them; what torch's classes lack comes from the stand-in's functions.
"""

# pyright: basic
from __future__ import annotations

import ctypes
from typing import Any

from anywarp.frameworks.torch import calls

CUDA = 1
"""The number of the device type `cuda` (c10/core/DeviceType.h)."""

_BLOCKING, _UNTIMED, _INTERPROCESS = 1, 2, 4
"""Flags of cuEventCreate."""


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    current = calls.returning(library, "awt_current_stream", ctypes.c_int64, ctypes.c_int)
    native = calls.returning(library, "awt_current_native_stream", ctypes.c_uint64, ctypes.c_int)
    chosen = calls.checked(library, "awt_set_stream", ctypes.c_int64, ctypes.c_int)
    capturing = calls.returning(library, "awt_capturing", ctypes.c_int)
    sleep = calls.checked(library, "awt_sleep", ctypes.c_int64)

    def get_current_stream(device: int) -> tuple[int, int, int]:
        return current(device), device, CUDA

    def set_stream(stream_id: int = 0, device_index: int = 0, device_type: int = CUDA) -> None:
        if device_type != CUDA:
            raise ValueError("device_type should be cuda")
        chosen(stream_id, device_index)

    return {
        "_CudaStreamBase": _stream_class(library),
        "_CudaEventBase": _event_class(library),
        "_cuda_getCurrentStream": get_current_stream,
        "_cuda_getDefaultStream": lambda device: (0, device, CUDA),
        "_cuda_getStreamFromExternal": lambda data_ptr, device: (data_ptr, device, CUDA),
        "_cuda_getCurrentRawStream": native,
        "_cuda_setStream": set_stream,
        "_cuda_synchronize": calls.checked(library, "awt_synchronize"),
        "_cuda_sleep": sleep,
        "_cuda_isCurrentStreamCapturing": lambda: bool(capturing()),
    }


def _stream_class(library: ctypes.CDLL) -> type:
    import torch

    made = calls.returning(library, "awt_new_stream", ctypes.c_int64, ctypes.c_int, ctypes.c_int)
    native = calls.returning(library, "awt_native_stream", ctypes.c_uint64, ctypes.c_int64, ctypes.c_int)
    priority_of = calls.returning(library, "awt_stream_priority", ctypes.c_int, ctypes.c_int64, ctypes.c_int)

    class _CudaStreamBase(compared()):
        def __new__(cls, priority=0, stream_id=0, device_index=0, device_type=0, stream_ptr=0):
            device = torch._C._cuda_getDevice()
            if stream_id or device_index or device_type:
                device = device_index
            elif stream_ptr:
                stream_id = stream_ptr
            else:
                stream_id = made(device, priority)
            return super().__new__(cls, stream_id=stream_id, device_index=device, device_type=CUDA)

        @property
        def cuda_stream(self) -> int:
            return native(self.stream_id, self.device_index)

        @property
        def priority(self) -> int:
            return priority_of(self.stream_id, self.device_index)

        @staticmethod
        def priority_range() -> tuple[int, int]:
            return 0, -3  # lowest and highest, as torch has them on every GPU

    return _CudaStreamBase


def compared() -> type:
    """Return torch's class of streams, of which two are the same that have one number on one device."""
    import torch

    class Compared(torch._C.Stream):
        def __eq__(self, other: Any) -> bool:
            if not isinstance(other, torch._C.Stream):
                return NotImplemented
            return (self.stream_id, self.device) == (other.stream_id, other.device)

        def __hash__(self) -> int:
            return hash((self.stream_id, self.device_index))

    return Compared


def _event_class(library: ctypes.CDLL) -> type:
    import torch

    u64, i64, i32 = ctypes.c_uint64, ctypes.c_int64, ctypes.c_int
    make = calls.returning(library, "awt_event_make", u64, i32, ctypes.c_uint)
    record = calls.checked(library, "awt_event_record", u64, i64, i32)
    record_external = calls.checked(library, "awt_event_record_external", u64, i64, i32)
    wait = calls.checked(library, "awt_event_wait", u64, i64, i32, i32)
    query = calls.returning(library, "awt_event_query", i32, u64)
    synchronize = calls.checked(library, "awt_event_synchronize", u64)
    elapsed = calls.returning(library, "awt_event_elapsed", ctypes.c_double, u64, u64)
    export = calls.checked(library, "awt_event_export", u64, ctypes.c_char_p)
    load = calls.returning(library, "awt_event_import", u64, i32, ctypes.c_char_p)
    destroy = library.awt_event_destroy
    destroy.argtypes, destroy.restype = (u64,), None
    flags_of_next = library.awt_next_event_flags
    flags_of_next.argtypes, flags_of_next.restype = (ctypes.c_uint,), None

    class _CudaEventBase(torch._C.Event):
        """Its CUevent is that of torch's event inside, but for those of other processes and external ones, which it owns."""

        _own: int = 0
        _owner: calls.Owner
        _timed: bool
        _flags: int
        _external: bool
        _device: int | None

        def __new__(cls, enable_timing=False, blocking=False, interprocess=False, external=False):
            if interprocess and enable_timing:
                raise ValueError("events that processes share cannot be timed")
            made = super().__new__(cls, torch.device("cuda"), enable_timing=enable_timing)
            made._timed = bool(enable_timing)
            made._flags = _BLOCKING * bool(blocking) | _INTERPROCESS * bool(interprocess)
            made._external = bool(external)
            made._device = None
            return made

        def _keep(self, event: int) -> None:
            self._own, self._owner = event, calls.Owner(destroy, event)

        @property
        def cuda_event(self) -> int:
            return self._own or self.event_id

        @property
        def device(self) -> Any:
            return None if self._device is None else torch.device("cuda", self._device)

        def _make(self, device: int) -> None:
            if not self.cuda_event:
                self._keep(make(device, self._flags | (0 if self._timed else _UNTIMED)))
            if self._device is None:
                self._device = device

        def _require_device(self, stream: Any) -> None:
            if self._device is not None and self._device != stream.device_index:
                raise RuntimeError(
                    f"Event device {self._device} does not match recording stream's device {stream.device_index}."
                )

        def record(self, stream: Any = None) -> None:
            stream = torch.cuda.current_stream() if stream is None else stream
            self._require_device(stream)
            if self._external:
                self._make(stream.device_index)
                return record_external(self._own, stream.stream_id, stream.device_index)
            if self._own:
                return record(self._own, stream.stream_id, stream.device_index)
            flags_of_next(0 if self.event_id else self._flags)
            super().record(stream)
            self._device = stream.device_index
            return None

        def wait(self, stream: Any = None) -> None:
            stream = torch.cuda.current_stream() if stream is None else stream
            wait(self.cuda_event, stream.stream_id, stream.device_index, self._external)

        def query(self) -> bool:
            return bool(query(self.cuda_event))

        def synchronize(self) -> None:
            synchronize(self.cuda_event)

        def elapsed_time(self, end_event: Any) -> float:
            if not (self._timed and getattr(end_event, "_timed", True)):
                raise ValueError("Both events must be created with argument 'enable_timing=True'.")
            return elapsed(self.cuda_event, getattr(end_event, "cuda_event", None) or end_event.event_id)

        def ipc_handle(self) -> bytes:
            self._make(torch._C._cuda_getDevice() if self._device is None else self._device)
            out = ctypes.create_string_buffer(64)
            export(self.cuda_event, out)
            return out.raw

        @classmethod
        def from_ipc_handle(cls, device: Any, handle: bytes) -> Any:
            if len(handle) != 64:
                raise ValueError(f"cudaIpcEventHandle_t expected 64 bytes, got {len(handle)}")
            made = cls(interprocess=True)
            made._device = torch.device(device).index or 0
            made._keep(load(made._device, bytes(handle)))
            return made

    return _CudaEventBase

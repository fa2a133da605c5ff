"""Work in a stream of the program, done by Python: behind everything given to the stream, as a kernel would be.

An idle stream is served on the calling thread, else the driver calls back later (native/core/native_work.h). Device memory is
host memory at stable addresses; each address that is to be read or written is first looked up among the driver's allocations.
"""

# pyright: basic
from __future__ import annotations

import atexit
import ctypes
import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

from anywarp import settings

_Perform = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_RANGE_START, _RANGE_SIZE = 11, 12  # CUpointer_attribute
LAUNCH_FAILED = 719


class DriverError(RuntimeError):
    """Raised when the driver refuses; `code` is a CUresult."""

    def __init__(self, function: str, code: int):
        super().__init__(f"{function} returned {code}")
        self.code = code


class _Work(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("perform", _Perform),
        ("release", _Perform),
        ("data", ctypes.c_void_p),
        ("waits", ctypes.c_bool),
    ]


_jobs: dict[int, Callable[[], object]] = {}
_numbers = itertools.count(1)
_NAME = ctypes.create_string_buffer(b"tensorrt")


@_Perform
def _perform(data: Any) -> None:
    try:
        _jobs[data]()
    except Exception as error:
        _call("anywarp_fail", LAUNCH_FAILED, str(error).encode())


@_Perform
def _release(data: Any) -> None:
    _jobs.pop(data, None)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(settings.LIBRARY_DIR.get().resolve() / "libcuda.so.1"))


def _call(function: str, *arguments: Any) -> int:
    return getattr(_library(), function)(*arguments)


def _require(function: str, *arguments: Any) -> None:
    if code := _call(function, *arguments):
        raise DriverError(function, code)


def ensure_context() -> None:
    """Make the device's primary context current where the thread has none; DriverError."""
    context = ctypes.c_void_p()
    if _call("cuCtxGetCurrent", ctypes.byref(context)) == 0 and context.value:
        return
    _require("cuInit", 0)
    _require("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    _require("cuCtxSetCurrent", context)


def submit(stream: int, job: Callable[[], object]) -> None:
    """Put a job behind what was given to a stream (a CUstream or cudaStream_t); under capture, a node of the graph.

    The job must not call CUDA; what it raises is an error of the context, as a kernel's fault. DriverError when refused.
    """
    ensure_context()
    number = next(_numbers)
    _jobs[number] = job
    work = _Work(ctypes.cast(_NAME, ctypes.c_char_p), _perform, _release, number, False)
    _require("anywarp_native_work", ctypes.c_void_p(stream), ctypes.byref(work))


def synchronize(stream: int) -> None:
    """Wait until a stream has done everything; DriverError also for what failed before."""
    ensure_context()
    _require("cuStreamSynchronize", ctypes.c_void_p(stream))


def record(event: int, stream: int) -> None:
    """Record an event in a stream."""
    _require("cuEventRecord", ctypes.c_void_p(event), ctypes.c_void_p(stream))


def room_at(address: int) -> int:
    """Return how many bytes of an allocation of the driver's lie behind an address, 0 where it knows none."""
    ensure_context()
    start, size = ctypes.c_uint64(), ctypes.c_uint64()
    for which, into in ((_RANGE_START, start), (_RANGE_SIZE, size)):
        if _call("cuPointerGetAttribute", ctypes.byref(into), which, ctypes.c_uint64(address)):
            return 0
    return max(0, start.value + size.value - address)


@atexit.register
def _finish() -> None:
    """Let the driver finish what would call back into an interpreter that has ended."""
    if _jobs:
        _call("cuCtxSynchronize")

"""`torch.cuda.cudart()`: the few functions of CUDA's runtime that torch hands out, answered by our driver.

They return error codes instead of raising, as the runtime does; the codes of driver and runtime are the same numbers.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import enum
import types
from collections.abc import Callable
from typing import Any


class CudaError(enum.IntEnum):
    """A code of the runtime (cudaError_t); codes without a name here are members without a name, too."""

    success = 0

    @classmethod
    def _missing_(cls, value: object) -> CudaError | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_, member._value_ = "???", value
        return member


CudaError.__name__ = CudaError.__qualname__ = "cudaError"


def module(driver: ctypes.CDLL, enter: Callable[[], None]) -> types.ModuleType:
    """Return `torch._C._cudart`; `enter` makes the current device's context current on the calling thread."""
    cudart = types.ModuleType("torch._C._cudart", "CUDA runtime functions, served by anywarp's driver.")

    def code(name: str, *arguments: Any) -> CudaError:
        enter()
        return CudaError(getattr(driver, name)(*arguments))

    def get_error_string(error: int) -> str:
        text = ctypes.c_char_p()
        known = driver.cuGetErrorString(int(error), ctypes.byref(text)) == 0
        return (text.value or b"").decode() if known else "unrecognized error code"

    def memory(device: int) -> tuple[int, int]:
        import torch

        with torch.cuda.device(device):
            available, total = ctypes.c_size_t(), ctypes.c_size_t()
            failed = code("cuMemGetInfo_v2", ctypes.byref(available), ctypes.byref(total))
        if failed:
            raise RuntimeError(f"CUDA error: {get_error_string(failed)}")
        return available.value, total.value

    def address(value: int) -> ctypes.c_void_p:
        return ctypes.c_void_p(int(value))

    functions: dict[str, Any] = {
        "cudaError": CudaError,
        "cudaGetErrorString": get_error_string,
        "cudaProfilerStart": lambda: code("cuProfilerStart"),
        "cudaProfilerStop": lambda: code("cuProfilerStop"),
        "cudaHostRegister": lambda pointer, size, flags: code(
            "cuMemHostRegister_v2", address(pointer), ctypes.c_size_t(size), ctypes.c_uint(flags)
        ),
        "cudaHostUnregister": lambda pointer: code("cuMemHostUnregister", address(pointer)),
        "cudaStreamCreate": lambda pointer: code("cuStreamCreate", address(pointer), 0),
        "cudaStreamDestroy": lambda stream: code("cuStreamDestroy_v2", address(stream)),
        "cudaMemGetInfo": memory,
    }
    for name, value in functions.items():
        setattr(cudart, name, value)
    return cudart

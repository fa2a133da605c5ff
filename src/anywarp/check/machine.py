"""The CUDA driver of this process, as far as the self-test calls it: libcuda.so.1 through ctypes.

Whichever library the loader finds under that name is asked, so that the test sees what a program sees.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np

Shape: TypeAlias = "int | Sequence[int]"

PTX_REFUSED = frozenset({209, 218, 222, 801})
"""CUresult of a kernel that the device has no code for or cannot compile."""


class DriverError(RuntimeError):
    """A call of the driver failed: its name, the CUresult and its name."""

    def __init__(self, call: str, code: int, text: str, log: str = "") -> None:
        super().__init__(f"{call} returned {code} {text}" + (f": {log}" if log else ""))
        self.call, self.code = call, code


class Machine:
    """One context on one device. Buffers are numpy arrays, copied in before a launch and out after it."""

    def __init__(self, device: int = 0, library: str = "libcuda.so.1") -> None:
        self.library = ctypes.CDLL(library)
        self.call("cuInit", 0)
        handle, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(handle), device)
        self.device = handle.value
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver; DriverError unless it returns 0. Integers go as 32 bits unless they are ctypes."""
        code = getattr(self.library, name)(*arguments)
        if code:
            raise DriverError(name, code, self.error_name(code))

    def error_name(self, code: int) -> str:
        """Return the name of a CUresult."""
        text = ctypes.c_char_p()
        self.library.cuGetErrorName(code, ctypes.byref(text))
        return (text.value or b"?").decode()

    @cached_property
    def name(self) -> str:
        """The device's name, as the driver tells it."""
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, 256, self.device)
        return text.value.decode(errors="replace")

    @cached_property
    def memory(self) -> int:
        """The device's memory in bytes."""
        size = ctypes.c_size_t()
        self.call("cuDeviceTotalMem_v2", ctypes.byref(size), self.device)
        return size.value

    @cached_property
    def version(self) -> int:
        """The driver's version, 1000 * major + 10 * minor."""
        found = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(found))
        return found.value

    def attribute(self, number: int) -> int:
        """Return a device attribute."""
        found = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(found), number, self.device)
        return found.value

    def allocate(self, size: int) -> int:
        """Return the address of new device memory."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def free(self, address: int) -> None:
        """Free device memory."""
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def upload(self, address: int, data: np.ndarray[Any, Any]) -> None:
        """Copy an array to device memory."""
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.c_void_p(data.ctypes.data), _size(data))

    def download(self, data: np.ndarray[Any, Any], address: int) -> None:
        """Copy device memory to an array."""
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(data.ctypes.data), ctypes.c_uint64(address), _size(data))

    def load(self, ptx: str) -> ctypes.c_void_p:
        """Return a module made of PTX."""
        module, image = ctypes.c_void_p(), ptx.encode()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(image))
        return module

    def unload(self, module: ctypes.c_void_p) -> None:
        """Unload a module."""
        self.call("cuModuleUnload", module)

    def function(self, module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        """Return a kernel of a module."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def launch(
        self,
        function: ctypes.c_void_p,
        grid: Shape,
        block: Shape,
        values: Sequence[bytes],
        shared: int = 0,
        stream: Any = None,
    ) -> None:
        """Launch a kernel with its parameters' bytes."""
        cells = [ctypes.create_string_buffer(value, len(value)) for value in values]
        pointers = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(cell) for cell in cells))
        self.call("cuLaunchKernel", function, *_three(grid), *_three(block), shared, stream, pointers, None)

    def synchronize(self) -> None:
        """Wait for everything; DriverError for what went wrong in a kernel."""
        self.call("cuCtxSynchronize")

    def run(self, ptx: str, name: str, grid: Shape, block: Shape, args: Sequence[Any], dynamic_shared: int = 0) -> None:
        """Load PTX, run one kernel to its end and unload it.

        `args` in order: a numpy array is a buffer, updated in place; a numpy scalar or `bytes` goes as it is.
        """
        module = self.load(ptx)
        try:
            self.run_in(module, name, grid, block, args, dynamic_shared)
        finally:
            with contextlib.suppress(DriverError):  # after a fault every call fails
                self.unload(module)

    def run_in(
        self, module: ctypes.c_void_p, name: str, grid: Shape, block: Shape, args: Sequence[Any], shared: int = 0
    ) -> None:
        """Run one kernel of a loaded module to its end, as `run`."""
        buffers: list[tuple[np.ndarray[Any, Any], int]] = []
        values: list[bytes] = []
        try:
            for arg in args:
                if isinstance(arg, np.ndarray):
                    array = cast("np.ndarray[Any, Any]", arg)
                    buffers.append((array, self.allocate(array.nbytes)))
                    self.upload(buffers[-1][1], array)
                    values.append(buffers[-1][1].to_bytes(8, "little"))
                else:
                    values.append(arg if isinstance(arg, bytes) else arg.tobytes())
            self.launch(self.function(module, name), grid, block, values, shared)
            self.synchronize()
            for array, address in buffers:
                self.download(array, address)
        finally:
            with contextlib.suppress(DriverError):
                for _, address in buffers:
                    self.free(address)


def _size(data: np.ndarray[Any, Any]) -> ctypes.c_size_t:
    if not data.flags.c_contiguous:
        raise ValueError("a buffer must be contiguous")
    return ctypes.c_size_t(data.nbytes)


def _three(shape: Shape) -> tuple[int, int, int]:
    sides = (shape,) if isinstance(shape, int) else tuple(shape)
    return (
        (*sides, 1, 1)[:3]
        if len(sides) == 1
        else (*sides, 1)[:3]
        if len(sides) == 2
        else (sides[0], sides[1], sides[2])
    )

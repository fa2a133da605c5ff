"""The runtime library through ctypes, with argument types from the catalogue."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anywarp.catalogue.generate_runtime import split
from anywarp.catalogue.runtime import load

SUCCESS, INVALID_VALUE = 0, 1


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class Extent(ctypes.Structure):
    _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t)]


class Pos(ctypes.Structure):
    _fields_ = [("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("z", ctypes.c_size_t)]


class PitchedPtr(ctypes.Structure):
    _fields_ = [
        ("ptr", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("xsize", ctypes.c_size_t),
        ("ysize", ctypes.c_size_t),
    ]


class MemLocation(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class ChannelFormat(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("x", "y", "z", "w", "f")]


class IpcHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_byte * 64)]


BY_VALUE = {
    "dim3": Dim3,
    "struct cudaExtent": Extent,
    "struct cudaPitchedPtr": PitchedPtr,
    "struct cudaMemLocation": MemLocation,
    "struct cudaChannelFormatDesc": ChannelFormat,
    "cudaIpcMemHandle_t": IpcHandle,
    "cudaIpcEventHandle_t": IpcHandle,
    "size_t": ctypes.c_size_t,
    "unsigned long long": ctypes.c_ulonglong,
    "cudaGraphConditionalHandle": ctypes.c_ulonglong,
    "cudaTextureObject_t": ctypes.c_ulonglong,
    "cudaSurfaceObject_t": ctypes.c_ulonglong,
    "char": ctypes.c_byte,
    "unsigned int": ctypes.c_uint,
    "int": ctypes.c_int,
    "cudaError_t": ctypes.c_int,
    "cudaLaunchAttributeID": ctypes.c_int,
}


def c_type(declaration: str, name: str) -> type:
    """The ctypes type of a parameter."""
    text = re.sub(rf"\b{name}\b\s*$", "", declaration).replace("const ", "").strip()
    if "*" in text or declaration.endswith("]"):
        return ctypes.c_void_p
    if text in BY_VALUE:
        return BY_VALUE[text]
    return ctypes.c_int if text.startswith("enum ") else ctypes.c_void_p


class CudaError(AssertionError):
    """A function returned an error that the chapter did not expect."""


class Runtime:
    """`rt.cudaX(...)` must succeed, `rt.code.cudaX(...)` returns its error; variants for per-thread streams on request."""

    def __init__(self, major: int) -> None:
        self.major = major
        self.rows = {row.name: row for row in load().rows if major in row.majors}
        self._library = ctypes.CDLL(f"libcudart.so.{major}")
        self._functions: dict[str, Callable[..., object]] = {}
        self._per_thread = False
        self.code = _Codes(self)

    def has(self, name: str) -> bool:
        """Whether this version exports and implements a function."""
        return name in self.rows and self.rows[name].route == "custom"

    def raw(self, name: str) -> Callable[..., object]:
        """The function itself, or its variant where one is asked for."""
        if self._per_thread:
            name = next((n for n in (f"{name}_ptsz", f"{name}_ptds") if n in self.rows), name)
        if name not in self._functions:
            row = self.rows[name]
            function = self._library[name]
            function.argtypes = [c_type(d, n) for d, n in split(row.parameters(self.major))]
            results = {"const char *": ctypes.c_char_p, "void": None, "void **": ctypes.c_void_p}
            function.restype = results.get(row.result, BY_VALUE.get(row.result, ctypes.c_int))
            self._functions[name] = function
        return self._functions[name]

    @contextmanager
    def per_thread(self) -> Iterator[None]:
        """Within: every function that has a variant for per-thread default streams is called as that."""
        self._per_thread = True
        try:
            yield
        finally:
            self._per_thread = False

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("cuda"):
            raise AttributeError(name)

        def call(*arguments: object) -> None:
            error = self.raw(name)(*arguments)
            if error:
                raise CudaError(f"{name}: {self._library.cudaGetErrorName and error}")

        return call

    def out(self, name: str, kind: type, *arguments: object, after: tuple[object, ...] = ()) -> object:
        """Call a function whose first parameter is where a result goes; `kind` is the result's type."""
        place = kind()
        getattr(self, name)(*arguments, ctypes.byref(place), *after)
        return place.value


class _Codes:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __getattr__(self, name: str) -> Callable[..., object]:
        return self._runtime.raw(name)

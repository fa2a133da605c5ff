"""The same requests through the driver's interface and through the runtime's, so that one test covers both libraries."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import partial

from anywarp import settings
from native.by_hand import CudaError, Driver

HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
DEFAULT_KIND = 4  # cudaMemcpyDefault: the addresses say where they are

NAMES = {
    "malloc": ("cuMemAlloc_v2", "cudaMalloc"),
    "free": ("cuMemFree_v2", "cudaFree"),
    "malloc_async": ("cuMemAllocAsync", "cudaMallocAsync"),
    "free_async": ("cuMemFreeAsync", "cudaFreeAsync"),
    "stream": ("cuStreamCreate", "cudaStreamCreateWithFlags"),
    "destroy_stream": ("cuStreamDestroy_v2", "cudaStreamDestroy"),
    "wait_stream": ("cuStreamSynchronize", "cudaStreamSynchronize"),
    "event": ("cuEventCreate", "cudaEventCreateWithFlags"),
    "record": ("cuEventRecord", "cudaEventRecord"),
    "wait_event": ("cuEventSynchronize", "cudaEventSynchronize"),
    "stream_wait": ("cuStreamWaitEvent", "cudaStreamWaitEvent"),
    "destroy_event": ("cuEventDestroy_v2", "cudaEventDestroy"),
    "host_function": ("cuLaunchHostFunc", "cudaLaunchHostFunc"),
    "begin_capture": ("cuStreamBeginCapture_v2", "cudaStreamBeginCapture"),
    "end_capture": ("cuStreamEndCapture", "cudaStreamEndCapture"),
    "instantiate": ("cuGraphInstantiateWithFlags", "cudaGraphInstantiateWithFlags"),
    "launch_graph": ("cuGraphLaunch", "cudaGraphLaunch"),
    "destroy_graph": ("cuGraphDestroy", "cudaGraphDestroy"),
    "destroy_exec": ("cuGraphExecDestroy", "cudaGraphExecDestroy"),
    "synchronise": ("cuCtxSynchronize", "cudaDeviceSynchronize"),
}
OUTPUTS = {"malloc", "malloc_async", "stream", "event"}
"""Requests whose result is their first parameter."""


@dataclass(frozen=True)
class Interface:
    """One library's functions by what they do; kernels are launched by the driver in either case."""

    library: Driver
    driver: Driver
    runtime: bool

    def __getattr__(self, request: str):
        name = NAMES[request][self.runtime]
        return partial(self.library.out, name) if request in OUTPUTS else getattr(self.library, name)

    def code(self, request: str, *arguments: object) -> int:
        """Return the code of a request that may fail."""
        return self.library.code(NAMES[request][self.runtime], *arguments)

    def copy(self, target: int, source: int, size: int, stream: int) -> None:
        """Copy `size` bytes in a stream."""
        if self.runtime:
            self.library.cudaMemcpyAsync(target, source, size, DEFAULT_KIND, stream)
        else:
            self.library.cuMemcpyAsync(target, source, size, stream)

    def graph_of(self, stream: int, work) -> int:
        """Return an executable graph of what `work` gives the stream."""
        self.begin_capture(stream, 2)
        work()
        graph, made = ctypes.c_void_p(), ctypes.c_void_p()
        self.end_capture(stream, ctypes.byref(graph))
        self.instantiate(ctypes.byref(made), graph, 0)
        self.destroy_graph(graph)
        return made.value


def runtime_library(major: int = 13) -> Driver:
    """Load our libcudart."""
    return Driver(settings.LIBRARY_DIR.get() / f"libcudart.so.{major}")


__all__ = ["HOST_FUNCTION", "CudaError", "Interface", "runtime_library"]

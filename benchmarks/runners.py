"""The ways in which a benchmark kernel can be run: by hand-written C, through an OpenCL runtime, and by anywarp's libcuda.

Every runner offers the same three calls, so that the harness times all of them alike: prepare, launch (and wait), fetch.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from workloads import Arrays, Workload

SOURCES = Path(__file__).parent / "kernels"
EMPTY_PTX = b".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n\tret;\n}\n"
NATIVE_FLAGS = {
    "native": ["-O3", "-march=native"],
    "native-fast": ["-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math"],
}


class Runner(Protocol):
    """What the harness needs."""

    def prepare(self, work: Workload, arrays: Arrays) -> Any: ...
    def launch(self, state: Any, work: Workload) -> None: ...
    def fetch(self, state: Any) -> Arrays: ...


def aligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Copy to 64-byte aligned memory, as a device allocation would be."""
    raw = np.empty(array.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Native:
    """Plain C as a careful user writes it, compiled for this machine."""

    def __init__(self, flavour: str) -> None:
        self.flavour = flavour
        self.libraries: dict[Path, ctypes.CDLL] = {}

    def library(self, source: Path) -> ctypes.CDLL:
        """Compile a C file, once."""
        if source not in self.libraries:
            library = os.path.join(tempfile.mkdtemp(prefix="anywarp-bench-"), "native.so")
            flags = NATIVE_FLAGS[self.flavour]
            command = [os.environ.get("CC", "gcc"), *flags, "-w", "-fopenmp", "-fPIC", "-shared", str(source)]
            subprocess.run(
                [*command, "-o", library, "-lm", *(["-lmvec"] if "fast" in self.flavour else [])], check=True
            )
            self.libraries[source] = ctypes.CDLL(library)
        return self.libraries[source]

    def prepare(self, work: Workload, arrays: Arrays) -> Any:
        copies = [aligned(a) for a in arrays]
        pointers = (ctypes.c_void_p * len(copies))(*[c.ctypes.data for c in copies])
        return (
            getattr(self.library(SOURCES / work.folder / f"{work.folder or 'native'}.c"), work.kernel),
            pointers,
            (ctypes.c_int * 8)(*work.ints),
            (ctypes.c_float * 8)(*work.floats),
            copies,
        )

    def launch(self, state: Any, work: Workload) -> None:
        state[0](state[1], state[2], state[3])

    def fetch(self, state: Any) -> Arrays:
        return state[4]


class OpenCL:
    """An OpenCL CPU runtime chosen by a word of its platform's name ("Intel", "Portable")."""

    def __init__(self, vendor: str) -> None:
        import pyopencl as cl  # type: ignore[import-not-found]

        self.cl = cl
        platforms = [p for p in cl.get_platforms() if vendor in p.name]
        if not platforms:
            raise SystemExit(f"no OpenCL platform named {vendor}")
        device = platforms[0].get_devices()[0]
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context)
        self.subgroups = "cl_khr_subgroup_shuffle_relative" in device.extensions
        self.options = ["-DUSE_SG"] if self.subgroups else []

    def prepare(self, work: Workload, arrays: Arrays) -> Any:
        cl = self.cl
        if work.kernel == "reduce_shfl" and not self.subgroups:
            raise NotImplementedError("no sub-groups on this device")
        program = cl.Program(self.context, (SOURCES / work.folder / f"{work.kernel}.cl").read_text()).build(
            self.options
        )
        kernel = cl.Kernel(program, work.kernel)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        buffers = [cl.Buffer(self.context, flags, max(a.nbytes, 4)) for a in arrays]
        for buffer, array in zip(buffers, arrays, strict=True):
            cl.enqueue_copy(self.queue, buffer, np.ascontiguousarray(array))
        ints = [np.int32(i) for i in work.ints[: work.kernel_ints]]
        kernel.set_args(*buffers, *ints, *[np.float32(f) for f in work.floats])
        self.queue.finish()
        return kernel, buffers, arrays

    def launch(self, state: Any, work: Workload) -> None:
        total = [g * b for g, b in zip(work.grid, work.block, strict=True)]
        self.cl.enqueue_nd_range_kernel(self.queue, state[0], total, list(work.block))
        self.queue.finish()

    def fetch(self, state: Any) -> Arrays:
        copies = [np.empty_like(a) for a in state[2]]
        for copy, buffer in zip(copies, state[1], strict=True):
            self.cl.enqueue_copy(self.queue, copy, buffer)
        self.queue.finish()
        return copies


class Cuda:
    """The CUDA driver API of whatever libcuda.so.1 the process finds: anywarp's under `anywarp run`."""

    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.check(self.cuda.cuInit(0))
        context, device = ctypes.c_void_p(), ctypes.c_int()
        self.check(self.cuda.cuDeviceGet(ctypes.byref(device), 0))
        self.check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        self.check(self.cuda.cuCtxSetCurrent(context))

    def check(self, status: int) -> None:
        if status:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(f"CUDA error {status}: {(text.value or b'').decode()}")

    def load(self, ptx: bytes, kernel: str) -> ctypes.c_void_p:
        """Load a module and return its kernel."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.cuda.cuModuleLoadData(ctypes.byref(module), ptx + b"\0"))
        self.check(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, kernel.encode()))
        return function

    def prepare(self, work: Workload, arrays: Arrays) -> Any:
        function = self.load((SOURCES / work.folder / f"{work.kernel}.ptx").read_bytes(), work.kernel)
        values: list[Any] = []
        for array in arrays:
            pointer = ctypes.c_uint64()
            self.check(self.cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(array.nbytes)))
            source = np.ascontiguousarray(array)
            self.check(
                self.cuda.cuMemcpyHtoD_v2(pointer, ctypes.c_void_p(source.ctypes.data), ctypes.c_size_t(array.nbytes))
            )
            values.append(pointer)
        values += [ctypes.c_int32(i) for i in work.ints[: work.kernel_ints]] + [ctypes.c_float(f) for f in work.floats]
        params = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        return function, params, values, arrays

    def launch(self, state: Any, work: Workload) -> None:
        shape = (*work.grid, 1, *work.block, 1)
        self.check(self.cuda.cuLaunchKernel(state[0], *shape, 0, None, state[1], None))
        self.check(self.cuda.cuCtxSynchronize())

    def fetch(self, state: Any) -> Arrays:
        copies = [np.empty_like(a) for a in state[3]]
        for copy, pointer in zip(copies, state[2], strict=False):
            self.check(
                self.cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(copy.ctypes.data), pointer, ctypes.c_size_t(copy.nbytes))
            )
        return copies


def make_runner(name: str) -> Runner:
    """Return the runner called `name`."""
    if name in NATIVE_FLAGS:
        return Native(name)
    return Cuda() if name == "anywarp" else OpenCL({"intel": "Intel", "pocl": "Portable"}[name])

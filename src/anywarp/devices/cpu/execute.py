"""Run kernels of the device `cpu` inside this process, on one thread, without the native libraries.

For tests of the compiler and for a first look at a kernel; programs go through libcuda instead.
"""

from __future__ import annotations

import ctypes
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NoReturn, TypeAlias

import numpy as np

from anywarp import settings
from anywarp.compiler.artifact import DEADLOCK, OK, PAUSED, REASONS, Artifact, AwLaunch, AwWorker
from anywarp.compiler.host_functions import HOST_FUNCTIONS
from anywarp.compiler.layout import ModuleLayout
from anywarp.compiler.options import read_options
from anywarp.compiler.pipeline import compile_kernel, describe_module
from anywarp.compiler.simd.machine_code import IMPORTS, LoadedObject, imported_symbols
from anywarp.compiler.simd.target import SimdTarget
from anywarp.devices.cpu.target import host_target
from anywarp.devices.cpu.tiles import ask_for_tiles
from anywarp.ptx.index import index_module

Shape: TypeAlias = "int | Sequence[int]"
_KERNEL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)


NO_BARRIER = 0xFFFFFFFF
"""`AwWorker.barrier_id` when threads wait for lanes that they name, and for no barrier."""

MOST_PAUSED = 1024
"""Blocks that may be under way at a time."""


class KernelTrap(RuntimeError):
    """The kernel trapped; block, warp and lane are in the message."""


class KernelDeadlock(RuntimeError):
    """Threads wait at a barrier that can never complete."""


_CTYPES: dict[str, Any] = {
    "void": None, "uint32_t": ctypes.c_uint32, "int32_t": ctypes.c_int32, "uint64_t": ctypes.c_uint64,
}  # fmt: skip


def _host_function(function: Callable[..., int | None]) -> Any:
    """Make `_name` callable from C as `aw_name` is described."""
    described = HOST_FUNCTIONS[f"aw{function.__name__}"]
    types = [described.result, *(type for type, _ in described.parameters)]
    return ctypes.CFUNCTYPE(*(_CTYPES.get(t, ctypes.c_void_p) for t in types))(function)


@_host_function
def _globaltimer() -> int:
    return time.time_ns()


@_host_function
def _nanosleep(nanoseconds: int) -> None:
    time.sleep(nanoseconds * 1e-9)


@_host_function
def _vprintf(worker: int, format: int, arguments: int) -> int:
    text = ctypes.string_at(format)
    print("device printf:", text)
    return text.count(b"%")


_blocks: dict[int, Any] = {}


@_host_function
def _malloc(worker: int, size: int) -> int:
    room = (ctypes.c_char * max(size, 1))()
    _blocks[ctypes.addressof(room)] = room
    return ctypes.addressof(room)


@_host_function
def _free(worker: int, address: int) -> None:
    _blocks.pop(address, None)


@_host_function
def _assertfail(worker: int, message: int, file: int, line: int, function: int) -> None:
    print("device assertion:", ctypes.string_at(message))


SERVICES: dict[str, Any] = {
    "aw_globaltimer": _globaltimer, "aw_nanosleep": _nanosleep, "aw_vprintf": _vprintf, "aw_malloc": _malloc, "aw_free": _free,
    "aw_assertfail": _assertfail,
}  # fmt: skip


@cache
def _native_library() -> ctypes.CDLL:
    return ctypes.CDLL(str(settings.LIBRARY_DIR.get() / "libcuda.so.1"))


def _services(code: bytes) -> dict[str, Any]:
    """The services that an object needs; those that exist in C++ only come from the built library."""
    missing = [n for n in imported_symbols(code) & IMPORTS if n.startswith("aw_") and n not in SERVICES]
    if not missing:
        return SERVICES
    find = _native_library().anywarp_service
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    return {**SERVICES, **{name: ctypes.c_void_p(find(name.encode())) for name in missing}}


def _texture_fault() -> str:
    """The text of a fault of the texture unit during the last launch."""
    find = _native_library().anywarp_service
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    return ctypes.CFUNCTYPE(ctypes.c_char_p)(find(b"aw_texture_fault"))().decode()


def three(shape: Shape) -> tuple[int, int, int]:
    """Return a grid or block shape with all three axes."""
    axes = (shape,) if isinstance(shape, int) else tuple(shape)
    x, y, z = (*axes, 1, 1, 1)[:3]
    return x, y, z


def aligned(size: int, fill: int = 0xCD) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return `size` bytes (at least one) at an address that is a multiple of 64, filled as memory never is by luck."""
    room = np.full(size + 128, fill, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + max(size, 1)]


class Loaded:
    """An artifact made callable."""

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact
        services = _services(artifact.object)
        self._textures = "aw_texture" in services
        self._object = LoadedObject(artifact.object, services)
        self._call: Any = self._object.function(artifact.symbol, _KERNEL)

    def launch(
        self,
        grid: Shape,
        block: Shape,
        params: bytes,
        module_data: np.ndarray[Any, np.dtype[np.uint8]] | None = None,
        dynamic_shared: int = 0,
        *,
        cooperative: bool = False,
    ) -> None:
        """Run all blocks of a grid; KernelTrap or KernelDeadlock if that is how it ends."""
        a, shape = self.artifact, three(block)
        threads = shape[0] * shape[1] * shape[2]
        warps = -(-threads // 32)
        total = (-(-a.shared_bytes // 16) * 16 if dynamic_shared else a.shared_bytes) + dynamic_shared
        sizes = (total + 64, a.frame_fixed + a.frame_per_warp * warps, a.local_bytes * warps * 32 + 64)
        buffer = aligned(max(len(params), a.param_bytes))
        buffer[: len(params)] = np.frombuffer(params, np.uint8)
        data = aligned(1) if module_data is None else module_data
        launch = AwLaunch()
        launch.grid[:], launch.block[:] = three(grid), shape
        launch.dynamic_shared, launch.shared_total = dynamic_shared, total
        launch.params, launch.module_data, launch.grid_id = buffer.ctypes.data, data.ctypes.data, 1
        launch.module_data_bytes = len(data)
        workspace = aligned(64)
        workspace[:] = 0
        launch.grid_workspace = workspace.ctypes.data if cooperative else 0
        x, y, z = three(grid)
        self._run_blocks(launch, x * y * z, sizes)

    def _run_blocks(self, launch: ctypes.Structure, blocks: int, sizes: tuple[int, int, int]) -> None:
        """Run blocks in order; one that waits for others is put aside with its memory, and gone back to in turn."""
        started, paused = 0, deque[_Running]()
        while started < blocks or paused:
            if started < blocks and len(paused) < MOST_PAUSED:
                running, first, count = _Running(sizes), started, blocks - started
            else:
                running = paused.popleft()
                first, count = running.block, 1
            worker, fresh = running.worker, first == started
            status = self._call(ctypes.addressof(launch), ctypes.addressof(worker), first, count)
            if self._textures and (fault := _texture_fault()):
                raise KernelTrap(fault)
            if status == PAUSED:
                x, y, z = worker.ctaid
                running.block = (z * launch.grid[1] + y) * launch.grid[0] + x
                worker.resume = 1
                started = max(started, running.block + 1)
                paused.append(running)
            elif status != OK:
                self._explain(status, worker)
            elif fresh:
                started = first + count

    @staticmethod
    def _explain(status: int, worker: ctypes.Structure) -> NoReturn:
        where = f"block {tuple(worker.ctaid)}, warp {worker.warp}"
        line = f" (line {worker.line} of the PTX)" if worker.line else ""
        if status == DEADLOCK and worker.barrier_id == NO_BARRIER:
            raise KernelDeadlock(f"threads wait for others of their warp that never arrive, in {where}{line}")
        if status == DEADLOCK:
            raise KernelDeadlock(f"threads wait at barrier {worker.barrier_id} for ever in {where}")
        raise KernelTrap(f"{REASONS[worker.reason]} in {where}, lane {worker.trap_lane}{line}")


class _Running:
    """A worker's record with the memory of the block that it runs."""

    def __init__(self, sizes: tuple[int, int, int]) -> None:
        self.worker = AwWorker()
        self.memory = [aligned(size) for size in sizes]
        self.worker.shared, self.worker.frame, self.worker.local = (m.ctypes.data for m in self.memory)
        self.block = 0


def pack_arguments(places: Sequence[tuple[int, int]], args: Sequence[Any]) -> bytes:
    """Return a parameter buffer: `places` are (offset, size); arrays go in as pointers, numpy scalars and bytes as they are."""
    if len(places) != len(args):
        raise TypeError(f"the kernel takes {len(places)} arguments, {len(args)} given")
    out = bytearray(max((o + s for o, s in places), default=0))
    for (offset, size), arg in zip(places, args, strict=True):
        if isinstance(arg, np.ndarray):
            raw = int(arg.ctypes.data).to_bytes(8, "little")
        elif isinstance(arg, (bytes, bytearray)):
            raw = bytes(arg)
        elif isinstance(arg, np.generic):
            raw = arg.tobytes()
        elif isinstance(arg, int):
            raw = (arg & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        else:
            raw = (np.float32(arg) if size == 4 else np.float64(arg)).tobytes()
        if len(raw) != size:
            raise TypeError(f"argument {len(raw)} bytes long where the kernel takes {size}")
        out[offset : offset + size] = raw
    return bytes(out)


def usable_machine() -> SimdTarget:
    """Return the target for this machine, with the tiles that this process may use."""
    return host_target(tiles=ask_for_tiles())


class Program:
    """A PTX module whose kernels are compiled when first run, and the module's data."""

    def __init__(self, ptx: str, target: SimdTarget | None = None) -> None:
        self.index = index_module(ptx)
        self.target = target or usable_machine()
        self.layout: ModuleLayout = describe_module(self.index)
        self.data = aligned(len(self.layout.image) + 64, 0)
        self.data[: len(self.layout.image)] = np.frombuffer(self.layout.image, np.uint8)
        for place in self.layout.addresses:
            lowest = (place.mask & -place.mask).bit_length() - 1
            address = ((int(self.data.ctypes.data) + place.target) & place.mask) >> lowest
            raw = address.to_bytes(16, "little")[: place.width]
            self.data[place.offset : place.offset + place.width] = np.frombuffer(raw, np.uint8)
        self._loaded: dict[tuple[str, tuple[int, int, int] | None, str], Loaded] = {}

    def compile(self, name: str, block: tuple[int, int, int] | None, options: str = "gang=32") -> Loaded:
        """Return a kernel compiled for a block shape (None: any) with `options` (see compiler/options.py)."""
        key = (name, block, options)
        if key not in self._loaded:
            asked = read_options(options, block)
            if asked.checks:
                raise ValueError("checks need the runtime of libcuda: use `anywarp run --check`")
            self._loaded[key] = Loaded(compile_kernel(self.index, name, asked, self.target))
        return self._loaded[key]

    def run(
        self,
        name: str,
        grid: Shape,
        block: Shape,
        args: Sequence[Any],
        dynamic_shared: int = 0,
        *,
        any_shape: bool = False,
        options: str = "gang=32",
        cooperative: bool = False,
    ) -> None:
        """Launch a kernel; `any_shape` uses code that serves every block shape, `options` are those of its compilation."""
        entry = next(e for e in self.layout.entries if e.name == name)
        packed = pack_arguments([(p.offset, p.size) for p in entry.params], args)
        if three(grid)[0] * three(block)[0] > 1 << 30:
            any_shape = True  # see Specialisation.block
        code = self.compile(name, None if any_shape else three(block), options)
        code.launch(grid, block, packed, self.data, dynamic_shared, cooperative=cooperative)


def run_kernel(ptx: str, name: str, grid: Shape, block: Shape, args: Sequence[Any], dynamic_shared: int = 0) -> None:
    """Run kernel `name` of the module `ptx` over `grid` blocks of `block` threads.

    `args` in order: a numpy array is a device buffer, updated in place, and passes its address; a numpy scalar or `bytes` passes
    its bytes; an int or float is converted to the parameter's size. AnywarpError if it does not compile.
    """
    Program(ptx).run(name, grid, block, args, dynamic_shared)

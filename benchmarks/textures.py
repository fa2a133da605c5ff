"""What a texture fetch costs: the texture unit beside loads and arithmetic that compute the same, on one thread, in turns.

A unit in software has to win only where programs would otherwise write more; the ratio says how far it is from free.
"""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import numpy as np

from anywarp import settings
from anywarp.devices.cpu.execute import Program

PTX = Path(__file__).parent / "textures" / "textures.ptx"
SIZE, THREADS, FETCHES, TURNS = 256, 1 << 15, 16, 7
FLOAT = 0x20


class Linear(ctypes.Structure):
    _fields_ = [
        ("address", ctypes.c_uint64),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("bytes", ctypes.c_size_t),
    ]


class Pitched(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("format", ctypes.c_int), ("channels", ctypes.c_uint),
                ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("pitch", ctypes.c_size_t)]  # fmt: skip


class Memory(ctypes.Union):
    _fields_ = [("linear", Linear), ("pitched", Pitched), ("reserved", ctypes.c_int * 32)]


class Resource(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("memory", Memory), ("flags", ctypes.c_uint)]


class Sampling(ctypes.Structure):
    _fields_ = [("address", ctypes.c_int * 3), ("filter", ctypes.c_int), ("rest", ctypes.c_int * 22)]


def driver() -> ctypes.CDLL:
    """Load our libcuda and make a context."""
    library = ctypes.CDLL(str(settings.LIBRARY_DIR.get() / "libcuda.so.1"))
    context = ctypes.c_void_p()
    if library.cuInit(0) or library.cuCtxCreate_v2(ctypes.byref(context), 0, 0):
        raise SystemExit("the driver does not start")
    return library


def textures(library: ctypes.CDLL, picture: np.ndarray) -> dict[str, tuple[int, int]]:
    """Return handle and address of the picture as rows with linear filtering, and as plain memory."""
    address, handles = ctypes.c_uint64(), [ctypes.c_uint64(), ctypes.c_uint64()]
    library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(picture.nbytes))
    library.cuMemcpyHtoD_v2(address, ctypes.c_void_p(picture.ctypes.data), ctypes.c_size_t(picture.nbytes))
    rows = Pitched(address.value, FLOAT, 1, SIZE, SIZE, SIZE * 4)
    described = [
        Resource(3, Memory(pitched=rows)),
        Resource(2, Memory(linear=Linear(address.value, FLOAT, 1, picture.nbytes))),
    ]
    for handle, resource, linear in zip(handles, described, (1, 0), strict=True):
        sampling = Sampling((ctypes.c_int * 3)(1, 1, 1), linear)
        if library.cuTexObjectCreate(ctypes.byref(handle), ctypes.byref(resource), ctypes.byref(sampling), None):
            raise SystemExit("a texture cannot be made")
    return {"linear": (handles[0].value, address.value), "index": (handles[1].value, address.value)}


def main() -> None:
    """Print one line per kind of fetch."""
    picture = np.random.default_rng(1).random((SIZE, SIZE), np.float32)
    program, objects = Program(PTX.read_text()), textures(driver(), picture)
    for kind, (handle, address) in objects.items():
        best: dict[str, float] = {}
        results = {how: np.zeros(THREADS, np.float32) for how in ("unit", "hand")}
        for _ in range(TURNS):
            for how, out in results.items():
                start = time.thread_time()
                program.run(f"{kind}_{how}", THREADS // 256, 256, [np.uint64(handle), np.uint64(address), out, SIZE])
                best[how] = min(best.get(how, 9e9), time.thread_time() - start)
        np.testing.assert_allclose(results["unit"], results["hand"], rtol=1e-5)
        per = {how: spent / THREADS / FETCHES * 1e9 for how, spent in best.items()}
        print(
            f"{kind:8}{per['unit']:8.2f} ns per fetch, by hand {per['hand']:6.2f} ns, ratio {per['unit'] / per['hand']:.2f}"
        )


if __name__ == "__main__":
    main()

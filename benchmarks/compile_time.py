"""Measure how long the kernels of the set take from PTX to their first launch, cold and from the cache.

Each kernel is loaded and launched once in a fresh process with an empty cache, then in another with the cache filled; the
compile service is started beforehand, as it is in a program's second kernel. Prints ms per kernel and the ratio cold / warm.

    python benchmarks/compile_time.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def measure() -> dict[str, float]:
    """Return ms from module load to the end of the first launch for each distinct kernel, in this process."""
    import ctypes
    import time

    from runners import EMPTY_PTX, SOURCES, Cuda
    from workloads import workloads

    cuda = Cuda()
    cuda.load(EMPTY_PTX, "empty")  # brings the service up, where it is needed
    times: dict[str, float] = {}
    for work in workloads():
        if work.kernel in times:
            continue
        # All sizes 0: every kernel of the set then touches at most the start of its arrays.
        memory = (ctypes.c_uint64 * 8)()
        for slot in range(8):
            cuda.check(cuda.cuda.cuMemAlloc_v2(ctypes.byref(memory, slot * 8), ctypes.c_size_t(1 << 26)))
        values = [ctypes.c_uint64(memory[i]) for i in range(len(work.make()))]
        start = time.perf_counter()
        function = cuda.load((SOURCES / f"{work.kernel}.ptx").read_bytes(), work.kernel)
        numbers = [ctypes.c_int32(0) for _ in range(work.kernel_ints)] + [ctypes.c_float(f) for f in work.floats]
        arguments = [*values, *numbers]
        params = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(v) for v in arguments])
        cuda.check(cuda.cuda.cuLaunchKernel(function, 1, 1, 1, *work.block, 1, 0, None, params, None))
        cuda.check(cuda.cuda.cuCtxSynchronize())
        times[work.kernel] = (time.perf_counter() - start) * 1e3
        for slot in range(8):
            cuda.check(cuda.cuda.cuMemFree_v2(ctypes.c_uint64(memory[slot])))
    return times


def run(cache: str) -> dict[str, float]:
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, str(HERE / "compile_time.py"), "--worker"]
    environment = {**os.environ, "ANYWARP_CACHE_DIR": cache}
    return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout)


def main() -> None:
    if "--worker" in sys.argv:
        print(json.dumps(measure()))
        return
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = run(cache), run(cache)
    print(f"{'kernel':16}{'cold ms':>10}{'warm ms':>10}{'cold/warm':>11}")
    for name, value in cold.items():
        print(f"{name:16}{value:10.1f}{warm[name]:10.2f}{value / warm[name]:11.0f}")


if __name__ == "__main__":
    main()

"""Measure what a kernel launch costs: an empty kernel against a call of an empty C function through the same ctypes.

Prints the time of launch-and-wait, of launches queued in a batch, and their ratio to a bare foreign function call. It starts
itself again under `anywarp run`; with `--here` it takes whatever libcuda.so.1 the process finds.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from runners import EMPTY_PTX, Cuda


def microseconds(action: Callable[[], object], calls: int, rounds: int = 9) -> float:
    """Return the median over rounds of the mean time of one call."""
    means: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            action()
        means.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(means)


def main() -> None:
    if "--here" not in sys.argv:
        command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, __file__, "--here"]
        sys.exit(subprocess.run(command, check=False).returncode)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    cuda = Cuda()
    function = cuda.load(EMPTY_PTX, "empty")
    launch, wait = cuda.cuda.cuLaunchKernel, cuda.cuda.cuCtxSynchronize

    def both(blocks: int) -> None:
        launch(function, blocks, 1, 1, 32, 1, 1, 0, None, None, None)
        wait()

    def batch() -> None:
        for _ in range(100):
            launch(function, 1, 1, 1, 32, 1, 1, 0, None, None, None)
        wait()

    both(1)
    call = microseconds(ctypes.CDLL(None).getppid, 2000)
    rows = {
        "foreign call (getppid)": call,
        "launch and wait, 1 block": microseconds(lambda: both(1), 500),
        "launch and wait, 256 blocks": microseconds(lambda: both(256), 500),
        "launch in a batch of 100": microseconds(batch, 2, rounds=101) / 100,
    }
    for name, value in rows.items():
        print(f"{name:28} {value:8.2f} us  {value / call:7.1f} x a foreign call")


if __name__ == "__main__":
    main()

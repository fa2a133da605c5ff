"""Measure what calls of the runtime cost on one thread, against a call of an empty C function in the same program.

Builds `call_cost.cpp` against our own headers and our libcudart.so.13 and prints, for each call, its time, how often an empty call
fits in it, and the most that it should take.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from anywarp import settings
from anywarp.runtime import launch

HERE = Path(__file__).resolve().parent
HEADERS = HERE.parent / "src" / "anywarp" / "toolchain" / "include"

GOALS = {
    "cudaLaunchKernel": 5000,
    "cudaLaunchKernel_64_blocks": 5000,
    "cudaMemcpyAsync": 1000,
    "cudaEventRecord": 1000,
    "cudaStreamWaitEvent": 1000,
    "cudaGetDevice": 20,
    "cudaGetLastError": 20,
    "graph_kernel": 2000,
}
"""Nanoseconds a call should take at most, to give the work to the stream; for a graph, to replay 1,000 kernels, each."""


def build(folder: str) -> Path:
    """Compile the program; it finds the library on the path that `anywarp run` sets."""
    program = Path(folder) / "call_cost"
    library = settings.LIBRARY_DIR.get() / "libcudart.so.13"
    include = [f"-I{HEADERS / '13'}", f"-I{HEADERS}"]
    command = ["g++", "-std=c++17", "-O2", *include, str(HERE / "call_cost.cpp"), "-o", str(program), str(library)]
    rpath = [f"-Wl,-rpath-link,{library.parent}", "-Wl,--allow-shlib-undefined"]
    subprocess.run([*command, *rpath], check=True)
    return program


def main() -> None:
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[-2:]))
    with tempfile.TemporaryDirectory() as folder:
        environment = launch.environment("cpu", settings.environment())
        ran = subprocess.run([str(build(folder))], env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr)
    rows = {name: float(value) for name, value in (line.split() for line in ran.stdout.splitlines())}
    empty = rows.pop("empty")
    print(f"{'an empty call':28} {empty:10.1f} ns")
    for name, value in rows.items():
        goal = GOALS[name]
        verdict = "" if value <= goal else "  over"
        print(f"{name:28} {value:10.1f} ns {value / empty:9.1f} x   goal {goal} ns{verdict}")


if __name__ == "__main__":
    main()

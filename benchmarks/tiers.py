"""Measure whether code that is compiled soon is worth having: what it saves in compiling and what it costs in running.

Each kernel of the set is compiled fully and quickly and run, all in this process, in processor time. `pays below` is the time
that the full code must run in all for both ways to take equally long: a program that runs a kernel for less than that gains.

    python benchmarks/tiers.py [NAME...]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from runners import SOURCES, aligned
from workloads import Workload, workloads

from anywarp.devices.cpu.execute import Program, pack_arguments


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def measure(work: Workload, options: str) -> tuple[float, float]:
    """Return the seconds of compiling a kernel and of running it once, the best of three each."""
    text = (SOURCES / work.folder / f"{work.kernel}.ptx").read_text()
    shape = (*work.block, 1)
    compiled = min(seconds(lambda: Program(text).compile(work.kernel, shape, options)) for _ in range(3))
    program = Program(text)
    code = program.compile(work.kernel, shape, options)
    arrays = [aligned(a) for a in work.make()]
    entry = next(e for e in program.layout.entries if e.name == work.kernel)
    arguments = [*arrays, *work.ints[: work.kernel_ints], *work.floats]
    packed = pack_arguments([(p.offset, p.size) for p in entry.params], arguments)
    ran = min(seconds(lambda: code.launch(work.grid, work.block, packed, program.data)) for _ in range(4))
    return compiled, ran


def main() -> None:
    wanted = sys.argv[1:]
    print(
        f"{'kernel':16}{'PTX KB':>8}{'full ms':>9}{'quick ms':>10}{'ratio':>7}{'run full ms':>13}{'run ratio':>11}{'pays below ms':>15}"
    )
    compiling: list[float] = []
    running: list[float] = []
    for work in workloads():
        if wanted and work.name not in wanted:
            continue
        (full, fast), (quick, slow) = measure(work, ""), measure(work, "tier=quick")
        size = (SOURCES / work.folder / f"{work.kernel}.ptx").stat().st_size / 1024
        even = (full - quick) / (slow - fast) * fast if slow > fast else float("inf")
        compiling.append(quick / full)
        running.append(slow / fast)
        print(
            f"{work.name:16}{size:8.1f}{full * 1e3:9.1f}{quick * 1e3:10.1f}{quick / full:7.2f}{fast * 1e3:13.3f}{slow / fast:11.1f}"
            f"{even * 1e3:15.1f}",
            flush=True,
        )
    print(
        f"geomean: compiling {statistics.geometric_mean(compiling):.2f}, running {statistics.geometric_mean(running):.1f}"
    )


if __name__ == "__main__":
    main()

"""Compare anywarp with hand-written C and with OpenCL CPU runtimes over seventeen CUDA kernels, side by side in one run.

Every runner works in its own process, pinned to one processor with one thread, because shared virtual processors make
multi-threaded medians a measurement of the hypervisor. The result is a table of ratios to the best native time.

    python benchmarks/kernels.py                                        native C and anywarp
    python benchmarks/kernels.py --set untuned                          the same over kernels that nobody tuned for
    python benchmarks/kernels.py --set further                          and over a second choice of such
    python benchmarks/kernels.py --only-block-shape                     code that assumes nothing but the block shape
    python benchmarks/kernels.py --runners native,native-fast,intel,pocl,anywarp --python intel=VENV/bin/python --python pocl=VENV/bin/python

Intel's runtime needs `pip install pyopencl click rich intel-opencl-rt intel-cmplr-lib-rt` in the environment named by --python; POCL the first three, and Debian's
package pocl-opencl-icd with its folder in OCL_ICD_VENDORS (/etc/OpenCL/vendors).
"""

from __future__ import annotations

import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

HERE = Path(__file__).parent
SETS = {"main": "workloads", "untuned": "untuned", "further": "further"}
"""Sets of workloads by the module that has them."""

CEILING = "ceiling"
THREADS = (
    "OMP_NUM_THREADS",
    "POCL_MAX_COMPUTE_UNITS",
    "OPENBLAS_NUM_THREADS",
    "ANYWARP_THREADS",
    "CL_CONFIG_CPU_TBB_NUM_WORKERS",
)


def measure(name: str, chosen: str, only: set[str], repetitions: int, rounds: int) -> dict[str, Any]:
    """Run all workloads of a set with one runner in this process; times in ms (best round's median)."""
    from runners import make_runner

    workloads = importlib.import_module(SETS[chosen]).workloads

    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    runner, results = make_runner(name), dict[str, Any]()
    for work in workloads():
        if only and work.name not in only:
            continue
        try:
            arrays = work.make()
            start = time.perf_counter()
            state = runner.prepare(work, arrays)
            runner.launch(state, work)
            first = (time.perf_counter() - start) * 1e3
            error = work.verify(arrays, runner.fetch(state))
            runner.launch(state, work)
            medians = [median_of(partial(runner.launch, state, work), repetitions) for _ in range(rounds)]
            results[work.name] = {
                "ms": min(medians),
                "first_ms": first,
                "error": error,
                "right": bool(error <= work.tolerance),
            }
        except Exception as problem:  # one runner's failure is a cell of the table, not the end of the comparison
            results[work.name] = {"failed": f"{type(problem).__name__}: {problem}"[:200]}
        print(f"{name:12} {work.name:14} {results[work.name]}", file=sys.stderr, flush=True)
    return results


def measure_ceilings(chosen: str, only: set[str]) -> dict[str, Any]:
    """Return the time that each workload of a set takes at least on this machine, in ms."""
    from ceilings import Ceilings

    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    machine = Ceilings()
    works = [w for w in importlib.import_module(SETS[chosen]).workloads() if not only or w.name in only]
    return {work.name: machine.least_ms(work) for work in works}


def median_of(action: Any, repetitions: int, clock: Callable[[], float] = time.perf_counter) -> float:
    times: list[float] = []
    for _ in range(repetitions):
        start = clock()
        action()
        times.append((clock() - start) * 1e3)
    return statistics.median(times)


def run_worker(name: str, python: str, arguments: list[str], versions: str = "best") -> dict[str, Any]:
    """Run one runner in a child process and return its results. `versions`: of our code, as ANYWARP_VERSIONS has it."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "ANYWARP_VERSIONS": versions}
    command = [python, str(HERE / "kernels.py"), "--worker", name, *arguments]
    if name == "anywarp":
        command = [sys.executable, "-m", "anywarp", "run", "--", *command]
    if name == "intel":
        folder, prefix = tempfile.mkdtemp(prefix="anywarp-icd-"), Path(python).parent.parent / "lib"
        Path(folder, "intel.icd").write_text(f"{prefix / 'libintelocl.so'}\n")
        environment |= {"OCL_ICD_VENDORS": folder, "OPENCL_VENDOR_PATH": folder, "LD_LIBRARY_PATH": str(prefix)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    return json.loads(lines[-1]) if done.returncode == 0 and lines else {}


def ratios(results: dict[str, dict[str, Any]], names: list[str]) -> dict[str, dict[str, float]]:
    """Return time / best native time per runner and workload, for right results only."""
    native = [r for r in results if r.startswith("native")]
    out: dict[str, dict[str, float]] = {}
    for runner, rows in results.items():
        out[runner] = {}
        for name in names:
            best = min((results[n][name]["ms"] for n in native if results[n].get(name, {}).get("right")), default=None)
            if best and rows.get(name, {}).get("right"):
                out[runner][name] = rows[name]["ms"] / best
    return out


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def show(results: dict[str, dict[str, Any]], names: list[str], ceilings: dict[str, float]) -> None:
    from rich.console import Console
    from rich.table import Table

    relative = ratios(results, names)
    table = Table(
        "kernel",
        *[f"{r} ms" for r in results],
        "ceiling ms",
        *[f"{r}/native" for r in results if not r.startswith("native")],
    )
    for name in names:
        cells = [cell(rows.get(name, {})) for rows in results.values()]
        shown = [
            f"{relative[r][name]:.2f}" if name in relative[r] else "-" for r in results if not r.startswith("native")
        ]
        table.add_row(name, *cells, f"{ceilings[name]:.3f}" if name in ceilings else "-", *shown)
    means = [f"{geometric_mean(list(relative[r].values())):.2f}" for r in results if not r.startswith("native")]
    table.add_row("geometric mean", *["" for _ in results], "", *means)
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    console.print(processor())


def processor() -> str:
    """Return what this machine's processor calls itself, and what LLVM knows it as."""
    import llvmlite.binding as llvm

    lines = (line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines())
    words = {key.strip(): value.strip() for key, _, value in reversed(list(lines))}
    family, model = words.get("cpu family", "?"), words.get("model", "?")
    return f"{words.get('model name', 'unknown processor')}, family {family} model {model} ({llvm.get_host_cpu_name()})"


def cell(row: dict[str, Any]) -> str:
    if "ms" not in row:
        return "failed" if row else "-"
    return f"{row['ms']:.3f}" + ("" if row["right"] else " WRONG")


@click.command()
@click.option("--runners", default="native,native-fast,anywarp", show_default=True)
@click.option("--python", "pythons", multiple=True, metavar="RUNNER=PATH", help="the interpreter of one runner")
@click.option("--set", "chosen", type=click.Choice(list(SETS)), default="main", show_default=True)
@click.option("--only", default="", help="workloads, separated by commas")
@click.option("--repetitions", default=7, show_default=True)
@click.option("--rounds", default=3, show_default=True)
@click.option("--json", "output", type=click.Path(dir_okay=False), help="write all figures here")
@click.option("--only-block-shape", is_flag=True, help="our code assumes nothing of parameters")
@click.option("--worker", hidden=True)
def main(
    runners: str,
    pythons: tuple[str, ...],
    chosen: str,
    only: str,
    repetitions: int,
    rounds: int,
    output: str | None,
    only_block_shape: bool,
    worker: str | None,
) -> None:
    """Compare anywarp with native code and OpenCL runtimes, kernel by kernel."""
    if worker:
        named = set(filter(None, only.split(",")))
        found = (
            measure_ceilings(chosen, named)
            if worker == CEILING
            else measure(worker, chosen, named, repetitions, rounds)
        )
        print(json.dumps(found))
        return
    paths = dict(p.split("=", 1) for p in pythons)
    arguments = ["--set", chosen, "--only", only, "--repetitions", str(repetitions), "--rounds", str(rounds)]
    versions = "plain" if only_block_shape else "best"
    results = {r: run_worker(r, paths.get(r, sys.executable), arguments, versions) for r in runners.split(",")}
    ceilings = run_worker(CEILING, sys.executable, arguments)
    names = list(next(iter(results.values()), {}))
    show(results, names, ceilings)
    if output:
        figures = {"processor": processor(), "results": results, "ratios": ratios(results, names), "ceilings": ceilings}
        Path(output).write_text(json.dumps(figures, indent=1))
    failed = [n for n in names if not results.get("anywarp", {n: {"right": True}}).get(n, {}).get("right")]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

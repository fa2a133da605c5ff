"""What a user sees of each kernel from the first launch on: launch 1, 2, 5, 20, 100 in process 1, 2, 3, as ratios to native code.

Every kernel begins with an empty cache, which its later processes share. The first launch of a process contains what is
compiled or loaded for it.

    python benchmarks/processes.py                       the seventeen kernels of benchmarks/kernels.py
    python benchmarks/processes.py --versions best       where each first launch waits for the fastest code
    python benchmarks/processes.py --processor-time      where other work keeps the machine busy: what waits costs nothing then
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from kernels import HERE, SETS, THREADS, geometric_mean, median_of, processor

LAUNCHES = (1, 2, 5, 20, 100)
SUMS = (5, 20, 100)
"""Launches from the first on that are added up, of the second and third process over a process with ANYWARP_VERSIONS=best."""
PROCESSES = 3


def launch_times(runner_name: str, chosen: str, kernel: str, count: int, clock: Callable[[], float]) -> list[float]:
    """Launch a kernel `count` times in this process; what each took by a clock of seconds, in ms."""
    from runners import make_runner

    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    (work,) = (w for w in importlib.import_module(SETS[chosen]).workloads() if w.name == kernel)
    runner, times = make_runner(runner_name), list[float]()
    state = runner.prepare(work, work.make())
    if runner_name.startswith("native"):
        runner.launch(state, work)
        return [median_of(lambda: runner.launch(state, work), 7, clock) for _ in range(3)]
    for _ in range(count):
        start = clock()
        runner.launch(state, work)
        times.append((clock() - start) * 1e3)
    return times


def run(
    runner: str, chosen: str, kernel: str, environment: dict[str, str], options: list[str], python: str = sys.executable
) -> list[float]:
    """Return the launches' times in a process of their own."""
    command = [python, str(HERE / "processes.py"), "--set", chosen, "--worker", runner, "--only", kernel, *options]
    if runner == "anywarp":
        command = [python, "-m", "anywarp", "run", "--", *command]
    # The service that compiles is not pinned: it has the other processors.
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), **environment}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(chosen: str, kernel: str, versions: str, python: str, options: list[str]) -> dict[str, Any]:
    """Return the native time of a kernel and its launches' times in one process after the other, in ms."""
    native = min(min(run(n, chosen, kernel, {}, options)) for n in ("native", "native-fast"))
    with tempfile.TemporaryDirectory(prefix="anywarp-processes-") as cache:
        environment = {"ANYWARP_CACHE_DIR": cache, "ANYWARP_VERSIONS": versions, "ANYWARP_SERVICE_IDLE": "5"}
        processes = [run("anywarp", chosen, kernel, environment, options, python) for _ in range(PROCESSES)]
        first, second = (
            run("anywarp", chosen, kernel, {**environment, "ANYWARP_VERSIONS": "best"}, options, python)
            for _ in range(2)
        )
    sums = [[sum(times[:n]) / sum(second[:n]) for n in SUMS] for times in processes[1:]]
    return {"native": native, "processes": processes, "best": sorted(first[1:])[len(first) // 2], "sums": sums}


def show(results: dict[str, dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    heads = [f"{p + 1}: {n}" for p in range(PROCESSES) for n in LAUNCHES]
    heads += [f"{p + 1}: sum {n}" for p in range(1, PROCESSES) for n in SUMS]
    table = Table("kernel", "native ms", "best", *heads)
    rows: list[list[float]] = []
    for kernel, found in results.items():
        row = [found["best"], *(times[n - 1] for times in found["processes"] for n in LAUNCHES)]
        rows.append([x / found["native"] for x in row] + [x for sums in found["sums"] for x in sums])
        table.add_row(kernel, f"{found['native']:.3f}", *(f"{x:.2f}" for x in rows[-1]))
    means = [geometric_mean(list(column)) for column in zip(*rows, strict=True)]
    table.add_row("geometric mean", "", *(f"{x:.2f}" for x in means))
    console = Console(width=None if sys.stdout.isatty() else 220)
    console.print(table)
    console.print(processor())
    words = "columns: process: launch; best: the median with ANYWARP_VERSIONS=best; sums: over those of a second process with it"
    console.print(words, style="dim")


@click.command()
@click.option("--set", "chosen", type=click.Choice(list(SETS)), default="main", show_default=True)
@click.option("--only", default="", help="workloads, separated by commas")
@click.option("--versions", type=click.Choice(["automatic", "best", "plain"]), default="automatic", show_default=True)
@click.option("--python", default=sys.executable, help="of the environment that has the anywarp to measure")
@click.option(
    "--processor-time", is_flag=True, help="count the program's processor time, without what the compile service does"
)
@click.option("--json", "output", type=click.Path(dir_okay=False), help="write all figures here")
@click.option("--worker", hidden=True)
def main(
    chosen: str,
    only: str,
    versions: str,
    python: str,
    processor_time: bool,
    output: str | None,
    worker: str | None,
) -> None:
    """Show each kernel's launches by process."""
    if worker:
        print(
            json.dumps(
                launch_times(
                    worker, chosen, only, max(LAUNCHES), time.process_time if processor_time else time.perf_counter
                )
            )
        )
        return
    named = set(filter(None, only.split(",")))
    names = [w.name for w in importlib.import_module(SETS[chosen]).workloads() if not named or w.name in named]
    results: dict[str, dict[str, Any]] = {}
    for name in names:
        results[name] = measure(chosen, name, versions, python, ["--processor-time"] if processor_time else [])
        print(f"{name} done", file=sys.stderr, flush=True)
    show(results)
    if output:
        Path(output).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()

"""Measuring one cell: a model in a process of its own, or a command as a whole; until it is steady and there is enough of it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from anywarp import __version__
from anywarp.check.bench import energy, likeness, summary
from anywarp.check.bench.cell import Cell
from anywarp.check.bench.problems import FAILED, problem
from anywarp.check.bench.session import PATIENCE, Session, status_text, tail
from anywarp.check.store import Run

Step = Callable[[str], None]
"""Told from time to time what is being done."""

CHUNK = 0.25
"""Seconds of calls between two looks at the clock and the counters of energy."""
MOST_CALLS = 50_000
ENOUGH = 60
"""Fewest steady calls, where time allows."""
LONGEST = 10
"""So many times the seconds asked for are the most that a cell takes, if its calls are not longer."""
FEWEST_RUNS = 12


def measure(cell: Cell, step: Step) -> Run:
    """Measure a cell and return the result; AnywarpError (V034, V035)."""
    return _model(cell, step) if cell.form == "model" else _command(cell, step)


def _model(cell: Cell, step: Step) -> Run:
    meters = energy.meters(cards=bool(cell.words()))
    series: list[summary.Series] = []
    starts: list[dict[str, float]] = []
    memory: list[list[int]] = []
    about: dict[str, Any] = {}
    for number in range(cell.processes):
        step(f"{cell.title()}: starting process {number + 1} of {cell.processes}")
        with Session(cell.spec(), cell.words(), cell.ranks) as session:
            about = session.about
            starts.append(start_times(session))
            series.append(calls_until_steady(session, meters, cell, step))
            memory = session.memory()
    items = cell.sizes.get("batch", 1)
    result = summary.summarise(series, items, "inferences")
    result |= {"form": "model", "cell": cell.as_json(), "starts": starts, "memory": _memory(memory)}
    result["energy"] = {"joules_per_item": summary.energy(series, items), "not_read": meters.missing}
    result["alike"] = alike(cell, about)
    result["marks"] = summary.marks(series)
    return as_run(cell, result, about)


def start_times(session: Session) -> dict[str, float]:
    """Return what a process took before it was ready, in seconds: all of it, importing, loading, and its first call."""
    about = session.about
    return {
        "ready_s": session.ready_seconds,
        "import_s": about["import_ns"] / 1e9,
        "load_s": about["load_ns"] / 1e9,
        "first_call_s": session.first_ns / 1e9,
    }


def calls_until_steady(session: Session, meters: energy.Meters, cell: Cell, step: Step) -> summary.Series:
    """Have a model called until its times are steady and there are enough of them, or its time is up."""
    series = summary.Series(first=session.first_ns / 1e9)
    spent, last, looked_at = 0.0, series.first, 0
    state = meters.read()
    while True:
        count = max(1, min(2000, MOST_CALLS - len(series.times), int(CHUNK / max(last, 1e-7))))
        ranks = session.calls(count)
        add(series, ranks)
        state, before = meters.read(), state
        series.energy.append((len(series.times), meters.used(before, state)))
        spent += sum(series.times[-count:])
        last = min(series.times[-count:])
        if len(series.times) < max(2 * looked_at, 20) and spent < LONGEST * cell.seconds and len(series.times) < MOST_CALLS:  # fmt: skip
            continue
        looked_at = len(series.times) * 3 // 4
        found = series.look()
        counted = series.counted()
        step(f"{cell.title()}: {len(series.times)} calls, {found.kind if found else 'too few to tell'}")
        good = found is not None and found.kind != "not steady"
        if good and len(counted) >= ENOUGH and sum(counted) >= cell.seconds:
            return series
        if (spent >= LONGEST * cell.seconds and len(series.times) >= 20) or spent >= 3 * LONGEST * cell.seconds:
            return series
        if len(series.times) >= MOST_CALLS:
            return series


def add(series: summary.Series, ranks: Sequence[Sequence[int]]) -> None:
    """Add calls of all ranks (nanoseconds): a step takes as long as its slowest rank."""
    series.times += [max(each) / 1e9 for each in zip(*ranks, strict=True)]
    if not series.ranks:
        series.ranks = [[] for _ in ranks]
    for kept, new in zip(series.ranks, ranks, strict=True):
        kept += [x / 1e9 for x in new]


def _memory(peaks: Sequence[Sequence[int]]) -> dict[str, Any]:
    names = ("peak_rss", "device_peak", "device_reserved")
    found = {name: max(each[n] for each in peaks) for n, name in enumerate(names)}
    return {name: value for name, value in found.items() if value}


def alike(cell: Cell, about: dict[str, Any]) -> dict[str, Any]:
    """Return what must be alike of two models that are compared."""
    return {
        "form": "model", "model": about["digest"], "dtype": cell.dtype or "as loaded", "sizes": dict(cell.sizes),
        "inputs": list(cell.inputs), "compile": cell.compile, "graphs": cell.graphs, "ranks": about["ranks"],
        "tf32": about["tf32"], "versions": likeness.versions_alike(about["versions"]),
    }  # fmt: skip


def as_run(cell: Cell, result: dict[str, Any], about: dict[str, Any]) -> Run:
    """Return a result of measuring as a run of the store."""
    flags = {name: getattr(cell, name) for name in ("compile", "graphs", "ranks", "threads", "processes")}
    device = cell.side() + (f" ({about['device_name']})" if about.get("device_name") else "")
    return Run(
        "bench", result, device=device, model=cell.what, dtype=cell.dtype, digest=about.get("digest", cell.content()),
        key=cell.key(), versions={"anywarp": __version__, **about.get("versions", {})}, flags=flags,
    )  # fmt: skip


def _command(cell: Cell, step: Step) -> Run:
    meters = energy.meters()
    series = summary.Series()
    words = [*cell.words(), *cell.command]
    series.first, peak = run_once(words)
    spent, state = 0.0, meters.read()
    while _more_runs(len(series.times), spent, cell.seconds):
        took, memory = run_once(words)
        series.times.append(took)
        state, before = meters.read(), state
        series.energy.append((len(series.times), meters.used(before, state)))
        spent, peak = spent + took, max(peak, memory)
        step(f"{cell.title()}: {len(series.times)} runs")
    series.look()
    result = summary.summarise([series], 1, "runs")
    result |= {"form": "command", "cell": cell.as_json(), "memory": {"peak_rss": peak}}
    result["energy"] = {"joules_per_item": summary.energy([series], 1), "not_read": meters.missing}
    result["alike"] = {"form": "command", "command": cell.content()}
    result["marks"] = summary.marks([series])
    return as_run(cell, result, {})


def _more_runs(count: int, spent: float, seconds: float) -> bool:
    """Tell whether a command is to be run again: a long one, which may take minutes, fewer times."""
    if count < FEWEST_RUNS:
        return count < 3 or spent < 3 * LONGEST * seconds
    return spent < seconds and count < MOST_CALLS


def run_once(words: Sequence[str]) -> tuple[float, int]:
    """Run a command from its start to its end; return the seconds and the peak of its memory in bytes. AnywarpError (V034) where it fails."""
    with tempfile.TemporaryDirectory(prefix="anywarp-bench-") as folder:
        said = Path(folder) / "said"
        with said.open("wb") as file:
            start = time.perf_counter_ns()
            try:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
                )
            except OSError as error:
                raise problem(FAILED, f"{words[0]} cannot be started: {error.strerror}") from None
            timer = threading.Timer(PATIENCE, lambda: os.killpg(process.pid, signal.SIGKILL))
            timer.start()
            try:
                _, status, usage = os.wait4(process.pid, 0)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
            finally:
                timer.cancel()
            took = time.perf_counter_ns() - start
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            text = f"{' '.join(words)[:300]} ended{status_text(process.returncode)}{tail(said)}"
            raise problem(FAILED, text, "run it alone until it succeeds: only what succeeds is timed")
    assert isinstance(usage, resource.struct_rusage)
    return took / 1e9, usage.ru_maxrss * 1024

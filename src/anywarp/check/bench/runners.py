"""Measuring the cells of a matrix, one after the other here, or spread over the machines of a Ray cluster; what is known is not measured again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from anywarp.check.bench import single
from anywarp.check.bench.cell import Cell, from_json
from anywarp.check.bench.problems import FAILED, RAY, problem
from anywarp.check.bench.session import follow
from anywarp.check.bench.single import Step
from anywarp.check.store import Run, Store
from anywarp.check.store import run as runs
from anywarp.diagnostics import AnywarpError, Diagnostic


@dataclass(frozen=True)
class Outcome:
    """What became of a cell: its result, from earlier where `known`, or why there is none."""

    cell: Cell
    run: Run | None
    known: bool = False
    problem: Diagnostic | None = None


def here(cells: Sequence[Cell], store: Store, fresh: bool, step: Step) -> Iterator[Outcome]:
    """Measure each cell on this machine; keep each result at once, so that a matrix that is cut short goes on where it was."""
    for cell in cells:
        known = None if fresh else store.latest(cell.key())
        if known is not None:
            yield Outcome(cell, known, known=True)
            continue
        try:
            run = single.measure(cell, step)
        except AnywarpError as error:
            yield Outcome(cell, None, problem=error.diagnostic)
            continue
        store.add(run)
        yield Outcome(cell, run)


def within_torchrun(cells: Sequence[Cell], rank: int, store: Store, step: Step) -> Iterator[Outcome]:
    """Measure each cell together with the other processes of the user's torchrun: the first rank measures and keeps, the others follow it.

    All measure every cell anew, in one order, and end with the first that fails: nobody waits for a rank that does something else.
    """
    for cell in cells:
        try:
            if rank:
                for _ in range(cell.processes):
                    follow(cell.spec(), cell.words())
                continue
            run = single.measure(cell, step)
        except AnywarpError as error:
            yield Outcome(cell, None, problem=error.diagnostic)
            return
        store.add(run)
        yield Outcome(cell, run)


def over_ray(cells: Sequence[Cell], store: Store, fresh: bool, step: Step, address: str | None) -> Iterator[Outcome]:
    """Measure the cells on the machines of a Ray cluster (one on each at a time), or on a local Ray where no address is given.

    AnywarpError (V040) where Ray is missing or cannot be reached. Results are known by this machine's key: the same cell measured by another
    machine of the cluster counts as known.
    """
    try:
        import ray  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise problem(RAY, "the runner ray needs Ray", "pip install 'anywarp[ray]'") from None
    ray_api: Any = ray
    wanted: list[Cell] = []
    for cell in cells:
        known = None if fresh else store.latest(cell.key())
        if known is not None:
            yield Outcome(cell, known, known=True)
        else:
            wanted.append(cell)
    if not wanted:
        return
    try:
        ray_api.init(address=address, include_dashboard=False, log_to_driver=False, logging_level="error")
    except Exception as error:  # Ray's own kinds, and the system's
        raise problem(RAY, f"Ray cannot be reached: {error}", "ray start --head, or leave --ray-address out") from None
    try:
        yield from _measured(ray_api, wanted, store, step)
    finally:
        ray_api.shutdown()


def _measured(ray_api: Any, cells: Sequence[Cell], store: Store, step: Step) -> Iterator[Outcome]:
    # A machine's processors all belong to its one cell: two side by side would measure each other.
    nodes = [node["Resources"] for node in ray_api.nodes() if node["Alive"]]
    processors = min(int(node.get("CPU", 1)) for node in nodes)
    task = ray_api.remote(num_cpus=processors, max_retries=0)(measure_as_json)
    waiting = {task.remote(cell.as_json()): cell for cell in cells}
    while waiting:
        (done, *_), _ = ray_api.wait(list(waiting), num_returns=1)
        cell = waiting.pop(done)
        step(f"{cell.title()}: done; {len(waiting)} to go")
        try:
            said: Any = ray_api.get(done)
        except Exception as error:  # a worker that died
            yield Outcome(cell, None, problem=Diagnostic(FAILED, f"{cell.title()}: {type(error).__name__}: {error}"[:2000]))  # fmt: skip
            continue
        if "failed" in said:
            yield Outcome(cell, None, problem=Diagnostic(said["code"], said["failed"], help=said["help"]))
            continue
        from dataclasses import replace

        run = replace(runs.from_json(said, "the answer of a worker"), key=cell.key())
        store.add(run)
        yield Outcome(cell, run)


def measure_as_json(cell: dict[str, Any]) -> dict[str, Any]:
    """Measure a cell on this machine and return the result, or why there is none, as JSON."""
    try:
        return single.measure(from_json(cell), lambda _: None).as_json()
    except AnywarpError as error:
        said = error.diagnostic
        return {"failed": said.message, "code": said.code, "help": said.help}

"""Compile every PTX kernel that wheels carry for this processor, and write the table of docs/coverage/wheels.md.

What real packages ship is the measure of a PTX compiler. Each kernel is compiled in a child process that is killed when it takes
too long; results are kept line by line, so that hours of compiling can be stopped and taken up again.

    python benchmarks/wheel_coverage.py compile STATE.jsonl WHEEL... [--minutes N]     go on compiling, in a fixed random order
    python benchmarks/wheel_coverage.py table STATE.jsonl > docs/coverage/wheels.md    what is known so far
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.progress import Progress

from anywarp.compiler.calls import HOST_FUNCTIONS
from anywarp.diagnostics import AnywarpError
from anywarp.ptx import fatbin
from anywarp.ptx.index import index_module
from anywarp.ptx.inspect import contents, lacks
from anywarp.runtime.warm import likely_shapes


@dataclass(frozen=True, slots=True)
class Job:
    """One kernel of a wheel: where its PTX lies, and how many bytes of it are its own."""

    wheel: str
    module: Path
    kernel: str
    bytes: int
    lacks: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"{self.wheel} {self.kernel}"


def ptx_of(wheel: Path) -> Iterator[bytes]:
    """Yield the text of every PTX image in a wheel that a device of ours may be given (no `a` and `f` variants)."""
    for name, content in contents(wheel):
        try:
            for image in fatbin.images(content):
                if image.kind == "ptx" and not image.variant:
                    yield image.payload().rstrip(b"\0")
        except AnywarpError as error:
            click.echo(f"{name}: {error.diagnostic.message}", err=True)


def jobs_of(wheel: Path, room: Path) -> list[Job]:
    """List the kernels of a wheel, each from the newest architecture that has it; the texts are put into `room`."""
    best: dict[str, tuple[int, Job]] = {}
    for text in ptx_of(wheel):
        path = room / f"{hashlib.sha256(text).hexdigest()[:20]}.ptx"
        path.write_bytes(text)
        arch = int(m[1]) if (m := re.search(rb"\.target\s+sm_(\d+)", text)) else 0
        index = index_module(text, path.name)
        for name in index.entries:
            begin, end = index.functions[name].body or (0, 0)
            job = Job(wheel.name, path, name, end - begin, lacks(index, name, frozenset(HOST_FUNCTIONS)))
            if name not in best or best[name][0] < arch:
                best[name] = (arch, job)
    return [job for _, job in best.values()]


def work() -> None:
    """Compile what standard input names, a JSON line each, and answer with a line each."""
    from anywarp.compiler.options import read_options
    from anywarp.compiler.pipeline import compile_kernel
    from anywarp.devices.cpu.target import host_target

    indices: dict[str, Any] = {}
    for line in sys.stdin:
        module, kernel, options = json.loads(line)
        if module not in indices:
            indices.clear()
            indices[module] = index_module(Path(module).read_bytes(), Path(module).name)
        start = time.process_time()
        answer: dict[str, Any] = {"result": "compiled"}
        try:
            block = likely_shapes(indices[module], kernel)[0]
            artifact = compile_kernel(indices[module], kernel, read_options(options, block), host_target())
            answer |= {"object": len(artifact.object), "gang": artifact.lanes, "block": block}
        except AnywarpError as error:
            answer = {"result": "refused", "code": error.diagnostic.code, "why": error.diagnostic.message[:200]}
        except Exception as error:
            answer = {"result": "failed", "why": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(answer | {"seconds": time.process_time() - start}), flush=True)


class Child:
    """A process that compiles, replaced when it dies or hangs."""

    def __init__(self, limit: float, options: str) -> None:
        self.limit, self.options = limit, options
        self.process: subprocess.Popen[str] | None = None

    def run(self, job: Job) -> dict[str, Any]:
        if self.process is None:
            command = [sys.executable, __file__, "work"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process = self.process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps([str(job.module), job.kernel, self.options]) + "\n")
        process.stdin.flush()
        begun = time.monotonic()
        timer = threading.Timer(self.limit, process.kill)
        timer.start()
        line = process.stdout.readline()
        timer.cancel()
        if line:
            return json.loads(line)
        code = process.wait()
        self.process = None
        why = (
            f"more than {self.limit:.0f} s"
            if time.monotonic() - begun >= self.limit
            else f"the compiler ended with {code}"
        )
        return {"result": "failed", "why": why, "seconds": self.limit}


@click.group()
def main() -> None:
    """Compile what wheels carry."""


@main.command("work", hidden=True)
def _work() -> None:
    work()


@main.command("compile")
@click.argument("state", type=click.Path(path_type=Path))
@click.argument("wheels", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--minutes", default=0.0, help="Stop after this time; 0: when all is done.")
@click.option("--limit", default=120.0, help="Seconds of the clock that one kernel may take.")
@click.option(
    "--again", type=click.Choice(["never", "refused", "all"]), default="refused", help="What to compile again."
)
@click.option(
    "--options", default="", help="Options of the compilation: `tier=quick` tries many times as many kernels."
)
def _compile(state: Path, wheels: tuple[Path, ...], minutes: float, limit: float, again: str, options: str) -> None:
    """Compile kernels of WHEELS, keeping results in STATE."""
    known = {} if again == "all" else {r["key"]: r for r in read(state)}
    child = Child(limit, options)
    with tempfile.TemporaryDirectory() as folder, state.open("a") as out, Progress() as progress:
        jobs = [job for wheel in wheels for job in jobs_of(wheel, Path(folder))]
        todo = [j for j in jobs if j.key not in known or (again == "refused" and known[j.key]["result"] != "compiled")]
        for job in jobs:
            if job.key not in known:
                record = {"key": job.key, "wheel": job.wheel, "bytes": job.bytes, "result": "open", "lacks": job.lacks}
                out.write(json.dumps(record) + "\n")
        task = progress.add_task("kernels", total=len(todo))
        end = time.monotonic() + minutes * 60 if minutes else float("inf")
        for job in fair_order(todo):
            if time.monotonic() > end:
                break
            answer = child.run(job)
            out.write(json.dumps({"key": job.key, "wheel": job.wheel, "bytes": job.bytes, **answer}) + "\n")
            out.flush()
            progress.advance(task)


def fair_order(jobs: list[Job]) -> Iterator[Job]:
    """Take a kernel of each wheel in turn, each wheel's in random order: what is known early is a fair sample of each."""
    wheels: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        wheels[job.wheel].append(job)
    for group in wheels.values():
        random.Random(4).shuffle(group)
    while wheels:
        for wheel in list(wheels):
            yield wheels[wheel].pop()
            if not wheels[wheel]:
                del wheels[wheel]


def read(state: Path) -> list[dict[str, Any]]:
    """Return the latest result of each kernel."""
    latest: dict[str, dict[str, Any]] = {}
    if state.exists():
        for line in state.read_text().splitlines():
            record = json.loads(line)
            latest[record["key"]] = {**latest.get(record["key"], {}), **record}
    return list(latest.values())


@main.command("table")
@click.argument("state", type=click.Path(path_type=Path, exists=True))
def _table(state: Path) -> None:
    """Print the page."""
    records = read(state)
    print("# Kernels that wheels carry\n")
    print(
        "Made by `benchmarks/wheel_coverage.py` (seconds are of the processor) from the wheels named below: every kernel with PTX (variants of one architecture\n"
        "only, `sm_90a` and the like, apart), compiled for this processor with the block shape it states, else 256 threads.\n"
        "`all forms known`: every instruction form of the kernel and of what it calls has a meaning here. `tried`: compiled to\n"
        "machine code, or refused; kernels are taken in random order, a wheel's first ones are a fair sample of it.\n"
    )
    print(
        "| wheel | kernels | MB of PTX | all forms known | tried | compiled | refused | failed | median s | 95 % s | longest s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    wheels: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        wheels[record["wheel"]].append(record)
    for wheel, found in [*sorted(wheels.items()), ("all", records)]:
        tried = [r for r in found if r["result"] != "open"]
        count = Counter(r["result"] for r in found)
        times = sorted(r["seconds"] for r in tried if r["result"] == "compiled") or [0.0]
        name = re.sub(r"-(cp|py)\d.*", "", wheel)
        cells = [
            name, len(found), f"{sum(r['bytes'] for r in found) / 1e6:.1f}",
            sum(not r["lacks"] for r in found), len(tried), count["compiled"], count["refused"],
            count["failed"], f"{times[len(times) // 2]:.2f}", f"{times[int(len(times) * 0.95)]:.2f}", f"{times[-1]:.1f}",
        ]  # fmt: skip
        print(f"| {' | '.join(map(str, cells))} |")
    reasons = Counter(
        (r["wheel"], r["result"], r.get("why", "")) for r in records if r["result"] in ("refused", "failed")
    )
    missing = Counter((r["wheel"], form) for r in records for form in r["lacks"])
    if missing:
        print("\n## Instruction forms without a meaning\n\n| wheel | form | kernels |\n|---|---|---|")
    for (wheel, form), number in missing.most_common():
        print(f"| {re.sub(r'-(cp|py)[0-9].*', '', wheel)} | `{form}` | {number} |")
    print("\n## Refused and failed\n")
    if not reasons:
        print("None.")
        return
    print("| wheel | kernels | what happened |")
    print("|---|---|---|")
    for (wheel, result, why), number in reasons.most_common():
        print(f"| {re.sub(r'-(cp|py)[0-9].*', '', wheel)} | {number} | {result}: {why.replace('|', '/')} |")


if __name__ == "__main__":
    main()

"""Compile every case file and every benchmark kernel for AMD's architectures, link them, and show what each takes of the GPU.

Nothing runs: the table is what the code objects say of themselves. Waves per SIMD follow from registers and shared memory by the
documented rules (compiler/amdgpu/occupancy.py). A kernel that is refused stands there with its reason.

    python benchmarks/amd_kernels.py                         all kernels for all targets, a table
    python benchmarks/amd_kernels.py --page docs/coverage/amd_kernels.md --json amd.json
    python benchmarks/amd_kernels.py --only sgemm --arch gfx942
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import click

from anywarp.check.conformance import kernels
from anywarp.check.conformance.table import ROWS
from anywarp.compiler.amdgpu.occupancy import waves_per_simd
from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.options import read_options
from anywarp.compiler.pipeline import compile_kernel
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.index import index_module
from anywarp.runtime.warm import likely_shapes

ROOT = Path(__file__).resolve().parents[1]
TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201")
GROUPS = {
    "benchmark kernels": ("benchmarks/kernels/*.ptx", "benchmarks/kernels/matrix/*.ptx", "benchmarks/textures/*.ptx"),
    "kernels that nobody tuned for": ("benchmarks/kernels/untuned/*.ptx",),
    "case files": (
        "tests/semantics/cases/*.ptx", "tests/compiler/cases/*.ptx", "tests/checking/cases/*.ptx", "tests/cases/ptx/*.ptx",
        "tests/emulator/cases/*.ptx", "src/anywarp/check/conformance/*.ptx",
    ),
}  # fmt: skip
ROWS_AT_ONCE = 24


@dataclass(frozen=True)
class Made:
    """A kernel compiled for one architecture; `problem` says why it was not."""

    group: str
    file: str
    kernel: str
    arch: str
    threads: int = 0
    vgprs: int = 0
    agprs: int = 0
    sgprs: int = 0
    shared: int = 0
    scratch: int = 0
    local: int = 0
    spills: int = 0
    warps_per_wave: int = 0
    waves: int = 0
    limit: str = ""
    bytes: int = 0
    milliseconds: float = 0.0
    problem: str = ""


def modules(only: str, rows: bool) -> list[tuple[str, str, str]]:
    """All modules as (group, name, PTX); the rows of the instruction table in pieces."""
    out = []
    for group, patterns in GROUPS.items():
        for pattern in patterns:
            for path in sorted(ROOT.glob(pattern)):
                out.append((group, path.name, path.read_text()))
    for n in range(0, len(ROWS) if rows else 0, ROWS_AT_ONCE):
        part = ROWS[n : n + ROWS_AT_ONCE]
        out.append(("rows of the instruction table", f"{n:04} {part[0].name}", kernels.straight(part)))
    return [m for m in out if only in m[1]]


def compile_module(group: str, name: str, text: str, archs: tuple[str, ...]) -> list[Made]:
    """Compile and link all kernels of a module for all architectures."""
    out = []
    index = index_module(text)
    for kernel in index.entries:
        shape = likely_shapes(index, kernel, ())[0]
        threads = shape[0] * shape[1] * shape[2] if shape else 0
        for arch in archs:
            start = time.perf_counter()
            try:
                made = compile_kernel(index, kernel, read_options("", shape), make_target(arch))
            except AnywarpError as error:
                problem = f"{error.diagnostic.code}: {error.diagnostic.message}"
                out.append(Made(group, name, kernel, arch, threads, problem=problem))
                continue
            spent, amd = (time.perf_counter() - start) * 1e3, made.amd
            waves, limit = waves_per_simd(amd, made.shared_bytes, threads or 256)
            out.append(
                Made(
                    group, name, kernel, arch, threads, amd.vgprs, amd.agprs, amd.sgprs, made.shared_bytes, amd.scratch, made.local_bytes,
                    amd.vgpr_spills + amd.sgpr_spills, amd.warps_per_wave, waves, limit, len(made.object), round(spent, 1),
                )
            )  # fmt: skip
    return out


def _job(argument: tuple[str, str, str, tuple[str, ...]]) -> list[Made]:
    return compile_module(*argument)


def table(found: list[Made], archs: tuple[str, ...]) -> list[str]:
    """A line per kernel: vector (+ matrix) / scalar registers, shared and scratch bytes, spills, waves per SIMD for each target."""
    lines = ["| kernel | " + " | ".join(archs) + " |", "| --- |" + " --- |" * len(archs)]
    rows: dict[tuple[str, str], dict[str, Made]] = {}
    for made in found:
        rows.setdefault((made.file, made.kernel), {})[made.arch] = made
    for (file, kernel), by_arch in rows.items():
        stem = file.removesuffix(".ptx")
        name = kernel if kernel == stem else f"{stem}: {kernel}"
        lines.append(f"| {name[:60]} | " + " | ".join(_cell(by_arch.get(a)) for a in archs) + " |")
    return lines


def _cell(made: Made | None) -> str:
    if made is None:
        return ""
    if made.problem:
        return "refused: " + made.problem.partition(":")[0]
    text = f"{made.vgprs}" + (f"+{made.agprs}" if made.agprs else "") + f"/{made.sgprs}"
    text += f" {made.shared} B" if made.shared else ""
    text += f" scratch {made.scratch}" if made.scratch else ""
    text += f" **{made.spills} spilled**" if made.spills else ""
    return (
        text
        + f", {made.waves} waves"
        + (", one warp per wave" if made.warps_per_wave == 1 and made.arch.startswith("gfx9") else "")
    )


def summary(found: list[Made], archs: tuple[str, ...]) -> list[str]:
    """Figures by group and target."""
    lines = ["| | " + " | ".join(archs) + " |", "| --- |" + " --- |" * len(archs)]
    for group in dict.fromkeys(made.group for made in found):
        cells = []
        for arch in archs:
            here = [m for m in found if m.group == group and m.arch == arch]
            good = [m for m in here if not m.problem]
            spilled = sum(bool(m.spills) for m in good)
            times = sorted(m.milliseconds for m in good)
            median = times[len(times) // 2] if times else 0
            cells.append(f"{len(good)} of {len(here)}, {spilled} with spills, {median:.0f} ms")
        lines.append(f"| {group} | " + " | ".join(cells) + " |")
    return lines


def reasons(found: list[Made]) -> list[str]:
    """Why kernels were refused, and how often."""
    counted = Counter(_general(m.problem) for m in found if m.problem)
    return [f"- {count} times {text}" for text, count in counted.most_common()]


def _general(problem: str) -> str:
    return problem.replace("`", "'").partition("' ")[2] or problem


PAGE = """# Kernels on AMD GPUs, compiled

Made by `python benchmarks/amd_kernels.py{how} --page docs/coverage/amd_kernels.md` on {today}: every benchmark kernel and every case file of the
tests{rows}, compiled for {count} architectures and linked with no undefined symbol. **Nothing of this page ran
on a GPU.** Registers, spills, shared and scratch memory are what the code objects say of themselves; waves per SIMD follow from them by the
documented rules. A cell reads: vector (+ matrix) / scalar registers, bytes of static shared memory, scratch bytes per lane, spills, waves
per SIMD.

## Summary

Kernels compiled and linked, how many of them keep registers in memory, and the median time to compile one here:

{summary}

{refused}## Benchmark kernels

{kernels}

## Kernels that nobody tuned for

{untuned}

## Case files

{cases}
"""


@click.command()
@click.option("--arch", "archs", multiple=True, help="Compile for these only.")
@click.option("--only", default="", help="Files whose name contains this.")
@click.option("--rows/--no-rows", default=True, help="The rows of the instruction table, too.")
@click.option("--page", type=click.Path(path_type=Path), help="Write the documentation's page.")
@click.option("--json", "data", type=click.Path(path_type=Path), help="Write everything as JSON.")
@click.option("--jobs", default=1, help="Processes at a time.")
def command(archs: tuple[str, ...], only: str, rows: bool, page: Path | None, data: Path | None, jobs: int) -> None:
    """Compile all kernels for AMD's architectures and show what they take."""
    archs = archs or TARGETS
    found: list[Made] = []
    work = [(*m, archs) for m in modules(only, rows)]
    with ProcessPoolExecutor(jobs) as pool:
        for made in pool.map(_job, work):
            found += made
            if os.isatty(2):
                click.echo(f"{len(found)} {made[-1].file if made else ''}", err=True)
    for line in (*summary(found, archs), *reasons(found)):
        click.echo(line)
    if page is None and data is None:
        click.echo("\n".join(table([m for m in found if not m.group.startswith("rows")], archs)))
    if data is not None:
        data.write_text(json.dumps([asdict(m) for m in found], indent=1))
    if page is not None:
        parts = {group: table([m for m in found if m.group == group], archs) for group in GROUPS}
        refused = reasons(found)
        page.write_text(
            PAGE.format(
                today=date.today(), count=len(archs), how="" if rows else " --no-rows", rows=" and every row of the instruction table" if rows else "", summary="\n".join(summary(found, archs)),
                refused="Refused:\n\n" + "\n".join(refused) + "\n\n" if refused else "",
                kernels="\n".join(parts["benchmark kernels"]), untuned="\n".join(parts["kernels that nobody tuned for"]),
                cases="\n".join(parts["case files"]),
            )
        )  # fmt: skip
    sys.exit(int(any(m.problem for m in found)))


if __name__ == "__main__":
    command()

"""`anywarp inspect FILE`: which GPU code a file carries and which of its kernels can run here.

People choose a package before they run it; this tells them what to expect, from the file alone.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress as Bar
from rich.table import Table

from anywarp.compiler.calls import SERVICES
from anywarp.compiler.device_runtime import RUNTIME_FUNCTIONS
from anywarp.ptx.carried import ADVICE
from anywarp.ptx.inspect import Part, Progress, inspect_file

_SHOWN = 25
_PATIENCE = 2.0


@click.command("inspect")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print the result.")
@click.option("--kernels", is_flag=True, help="List every kernel, not only the totals.")
def command(file: Path, style: str, kernels: bool) -> int:
    """Show the GPU code in FILE: a wheel, library, executable, fat binary, cubin or PTX file.

    Exit code 0: every kernel can run; 1: some cannot; 2: the file could not be read, or not all of it.
    """
    with _progress(f"reading {file.name}") as progress:
        parts = inspect_file(file, progress, frozenset(SERVICES) | RUNTIME_FUNCTIONS)
    if style == "json":
        click.echo(json.dumps({"file": str(file), "parts": [part.as_json() for part in parts]}, indent=2))
    else:
        _print(file, parts, kernels)
    for problem in (p for part in parts for p in part.problems):
        click.echo(problem.as_text(), err=True)
    return _exit_code(parts)


def _exit_code(parts: list[Part]) -> int:
    if any(part.problems for part in parts):
        return 2
    return int(any(not kernel.runs for part in parts for kernel in part.kernels.values()))


def _print(file: Path, parts: list[Part], kernels: bool) -> None:
    """Print every part in words and tables."""
    if not parts:
        click.echo(f"{file}: no GPU code")
    for part in parts:
        click.echo(f"{part.name}: {_sentence(part)}")
        if part.runtime:
            click.echo(f"  {ADVICE[part.runtime]}")
        _table(
            ("kind", "target", "PTX version", "compression", "images", "kernels"),
            [
                (i["kind"], i["target"], i["ptx_version"] or "-", i["compression"], str(i["images"]), str(i["kernels"]))
                for i in part.as_json()["images"]
            ],
        )
        missing = part.missing().most_common()
        _table(("lacking", "kernels"), [(thing, str(count)) for thing, count in missing[:_SHOWN]])
        if len(missing) > _SHOWN:
            click.echo(f"and {len(missing) - _SHOWN} more; --format json lists all")
        if kernels:
            _table(
                ("kernel", "PTX", "runs", "lacks"),
                [_row(k.name, k.ptx, k.runs, k.lacks) for k in part.kernels.values()],
            )


def _row(name: str, ptx: str, runs: bool, lacks: tuple[str, ...]) -> tuple[str, str, str, str]:
    return name, ptx or "-", "yes" if runs else "no", " ".join(lacks) or "-"


def _sentence(part: Part) -> str:
    """Say in one line how many kernels run and why the others do not."""
    n = part.counts()
    words = [f"{n['kernels']} kernels, {n['run']} can run"]
    if n["blocked"]:
        words.append(f"{n['blocked']} need what anywarp lacks")
    if n["sass_only"]:
        words.append(f"{n['sass_only']} have machine code for NVIDIA only (SASS), no PTX")
    return "; ".join(words)


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print a table: ruled in a terminal, plain columns in a pipe; nothing when there are no rows."""
    if not rows:
        return
    if sys.stdout.isatty():
        table = Table(*heads)
        for row in rows:
            table.add_row(*row)
        Console().print(table, markup=False)
        return
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    for row in [heads, *rows]:
        click.echo("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@contextmanager
def _progress(what: str) -> Generator[Progress]:
    """Give a callback that shows a bar on a terminal's stderr once the work has taken two seconds."""
    started = time.monotonic()
    console = Console(stderr=True)
    with Bar(console=console, transient=True, auto_refresh=False, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, visible=False)

        def step(done: int, total: int) -> None:
            late = time.monotonic() - started > _PATIENCE
            bar.update(task, completed=done, total=max(total, 1), visible=late, refresh=late)

        yield step

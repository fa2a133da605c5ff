"""`anywarp cache`: look at, empty or fill the cache of compiled kernels."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from anywarp import settings
from anywarp.devices import device as devices
from anywarp.devices.cpu.tiles import ask_for_tiles
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate import facts as kept
from anywarp.ptx.inspect import contents
from anywarp.runtime import warm
from anywarp.runtime.build_id import build_id
from anywarp.runtime.cache import Cache
from anywarp.runtime.measured import find_record, tuned

FORMAT = click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print.")
PATIENCE = 2.0
"""Seconds after which progress is shown."""


@click.group("cache")
def command() -> None:
    """Look at, empty or fill the cache of compiled kernels."""


@command.command("info")
@FORMAT
def info(style: str) -> int:
    """Tell where the cache is and what it holds."""
    cache = _cache()
    entries = list(cache.entries())
    size, oldest = sum(e.size for e in entries), min((e.used for e in entries), default=None)
    if style == "json":
        facts = {
            "directory": str(cache.root),
            "entries": len(entries),
            "bytes": size,
            "limit": cache.limit,
            "oldest": oldest,
            "facts": kept.size(cache.root),
        }
        click.echo(json.dumps(facts, indent=2))
        return 0
    click.echo(f"directory  {cache.root}")
    click.echo(f"entries    {len(entries)}")
    click.echo(f"size       {size / 2**20:.1f} MiB of {cache.limit / 2**20:.0f} MiB")
    if oldest is not None:
        click.echo(f"oldest     used {datetime.fromtimestamp(oldest):%Y-%m-%d %H:%M}")
    if held := kept.size(cache.root):
        click.echo(f"facts      {held / 2**20:.1f} MiB of what `anywarp assess` saw")
    return 0


@command.command("clear")
def clear() -> int:
    """Remove every compiled kernel, and what `anywarp assess` saw in files."""
    try:
        cache = _cache()
        freed = cache.clear() + kept.clear(cache.root)
    except OSError as error:
        text = f"the cache cannot be emptied: {error.strerror or error}"
        raise AnywarpError(Diagnostic("L001", text, help="check who owns the directory")) from error
    click.echo(f"{freed / 2**20:.1f} MiB freed")
    return 0


@command.command("warm")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--block",
    "blocks",
    multiple=True,
    metavar="X[,Y[,Z]]",
    help="A block shape to compile for (default: the largest a kernel states, else 256); may be repeated.",
)
@click.option("--kernel", "pattern", metavar="GLOB", default="*", help="Only kernels whose names match, as in 'gemm*'.")
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Kernels compiled at a time (default: the processors)."
)
@click.option("--device", "name", metavar="NAME", help="Device to compile for (default: ANYWARP_DEVICE, else cpu).")
@FORMAT
def warm_command(
    paths: tuple[Path, ...], blocks: tuple[str, ...], pattern: str, jobs: int | None, name: str | None, style: str
) -> int:
    """Compile every kernel in PATHS: PTX files, fat binaries, libraries, wheels, or directories of these.

    Exit code 0: all compiled; 1: some could not be; 2: there was nothing to compile.
    """
    shapes = [block_shape(text) for text in blocks]
    device = devices.named(name or settings.DEVICE.get())
    identity = device.identity()
    record = find_record(_cache(), build_id(), identity)
    with_tiles = tuned(identity, record, device.name == "cpu" and ask_for_tiles())
    identity = tuned(identity, record)
    work, problems = _work(paths, shapes, pattern)
    for problem in problems:
        click.echo(problem, err=True)
    if not work:
        raise AnywarpError(
            Diagnostic("L003", "there is no PTX in these files", help="`anywarp inspect FILE` shows what a file holds")
        )
    cache = settings.CACHE_DIR.get().absolute()
    start = time.monotonic()
    at_once = min(jobs or settings.cpu_count(), settings.cpu_count())
    done = list(_shown(warm.compile_all(work, identity, build_id(), cache, at_once, with_tiles), len(work)))
    failed = [d for d in done if d.problem]
    for each in failed:
        click.echo(each.problem, err=True)
    cached, seconds = sum(d.cached for d in done), time.monotonic() - start
    fresh = len(done) - cached - len(failed)
    if style == "json":
        names = [{"kernel": d.job.kernel, "block": d.job.block, "problem": d.problem} for d in failed]
        facts = {
            "compiled": fresh,
            "cached": cached,
            "failed": names,
            "unreadable": problems,
            "seconds": round(seconds, 3),
        }
        click.echo(json.dumps(facts, indent=2))
    else:
        click.echo(f"{fresh} compiled, {cached} in the cache already, {len(failed)} failed, {seconds:.1f} s")
    return 1 if failed or problems else 0


def _cache() -> Cache:
    return Cache(settings.CACHE_DIR.get(), settings.CACHE_LIMIT.get())


def _work(paths: Iterable[Path], shapes: list[warm.Shape], pattern: str) -> tuple[list[warm.Job], list[str]]:
    """Return the jobs in files, and what was wrong with files; the same image in two files is compiled once."""
    work: dict[warm.Job, None] = {}
    problems: list[str] = []
    for path in warm.files(paths):
        try:
            for name, content in contents(path):
                for image in warm.images(content):
                    work.update(dict.fromkeys(warm.jobs(image, name, shapes, pattern)))
        except AnywarpError as error:
            problems.append(f"{path}: {error.diagnostic.as_text()}")
        except OSError as error:
            problems.append(f"{path}: {error.strerror}")
    return list(work), problems


def block_shape(text: str) -> warm.Shape:
    """Read a block shape such as 256 or 16,16; click.BadParameter if it is none that CUDA allows."""
    parts = text.replace("x", ",").split(",")
    if len(parts) > 3 or not all(p.isascii() and p.isdecimal() and 0 < int(p) <= 1024 for p in parts):
        raise click.BadParameter(f"{text!r} is not a block shape such as 256 or 16,16", param_hint="--block")
    x, y, z = (*(int(p) for p in parts), 1, 1)[:3]
    if x * y * z > 1024:
        raise click.BadParameter(f"{text!r} has more than 1024 threads", param_hint="--block")
    return x, y, z


def _shown(done: Iterator[warm.Done], total: int) -> Iterator[warm.Done]:
    """Pass results on; on a terminal, once two seconds have gone, a bar shows how far it is."""
    start = time.monotonic()
    console = Console(stderr=True)
    with Progress(console=console, transient=True, auto_refresh=False, disable=not console.is_terminal) as bar:
        task = bar.add_task("compiling", total=total, visible=False)
        for each in done:
            late = time.monotonic() - start > PATIENCE
            bar.update(task, advance=1, description=escape(each.job.kernel[:40]), visible=late, refresh=late)
            yield each

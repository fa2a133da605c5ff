"""`anywarp assess PATH...`: what of a tree, a venv or an image depends on CUDA, and what becomes of it on a target.

Teams ask this before they move; the answer has to hold for the whole of what they run, and be read by people who do not program.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from anywarp.catalogue.releases import NEWEST
from anywarp.deploy.foretell import settled
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate.assess import Assessment, Plan, assess
from anywarp.migrate.findings import ANSWERS
from anywarp.migrate.report import as_json, sarif
from anywarp.migrate.report.words import text as in_words
from anywarp.migrate.shown import visible
from anywarp.migrate.summary import Summary, new_findings, read_baseline, summarize
from anywarp.migrate.target import parse_target
from anywarp.settings import cpu_count

_PATIENCE, _BAR_EVERY, _LINE_EVERY = 2.0, 0.1, 10.0
_MOST_PROBLEMS = 20


@click.command("assess")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--target", default="hip", show_default=True, help="cpu, cuda, hip, or hip with an architecture: hip:gfx942."
)
@click.option("--rocm", default=NEWEST, show_default=True, help="The release of ROCm that the target has.")
@click.option("--format", "style", type=click.Choice(["text", "json", "sarif"]), default="text", help="How to print.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write what is printed to this file instead.")
@click.option("--html", type=click.Path(path_type=Path), help="Write a report as one page of HTML, too.")
@click.option(
    "--keep", is_flag=True, help="Keep the report among the results: `anywarp ui` shows it, `anywarp results` lists it."
)
@click.option(
    "--fail-on", type=click.Choice(list(ANSWERS)), multiple=True, help="Exit with 1 when a finding has this answer."
)
@click.option("--baseline", type=click.Path(path_type=Path), help="An earlier JSON report: only what is new fails.")
@click.option("--exclude", multiple=True, help="Skip what matches this pattern, written as in .gitignore.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Number of processes that read (default: the processors).")
@click.option("--no-cache", is_flag=True, help="Read every file, even if its content was seen before; keep nothing.")
def command(
    paths: tuple[str, ...],
    target: str,
    rocm: str,
    style: str,
    output: Path | None,
    html: Path | None,
    keep: bool,
    fail_on: tuple[str, ...],
    baseline: Path | None,
    exclude: tuple[str, ...],
    jobs: int | None,
    no_cache: bool,
) -> int:
    """List what depends on CUDA below each PATH: a folder, file, venv, wheel, or container image; and what becomes of it.

    Exit code 0: done; 1: a finding has an answer named by --fail-on; 2: else, when a PATH is not there or a file could not be looked into.
    """
    plan = Plan(paths, parse_target(target, rocm), exclude, jobs or cpu_count(), not no_cache)
    known = read_baseline(baseline) if baseline is not None else None
    with _progress() as step:
        result = assess(plan, step)
    result.findings = settled(result.findings, plan.target, result.places.get)
    summary = summarize(result)
    new = new_findings(result.findings, known) if known is not None else None
    _tell(result)
    if html is not None:
        _write(html, _page(result, summary, new))
    if keep:
        _keep(result, summary, new)
    _print(style, output, result, summary, new)
    return _exit_code(result, fail_on, new)


def _page(result: Assessment, summary: Summary, new: Sequence[bool] | None) -> str:
    from anywarp.migrate.report import page  # what makes pages takes long to import, and most runs want none

    return page.report(result, summary, new)


def _keep(result: Assessment, summary: Summary, new: Sequence[bool] | None) -> None:
    """Keep what the report's first part says, and its page."""
    from anywarp.check.store import Run, opened

    shares = {share.answer: share.findings for share in summary.shares}
    kept = {
        "findings": len(result.findings),
        "answers": shares,
        "days": str(summary.days),
        "page": _page(result, summary, new),
    }
    with opened() as store:
        identity = store.add(
            Run(
                "assess",
                kept,
                model=" ".join(visible(path) for path in result.plan.paths)[:2000],
                device=f"{result.plan.target.device}:{result.plan.target.architecture}".rstrip(":"),
            )
        )
    click.echo(f"anywarp assess: kept as {identity}", err=True)


def _exit_code(result: Assessment, fail_on: Sequence[str], new: Sequence[bool] | None) -> int:
    counted = [f for f, is_new in zip(result.findings, new or [True] * len(result.findings), strict=True) if is_new]
    failing = [f for f in counted if f.verdict.answer in fail_on]
    if failing:
        kinds = {f.verdict.answer for f in failing}
        what = ", ".join(words for answer, words in ANSWERS.items() if answer in kinds)
        click.echo(f"anywarp assess: {len(failing)} {'new ' if new is not None else ''}findings: {what}", err=True)
        return 1
    return 2 if result.blind else 0


def _print(style: str, output: Path | None, result: Assessment, summary: Summary, new: Sequence[bool] | None) -> None:
    if style == "json":
        text = json.dumps(as_json.report(result, summary, new), indent=1) + "\n"
    elif style == "sarif":
        text = json.dumps(sarif.report(result, new), indent=1) + "\n"
    else:
        text = in_words(result, summary) + "\n"
    if output is not None:
        _write(output, text)
    else:
        click.echo(text, nl=False)


def _tell(result: Assessment) -> None:
    """Tell what could not be read; the first of many in full."""
    for problem in result.problems[:_MOST_PROBLEMS]:
        click.echo(problem.as_text(), err=True)
    if len(result.problems) > _MOST_PROBLEMS:
        click.echo(f"and {len(result.problems) - _MOST_PROBLEMS} more problems; --format json has all", err=True)


def _write(path: Path, text: str) -> None:
    """Write a report: whole or not at all; to what is no file (a pipe, `/dev/null`) directly."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise _unwritable(path, error) from None
        return
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        try:
            beside.write_text(text, encoding="utf-8")
            os.replace(beside, path)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> AnywarpError:
    text = f"the report {visible(str(path))} cannot be written: {error.strerror or error}"
    return AnywarpError(Diagnostic("L001", text, help="choose another place"))


@contextmanager
def _progress() -> Generator[Callable[[int, int], None]]:
    """Give a callback that tells on stderr, once the work has taken two seconds: a bar on a terminal, else a line now and then."""
    started = last = time.monotonic()

    def due(every: float) -> bool:
        nonlocal last
        now = time.monotonic()
        if now - started <= _PATIENCE or now - last < every:
            return False
        last = now
        return True

    def line(done: int, total: int) -> None:
        if due(_LINE_EVERY):
            print(f"anywarp assess: read {done:,} of {total:,} files", file=sys.stderr, flush=True)

    if not sys.stderr.isatty():
        yield line
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("reading", visible=False)

        def step(done: int, total: int) -> None:
            if due(_BAR_EVERY):
                bar.update(task, completed=done, total=max(total, 1), visible=True, refresh=True)

        yield step

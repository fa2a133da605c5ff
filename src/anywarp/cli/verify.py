"""`anywarp verify BUNDLE -- COMMAND`: hold what a program computes here against what was recorded of it elsewhere."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anywarp import settings
from anywarp.diagnostics import Diagnostic

if TYPE_CHECKING:
    from anywarp.check.bundle import Bundle
    from anywarp.check.numbers.results import Report

_PATIENCE = 2.0


@click.command("verify", context_settings={"allow_interspersed_args": True})
@click.argument("bundle", type=click.Path(path_type=Path))
@click.argument("words", metavar="[BUNDLE2 | -- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--null",
    "noise",
    type=click.Path(path_type=Path),
    help="Another recording of the same program on the first device: what differs there is noise.",
)
@click.option("--precise", is_flag=True, help="Run each module in float64, too, and compare both sides' errors.")
@click.option("--no-isolated", is_flag=True, help="Do not run each module alone on its recorded inputs.")
@click.option("--other-weights", is_flag=True, help="Compare although the model has other parameters.")
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@click.option("--top", default=15, show_default=True, type=click.IntRange(1, 100_000), help="Rows of the table.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a report as one page of HTML, too."
)
@click.option("--endpoint", metavar="URL", help="Verify an OpenAI-style endpoint against a recording of one.")
@click.option("--model", help="The model's name at the endpoint (default: the recorded one).")
@click.option("--key-from", metavar="NAME", help="The variable of the environment that holds the endpoint's key.")
def command(
    bundle: Path,
    words: tuple[str, ...],
    noise: Path | None,
    precise: bool,
    no_isolated: bool,
    other_weights: bool,
    strict: bool,
    top: int,
    form: str,
    html: Path | None,
    endpoint: str | None,
    model: str | None,
    key_from: str | None,
) -> int:
    """Run COMMAND on the inputs recorded in BUNDLE and say whether each module computes what it did there.

    With a BUNDLE2 instead of a command: compare two recordings.

    Exit code 0: it does; 1: it does not; 2: it could not be told.
    """
    from anywarp.check.bundle import open_bundle
    from anywarp.cli.report_file import check_writable, write

    check_writable(html)
    status = 0
    with ExitStack() as stack, _progress() as step:
        reference = stack.enter_context(open_bundle(bundle))
        null = stack.enter_context(open_bundle(noise)) if noise is not None else None
        if endpoint is not None:
            from anywarp.check.record import keys
            from anywarp.check.replay import endpoints

            key = keys.read(key_from, settings.environment())
            report = endpoints.verify(reference, endpoint, model, step, key)
        elif key_from is not None:
            raise click.UsageError("--key-from is the key of an --endpoint")
        elif len(words) == 1 and Path(words[0]).exists() and _after_dashes(words) is None:
            other = stack.enter_context(open_bundle(Path(words[0])))
            report = _compared(reference, other, null, other_weights, step)
        elif words:
            from anywarp.check.replay import running

            options = running.Options(not no_isolated, precise, other_weights)
            report, status = running.replay(reference, null, words, options, step)
        else:
            raise click.UsageError("name a COMMAND behind --, another recording, or an --endpoint")
    kept = _keep(report, bundle, words, endpoint)
    _show(report, form, top)
    if form == "text":
        click.echo(f"kept as {kept}")
    if html is not None:
        from anywarp.check.numbers import page

        write(html, page.page(report))
        click.echo(f"anywarp: the report is in {html}", err=True)
    if status:
        text = f"the command ended with exit code {status}: what it computed until then is what was compared"
        click.echo(Diagnostic("V012", text, help="run it by itself to see why").as_text(), err=True)
        return 2
    return int(report.grade == "fail" or (strict and report.grade == "warn"))


def _after_dashes(words: tuple[str, ...]) -> int | None:
    """Return where the command begins when it stands behind --, which click takes away."""
    return sys.argv.index("--") if "--" in sys.argv and sys.argv[sys.argv.index("--") + 1 :] == list(words) else None


def _compared(
    reference: Bundle, other: Bundle, null: Bundle | None, other_weights: bool, step: Callable[[int, int], None]
) -> Report:  # fmt: skip
    from anywarp.check.replay.comparing import verify
    from anywarp.check.replay.sides import Sides

    return verify(Sides(reference, other, null, replayed=False, other_weights=other_weights), step)


def _show(report: Report, form: str, top: int) -> None:
    if form == "json":
        from anywarp.check.numbers import as_json

        print(json.dumps(as_json.report(report), indent=2))
        return
    from anywarp.cli.verify_text import show

    show(report, top)


def _keep(report: Report, bundle: Path, words: tuple[str, ...], endpoint: str | None) -> str:
    """Keep the verdict among the results; return its id."""
    from anywarp.check.numbers import as_json
    from anywarp.check.store import Run, opened

    of = shlex.join(words) if words else endpoint or ""
    dtypes = {each.operation.output for each in report.layers}
    with opened() as store:
        return store.add(
            Run(
                "verify",
                as_json.report(report),
                model=f"{of} against {bundle.name}"[:2000],
                device=report.about.get("device, here", ""),
                dtype=min(dtypes) if len(dtypes) == 1 else "",
            )
        )


@contextmanager
def _progress() -> Generator[Callable[[int, int], None]]:
    """Give a callback that shows how far comparing is, in a terminal, once it has taken two seconds."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    started: float | None = None
    with Progress(console=console, transient=True, auto_refresh=False, disable=not console.is_terminal) as bar:
        task = bar.add_task("comparing", visible=False)

        def step(done: int, total: int) -> None:
            nonlocal started
            started = time.monotonic() if started is None else started
            if time.monotonic() - started > _PATIENCE:
                bar.update(task, completed=done, total=max(total, 1), visible=True, refresh=True)

        yield step

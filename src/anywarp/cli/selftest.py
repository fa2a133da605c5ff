"""`anywarp selftest`: does this device compute what it must? Asked through the driver library that programs get.

For owners of hardware that we do not have: one command, and a report to send.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from anywarp import settings
from anywarp.check import selftest
from anywarp.check.suites import SUITES
from anywarp.cli.report_file import check_writable


@click.command("selftest")
@click.option("--device", metavar="NAME", help="Device to test (default: ANYWARP_DEVICE, else cpu).")
@click.option("--suite", "suites", multiple=True, type=click.Choice(list(SUITES)), help="Only these (default: all).")
@click.option("--every", type=click.IntRange(1), default=1, help="Of the table of instructions only every N-th row.")
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False), help="Write everything to this JSON file.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print the result.")
def command(device: str | None, suites: tuple[str, ...], every: int, report: Path | None, style: str) -> int:
    """Ask a device every instruction with exact values, and the calls that every program makes.

    Exit code 0: all answers are right; 1: some are not; 2: the device cannot be asked.
    """
    chosen = device or settings.DEVICE.get()
    check_writable(report)
    started = time.monotonic()
    found = selftest.ask(chosen, suites or tuple(SUITES), every)
    result = selftest.collect(chosen, _shown(found), started)
    if report is not None:
        report.write_text(json.dumps(_whole(result), indent=2) + "\n", encoding="utf-8")
    if style == "json":
        click.echo(json.dumps(result.as_json(), indent=2))
    else:
        _print(result, report)
    return 0 if result.right else 2 if result.found is None else 1


def _whole(result: selftest.Result) -> dict[str, Any]:
    """Return the report: the result, and what `anywarp doctor --report` writes, so that a reader knows the machine."""
    from anywarp.cli.doctor import gather, machine

    return {**result.as_json(), **machine(gather())}


def _shown(found: Iterator[selftest.Answer | selftest.Device]) -> Iterator[selftest.Answer | selftest.Device]:
    """Pass answers on; in a terminal show how far it is."""
    if not sys.stderr.isatty():
        yield from found
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task, done, bad = progress.add_task("starting"), 0, 0
        for one in found:
            if isinstance(one, selftest.Answer):
                done += one.count
                bad += one.count if one.outcome != "passed" else 0
                progress.update(task, description=f"{one.suite}: {done} asked, {bad} not right")
            yield one


def _print(result: selftest.Result, report: Path | None) -> None:
    if result.found is not None:
        version = result.found.cuda
        click.echo(
            f"{result.found.name}, {result.found.memory / 2**30:.1f} GiB, CUDA {version // 1000}.{version % 1000 // 10}"
        )
    for suite, count in result.counts().items():
        words = ", ".join(
            f"{n} {outcome}" for outcome, n in sorted(count.items(), key=lambda pair: pair[0] != "passed")
        )
        click.echo(f"{suite:<14}{words}")
    problems = [answer for answer in result.answers if answer.outcome != "passed"]
    for answer in problems[:20]:
        click.echo(f"  {answer.outcome}: {answer.suite}: {answer.name}: {answer.text}")
    if len(problems) > 20:
        click.echo(f"  and {len(problems) - 20} more" + (f" in {report}" if report else "; --report FILE has them all"))
    click.echo(f"{'all right' if result.right else 'not all right'}, {result.seconds:.0f} s")

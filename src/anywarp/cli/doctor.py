"""`anywarp doctor`: what this machine has, what works, and what to do next.

The first command a new user runs and the first thing asked of one who reports a problem; so it never fails halfway.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from anywarp import __version__
from anywarp.cli.report_file import check_writable
from anywarp.devices.hip.description import describe
from anywarp.frameworks.neighbours import status as neighbours
from anywarp.frameworks.torch import companions
from anywarp.frameworks.torch import status as torch
from anywarp.runtime.checkup import Fact, examine

MARKS = {"ok": "ok", "absent": "-", "warning": "warning", "error": "error"}
COLOURS = {"ok": "green", "absent": "dim", "warning": "yellow", "error": "red"}


@click.command("doctor")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print the result.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write all that a report of a problem needs to this JSON file.",
)
def command(style: str, report: Path | None) -> int:
    """Tell what this machine has, what works, and what to do next.

    Exit code 0: all is well; 1: something is lost; 2: nothing can run.
    """
    check_writable(report)
    facts = gather()
    status = exit_code(facts)
    if report is not None:
        report.write_text(json.dumps(machine(facts), indent=2) + "\n", encoding="utf-8")
    if style == "json":
        verdict = {"exit_code": status, "facts": [f.as_json() for f in facts], "next": advice(facts)}
        click.echo(json.dumps(verdict, indent=2))
        return status
    _print_table(facts) if sys.stdout.isatty() else _print_lines(facts)
    click.echo("\nnext:")
    for line in advice(facts):
        click.echo(f"  {line}")
    return status


def gather() -> list[Fact]:
    """Return all facts about this machine and the software that is installed."""
    found = (*examine(), torch.status(), *companions.statuses(), *neighbours.statuses())
    return [fact for fact in found if fact is not None]


def machine(facts: list[Fact]) -> dict[str, Any]:
    """Return what a report of a problem needs: the facts, and AMD GPUs with their driver, firmware and libraries in full."""
    return {"anywarp": __version__, "machine": [fact.as_json() for fact in facts], "amd": describe()}


def exit_code(facts: list[Fact]) -> int:
    """Return 2 when nothing can run, 1 when something is lost, else 0."""
    found = {fact.status for fact in facts}
    return 2 if "error" in found else 1 if "warning" in found else 0


def advice(facts: list[Fact]) -> list[str]:
    """Return what to do next: mend what is broken, else run something."""
    steps = [
        f"{fact.part} {fact.name}: {fact.help}" for fact in facts if fact.status in ("error", "warning") and fact.help
    ]
    return steps or ["anywarp run --summary -- COMMAND", "anywarp inspect FILE shows which GPU code a package brings"]


def _print_lines(facts: list[Fact]) -> None:
    for fact in facts:
        click.echo(f"{MARKS[fact.status]:<8}{fact.part:<10}{fact.name:<16}{fact.text}")


def _print_table(facts: list[Fact]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("", "part", "what", "found"):
        table.add_column(heading)
    for fact in facts:
        mark = Text(MARKS[fact.status], style=COLOURS[fact.status])
        table.add_row(mark, fact.part, fact.name, Text(fact.text))
    Console().print(table)

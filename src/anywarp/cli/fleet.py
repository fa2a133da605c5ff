"""`anywarp fleet`: verify, bench and assess as matrices over many machines, and a whole organisation assessed in one run."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anywarp.cli import plan_files
from anywarp.cli.report_file import check_writable, write
from anywarp.diagnostics import AnywarpError, Diagnostic

if TYPE_CHECKING:
    from anywarp.deploy.fleet.plan import ReadPlan
    from anywarp.deploy.fleet.report.facts import Facts
    from anywarp.deploy.fleet.tasks import Task

_FILE = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
_FORMAT = click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print.")
_EVERY = 0.5
_SLOWEST = 10.0


@click.group("fleet", context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def command(context: click.Context) -> None:
    """Verify, bench and assess as matrices over many machines; assess a whole organisation."""
    if context.invoked_subcommand != "task" and importlib.util.find_spec("pydantic") is None:
        raise AnywarpError(Diagnostic("Y141", "`anywarp fleet` needs pydantic", help="pip install 'anywarp[fleet]'"))


@command.command("plan")
@_FILE
@click.option("--new", is_flag=True, help="Write a first plan, with comments, to FILE.")
@click.option("--schema", is_flag=True, help="Write the JSON schema of plans to FILE, for editors.")
@_FORMAT
def plan_command(file: Path, new: bool, schema: bool, style: str) -> int:
    """Check the plan in FILE, and list the tasks that it makes; run nothing."""
    if new or schema:
        return plan_files.write_first(file, "fleet", schema)
    read, tasks = _read(file)
    if style == "json":
        click.echo(json.dumps([task.as_json() for task in tasks], indent=1))
        return 0
    for task in tasks:
        click.echo(task.title())
    click.echo(f"anywarp fleet: {_count(len(tasks), 'task')}; results meet in {read.folder}", err=True)
    return 0


@command.command("run")
@_FILE
@click.option("--fresh", is_flag=True, help="Do again what has results already.")
@click.option("--again", is_flag=True, help="Try again what has failed as often as it may.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the report as one page, too.")
@_FORMAT
def run_command(file: Path, fresh: bool, again: bool, html: Path | None, style: str) -> int:
    """Run what the plan in FILE asks for and has no result yet, and bring all results into the store.

    Exit code 0: every task has a result; 1: some failed; 2: could not go on. It may be ended at any moment, and goes on where it was.
    """
    from anywarp.check.store import opened
    from anywarp.deploy.fleet.collecting import collect
    from anywarp.deploy.fleet.driving import Drive
    from anywarp.deploy.fleet.folder import Folder
    from anywarp.deploy.fleet.places import runner_of

    check_writable(html)
    read, tasks = _read(file)
    folder = Folder(read.folder, make=True)
    with folder.driven(), opened() as store:
        for task in tasks:
            if fresh or (again and task.key not in folder.done()):
                folder.forget(task.key)
        left = tasks if fresh else [t for t in tasks if t.key in folder.done() or store.latest(t.key) is None]
        runners = {machine.name: runner_of(machine, folder) for machine in read.plan.machines}
        drive = Drive(left, read.plan.attempts, folder, runners, _tell)
        _tell(
            f"{_count(len(tasks), 'task')}, {drive.known() + len(tasks) - len(left):,} of them known; results meet in {folder.place}"
        )
        try:
            wait = _EVERY
            while drive.step():
                time.sleep(wait)
                wait = min(wait * 1.2, _EVERY if "here" in {m.kind for m in read.plan.machines} else _SLOWEST)
        except KeyboardInterrupt:
            click.echo(
                "\nstopped; `anywarp fleet run` goes on from here. Jobs of clusters go on by themselves", err=True
            )
            return 130
        finally:
            for runner in runners.values():
                runner.close()
            collected = collect(folder, store, [task.key for task in tasks])
        for problem in collected.problems:
            click.echo(problem.as_text(), err=True)
    _tell(f"{_count(collected.new, 'new result')} in the store")
    return _told(read, tasks, style, html, keep=collected.new > 0)


@command.command("status")
@_FILE
@_FORMAT
def status_command(file: Path, style: str) -> int:
    """Show where the tasks of the plan in FILE are."""
    read, tasks = _read(file)
    found = _facts(read, tasks)
    if style == "json":
        click.echo(json.dumps(found.as_json(), indent=1))
    else:
        _show(found)
    return 0


@command.command("collect")
@click.argument("places", metavar="FILE|FOLDER...", nargs=-1, required=True, type=click.Path(path_type=Path))
def collect_command(places: tuple[Path, ...]) -> int:
    """Bring the results in fleets' folders, named by their plans or themselves, into the store of results.

    Exit code 0: done; 1: a file is not what was written (the rest was brought).
    """
    from anywarp.check.store import opened
    from anywarp.deploy.fleet.collecting import collect
    from anywarp.deploy.fleet.folder import Folder

    status = 0
    with opened() as store:
        for place in places:
            folder = Folder(place if place.is_dir() else _read(place)[0].folder)
            if not (folder.place / "results").is_dir():
                help = "name a plan, or the folder in which its results meet"
                raise AnywarpError(Diagnostic("Y142", f"{folder.place} is no folder of a fleet", help=help))
            found = collect(folder, store)
            click.echo(f"{folder.place}: {_count(found.new, 'new result')}, {found.known:,} known")
            for problem in found.problems:
                click.echo(problem.as_text(), err=True)
                status = 1
    return status


@command.command("report")
@_FILE
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the report as one page of HTML.")
@_FORMAT
def report_command(file: Path, html: Path | None, style: str) -> int:
    """Show what every task of the plan in FILE came to. Exit code 1: some failed."""
    check_writable(html)
    read, tasks = _read(file)
    return _told(read, tasks, style, html, keep=False)


@command.command("assess")
@click.argument("place", metavar="LIST|FOLDER", type=click.Path(path_type=Path, exists=True))
@click.option("--target", default="hip", show_default=True, help="cpu, cuda, hip, or hip with an architecture: hip:gfx942.")  # fmt: skip
@click.option("--rocm", help="The release of ROCm that the target has (default: the newest known).")
@click.option("--exclude", multiple=True, help="Skip what matches this pattern, written as in .gitignore.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Members that are read side by side (default: the processors).")  # fmt: skip
@click.option("--fresh", is_flag=True, help="Assess again what is known, too.")
@click.option("--top", type=click.IntRange(1, 100_000), default=40, show_default=True, help="Rows of the table.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the report as one page, too.")
@_FORMAT
def assess_command(
    place: Path, target: str, rocm: str | None, exclude: tuple[str, ...], jobs: int | None, fresh: bool, top: int, html: Path | None, style: str
) -> int:  # fmt: skip
    """Assess all repositories, images and namespaces of a list or a folder, and say in which order they move, and why.

    Exit code 0: assessed; 1: something has no path; 2: else, where something could not be assessed.
    """
    from anywarp.cli.fleet_organisation import run

    check_writable(html)
    return run(place, target, rocm, exclude, jobs, fresh, top, html, style)


@command.command("task", hidden=True)
@click.argument("batch", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("number", type=click.IntRange(0, 1_000_000))
@click.option("--tied", is_flag=True, help="End the task when standard input ends.")
@click.option("--in", "folder", type=click.Path(file_okay=False), help="Run it in this folder instead of its own.")
@click.option("--print", "printed", is_flag=True, help="Print what it came to, for a log, instead of writing it beside the batch.")  # fmt: skip
def task_command(batch: Path, number: int, tied: bool, folder: str | None, printed: bool) -> int:
    """Run one task of a batch: what schedulers start."""
    from anywarp.deploy.fleet import outcome as outcomes
    from anywarp.deploy.fleet.execution import execute, own_words
    from anywarp.deploy.fleet.folder import Folder, read_batch

    read = read_batch(batch)
    if number >= len(read.tasks):
        raise AnywarpError(
            Diagnostic("Y145", f"{batch} has {len(read.tasks)} tasks, and none with the number {number}")
        )
    task = read.tasks[number] if folder is None else replace(read.tasks[number], folder=folder)
    if printed:
        outcome = execute(task, own_words(), tied)
        for line in outcomes.as_lines(outcome):
            click.echo(line)
        return 0  # what came out is told, also of one that failed
    place = Folder(batch.absolute().parent.parent)
    with place.held(task.key) as free:
        if not free:
            click.echo("another process runs this task", err=True)
            return 1
        if task.key in place.done():
            return 0
        outcome = execute(task, own_words(), tied)
        place.write(outcome, read.id)
    return int(outcome.failed)


def _told(read: ReadPlan, tasks: list[Task], style: str, html: Path | None, keep: bool) -> int:
    """Show a fleet, and keep its page among the results; return the exit code."""
    from anywarp.deploy.fleet.report.page import page

    found = _facts(read, tasks)
    made = page(found)
    if html is not None:
        write(html, made)
    if keep:
        _keep(found, made)
    if style == "json":
        click.echo(json.dumps(found.as_json(), indent=1))
    else:
        _show(found)
    return 1 if found.count("failed", "damaged") else 0


def _keep(found: Facts, made: str) -> None:
    from anywarp.check.store import Run, opened

    kept: dict[str, Any] = {
        "tasks": len(found.rows),
        "done": found.count("done"),
        "failed": found.count("failed", "damaged"),
    }
    with opened() as store:
        store.add(Run("fleet", {**kept, "page": made}, model=found.name))


def _facts(read: ReadPlan, tasks: list[Task]) -> Facts:
    from anywarp.check.store import opened
    from anywarp.deploy.fleet.folder import Folder
    from anywarp.deploy.fleet.report.facts import facts

    with opened() as store:
        return facts(read.plan.name, tasks, read.plan.attempts, Folder(read.folder), store)


def _show(found: Facts) -> None:
    from anywarp.cli.tables import table
    from anywarp.migrate.shown import shorten

    rows = [
        (row.task.entry, row.task.machine, shorten(", ".join(f"{n} {v}" for n, v in row.task.axes.items()), 60), row.state,
         shorten(row.headline.text if row.state == "done" else row.why, 80), row.result[:8])
        for row in found.rows
    ]  # fmt: skip
    table("", ("entry", "machine", "axes", "state", "what came out", "result"), rows, left=(0, 1, 2, 3, 4, 5))
    from anywarp.deploy.fleet.report.facts import STATES

    counts = ", ".join(f"{found.count(state)} {state}" for state in STATES if found.count(state))
    click.echo(counts or "no tasks")


def _read(file: Path) -> tuple[ReadPlan, list[Task]]:
    from anywarp.deploy.fleet.expansion import tasks_of
    from anywarp.deploy.fleet.plan import read

    found = plan_files.read(read, file)
    return found, tasks_of(found)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _tell(words: str) -> None:
    from anywarp.migrate.shown import visible

    click.echo(f"{time.strftime('%H:%M:%S')}  {visible(words)}", err=True)
    sys.stderr.flush()

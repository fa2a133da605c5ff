"""`anywarp rollout`: move traffic from one pool to another, step by step, and back when a gate fails."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anywarp.cli import plan_files
from anywarp.cli.report_file import write
from anywarp.diagnostics import AnywarpError, Diagnostic

if TYPE_CHECKING:
    from anywarp.deploy.rollout.drivers.driver import Driver
    from anywarp.deploy.rollout.plan_file import ReadPlan
    from anywarp.deploy.rollout.state import Row, State

_FILE = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
_FORMAT = click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print.")
_WATCH_EVERY = 2.0


@click.group("rollout", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Move traffic from one pool of servers to another, step by step, and back when a gate fails."""
    if importlib.util.find_spec("pydantic") is None:
        raise AnywarpError(
            Diagnostic("Y071", "`anywarp rollout` needs pydantic", help="pip install 'anywarp[rollout]'")
        )


@command.command("plan")
@_FILE
@click.option("--new", is_flag=True, help="Write a first plan, with comments, to FILE.")
@click.option("--schema", is_flag=True, help="Write the JSON schema of plans to FILE, for editors.")
@_FORMAT
def plan_command(file: Path, new: bool, schema: bool, style: str) -> int:
    """Check the plan in FILE, and say what it will do, how long each stage takes, and what that costs.

    Exit code 0: fine; 1: a stage would end undecided, or a pool is too small; 2: the plan has mistakes.
    """
    if new or schema:
        return plan_files.write_first(file, "rollout", schema)
    from anywarp.cli.rollout_tables import show_plan
    from anywarp.deploy.rollout.forecast import forecast
    from anywarp.deploy.rollout.traffic import Traffic

    read = _read(file)
    expected = forecast(read.plan)
    findings = show_plan(read.plan, expected, style)
    if style == "text" and read.plan.driver.kind == "argo-rollouts":
        click.echo(_driver(read, dry=True).describe(Traffic(read.plan.stages[0].title, 0.0)))
    return 1 if findings else 0


@command.command("run")
@_FILE
@click.option(
    "--decide", type=click.Choice(["continue", "again", "rollback"]), help="What shall happen where it holds or asks."
)
@click.option("--dry-run", is_flag=True, help="Show what the driver would do at each stage; change nothing.")
def run_command(file: Path, decide: str | None, dry_run: bool) -> int:
    """Begin the rollout in FILE, or go on where it was, until it is done, rolled back, or needs a person.

    Exit code 0: done; 1: rolled back, held or asking; 2: could not go on.
    """
    from anywarp.deploy.rollout.engine import Engine, run
    from anywarp.deploy.rollout.state import State, busy

    read = _read(file)
    driver = _driver(read, dry=dry_run)
    if dry_run:
        return _show_dry_run(read, driver)
    state = State(read.plan)
    try:
        owner = f"process {os.getpid()} on {socket.gethostname()}"
        if not state.acquire(owner):
            raise busy(state.row())
        row = state.begin(read.plan, read.text, read.digest, owner)
        _same_plan(row, read)
        if row.ended:
            click.echo(f"the rollout {row.name} is over: {row.reason or row.phase}", err=True)
            return 0 if row.phase == "done" else 1
        if decide is not None:
            state.wish(decide, f"a person says {decide}")  # pyright: ignore[reportArgumentType]
        click.echo(f"anywarp rollout: {driver.check()}; state in {state.folder}", err=True)
        row = run(Engine(read.plan, state, driver, _tell))
        _keep(read, state)
        return _ended(row)
    except KeyboardInterrupt:
        click.echo("\nstopped watching; traffic stays as it is, and `anywarp rollout run` goes on from here", err=True)
        return 130
    finally:
        driver.close()
        state.close()


def _tell(words: str) -> None:
    click.echo(f"{time.strftime('%H:%M:%S')}  {words}", err=True)


def _keep(read: ReadPlan, state: State) -> None:
    """Add what became of it to the results; a place for them that cannot be written is said and changes nothing else."""
    from anywarp.deploy.rollout.kept import keep

    try:
        identity = keep(read.plan, state)
    except AnywarpError as error:
        click.echo(error.diagnostic.as_text(), err=True)
        return
    if identity is not None:
        click.echo(f"anywarp rollout: kept as {identity} (`anywarp results show {identity}`)", err=True)


def _ended(row: Row) -> int:
    if row.phase in ("asking", "held"):
        help = "decide by `anywarp rollout run FILE --decide continue`, `again` or `rollback`; `anywarp rollout report` shows why"
        click.echo(f"{'asking' if row.phase == 'asking' else 'held'}: {row.reason}\n  {help}", err=True)
    return 0 if row.phase == "done" else 1


def _same_plan(row: Row, read: ReadPlan) -> None:
    """Refuse a plan that was changed after the rollout began: its decisions rest on the one before."""
    if row.digest != read.digest and not row.ended:
        raise AnywarpError(
            Diagnostic(
                "Y074",
                f"the plan of {row.name} was changed after its rollout began",
                help="put it back (`anywarp rollout status --format json` has it), or abort and begin again under another name",
            )
        )


@command.command("status")
@_FILE
@_FORMAT
@click.option("--watch", is_flag=True, help="Show it anew every two seconds until the rollout is over.")
def status_command(file: Path, style: str, watch: bool) -> int:
    """Show where the rollout in FILE is, and what its gates say."""
    from anywarp.cli.rollout_tables import show_status
    from anywarp.deploy.rollout.state import State

    read = _read(file)
    state = State(read.plan)
    try:
        while True:
            if watch and sys.stdout.isatty():
                click.clear()
            row = state.row()
            show_status(read.plan, state, row, style)
            if not watch or (row is not None and row.ended):
                return 0
            time.sleep(_WATCH_EVERY)
    except KeyboardInterrupt:
        return 130
    finally:
        state.close()


@command.command("abort")
@_FILE
def abort_command(file: Path) -> int:
    """Roll the rollout in FILE back: by whoever drives it, else by this command itself."""
    from anywarp.deploy.rollout.engine import Engine, run
    from anywarp.deploy.rollout.state import State

    read = _read(file)
    state = State(read.plan)
    driver: Driver | None = None
    try:
        row = state.row()
        if row is None or row.ended:
            click.echo("nothing to abort: " + ("it never began" if row is None else row.phase), err=True)
            return 1
        state.wish("abort", "a person says abort")
        if not state.acquire(f"abort, process {os.getpid()} on {socket.gethostname()}"):
            return _await_revert(state)
        driver = _driver(read)
        row = run(Engine(read.plan, state, driver, _tell))
        _keep(read, state)
        return 0 if row.phase == "reverted" else 1
    finally:
        if driver is not None:
            driver.close()
        state.close()


def _await_revert(state: State, patience: float = 120.0) -> int:
    click.echo("told the process that drives it; waiting", err=True)
    end = time.monotonic() + patience
    while time.monotonic() < end:
        row = state.row()
        if row is not None and row.ended:
            click.echo(row.reason or row.phase, err=True)
            return 0 if row.phase == "reverted" else 1
        time.sleep(0.5)
    click.echo("it has not rolled back yet; see `anywarp rollout status`", err=True)
    return 1


@command.command("stop")
@_FILE
def stop_command(file: Path) -> int:
    """End what was started for the rollout in FILE (HAProxy), once it is over and callers no longer go through it."""
    from anywarp.deploy.rollout.state import State

    read = _read(file)
    state = State(read.plan)
    try:
        row = state.row()
        if row is not None and not row.ended:
            click.echo(f"the rollout is {row.phase}: abort it first", err=True)
            return 1
    finally:
        state.close()
    _driver(read).stop()
    return 0


@command.command("report")
@_FILE
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where the page goes (default: NAME.html)."
)
@_FORMAT
def report_command(file: Path, output: Path | None, style: str) -> int:
    """Write the rollout in FILE as one page of HTML: stages, gates, decisions with their evidence, costs."""
    from anywarp.deploy.rollout.report import page
    from anywarp.deploy.rollout.report.facts import facts
    from anywarp.deploy.rollout.state import State

    read = _read(file)
    state = State(read.plan)
    try:
        told = facts(read.plan, state)
    finally:
        state.close()
    if style == "json":
        click.echo(json.dumps(told.as_json(), indent=1))
        return 0
    place = output or Path(f"{read.plan.name}.html")
    write(place, page.page(told))
    click.echo(f"anywarp rollout: the report is in {place}", err=True)
    return 0


def _read(file: Path) -> ReadPlan:
    from anywarp.deploy.rollout.plan_file import read

    return plan_files.read(read, file)


def _driver(read: ReadPlan, dry: bool = False) -> Driver:
    from anywarp.deploy.rollout.drivers.driver import driver
    from anywarp.deploy.rollout.state import folder

    return driver(read.plan, Path(f"/nonexistent/{read.plan.name}") if dry else folder(read.plan.name))


def _show_dry_run(read: ReadPlan, driver: Driver) -> int:
    from anywarp.deploy.rollout.traffic import Traffic

    for stage in read.plan.stages:
        compare = read.plan.shadow.sample if stage.compare is None else stage.compare
        click.echo(f"# ---- {stage.title}\n{driver.describe(Traffic(stage.title, stage.target_share, compare))}")
    return 0

"""`anywarp fleet assess`: assess an organisation, show its order, keep its report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from anywarp.catalogue.releases import NEWEST
from anywarp.check.store import Run, opened
from anywarp.check.store.run import key_of
from anywarp.cli import plan_files
from anywarp.cli.progress import told
from anywarp.cli.report_file import write
from anywarp.deploy.fleet.organisation.list_file import read
from anywarp.deploy.fleet.organisation.page import page
from anywarp.deploy.fleet.organisation.report import Report, changes, report
from anywarp.deploy.fleet.organisation.running import Order, assess_all, problems
from anywarp.migrate.shown import shorten
from anywarp.migrate.target import parse_target
from anywarp.settings import cpu_count

_MOST_CHANGES = 20


def run(
    place: Path, target: str, rocm: str | None, exclude: Sequence[str], jobs: int | None, fresh: bool, top: int, html: Path | None, style: str
) -> int:  # fmt: skip
    """Assess, show and keep; return the exit code."""
    members = plan_files.read(read, place)
    order = Order(parse_target(target, rocm or NEWEST), exclude, jobs or cpu_count(), fresh)
    key = key_of(
        organisation=members.name, place=str(place.absolute()), target=str(order.target), exclude=list(exclude)
    )
    with opened() as store, told("anywarp fleet") as say:
        found = assess_all(members, order, store, lambda done, total: say(f"assessed {done:,} of {total:,}"))
        made = report(members.name, str(order.target), found.told, members.needs, found.lost)
        last = store.latest(key)
        if last is not None and "rows" in last.result:
            made = Report(made.name, made.target, made.rows, made.outside, made.lost, changes(last.result, made))
        written = page(made)
        kept = {
            "units": sum(len(row.units) for row in made.rows), "gpus": made.gpus, "days": str(made.days), "blocked": made.stuck,
            "rows": [{"units": row["units"], "blockers": row["blockers"]} for row in made.as_json()["rows"]], "page": written,
        }  # fmt: skip
        identity = store.add(Run("organisation", kept, model=members.name, device=order.title(), key=key))
    for problem in problems(found):
        click.echo(problem.as_text(), err=True)
    if html is not None:
        write(html, written)
    if style == "json":
        click.echo(json.dumps(made.as_json(), indent=1))
    else:
        show(made, top)
        click.echo(f"kept as {identity}; {found.known:,} of {len(members.members):,} were known", err=True)
    return 1 if made.stuck else 2 if found.lost else 0


def show(made: Report, top: int) -> None:
    """Print the order as a table, each row with its reasons below it."""
    click.echo(f"anywarp fleet: {made.name}, for {made.target}")
    click.echo(
        f"{sum(len(row.units) for row in made.rows):,} to move, {made.days}; {made.gpus:,} GPUs become free; {made.stuck:,} wait for what has no path\n"
    )
    for row in made.rows[:top]:
        names = shorten(" + ".join(unit.name for unit in row.units), 100)
        click.echo(f"{row.number:4}. {names} ({row.units[0].kind}): {row.days}, risk {row.risk}")
        for reason in row.reasons:
            click.echo(f"        {reason}")
    if len(made.rows) > top:
        click.echo(f"and {len(made.rows) - top:,} more: --top shows more, --html and --format json have all")
    if made.outside:
        images = ", ".join(f"{shorten(name, 80)} ({count})" for name, count in made.outside[:5])
        click.echo(f"\nimages that several use and the list does not hold: {images}")
    if made.changes is not None:
        click.echo(f"\nsince the last time: {'nothing changed' if not made.changes else ''}")
        for change in made.changes[:_MOST_CHANGES]:
            click.echo(f"  {change}")
        if len(made.changes) > _MOST_CHANGES:
            click.echo(f"  and {len(made.changes) - _MOST_CHANGES:,} more: --format json has all")

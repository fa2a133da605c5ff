"""`anywarp cost`: what two sides cost for the same service, and when a move has paid for itself.

Prices are the user's own; results are measured; the rest is arithmetic that can be followed back, number by number.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from anywarp.check.store import Run


@click.command("cost")
@click.option("--prices", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The price file (YAML).")
@click.option("--source", "sources", multiple=True, required=True, metavar="RESULT", help="A result of the side that is left: an id, or a JSON file; repeatable.")  # fmt: skip
@click.option("--target", "targets", multiple=True, required=True, metavar="RESULT", help="A result of the side that is gone to; repeatable.")  # fmt: skip
@click.option("--level", "limits", multiple=True, metavar="LIMIT", help="The service level: call-p99<=20ms, first-token-p99<=500ms ...; or none. Repeatable.")  # fmt: skip
@click.option("--anyway", is_flag=True, help="Compare what is not alike, with a mark on the result.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with the sensitivities.")
def command(
    prices: Path, sources: tuple[str, ...], targets: tuple[str, ...], limits: tuple[str, ...], anyway: bool, style: str, html: Path | None
) -> int:  # fmt: skip
    """Compare the costs of two sides at one service level, from results of `anywarp bench` and a price file.

    Of several results of a side, the one counts that does most in a second and holds the level. Exit code 0: compared; 1: with marks that a reader
    must know; 2: the sides cannot be compared.
    """
    from anywarp.check.cost import costing, level
    from anywarp.check.cost import prices as price_files
    from anywarp.check.store import Run, opened, read
    from anywarp.cli.report_file import check_writable

    check_writable(html)
    wanted, given = level.parse(limits), price_files.read(prices)
    both = [[run for text in texts for run in read(text)] for texts in (sources, targets)]
    today = datetime.datetime.now(datetime.timezone.utc).date()
    found = costing.compare(both[0], both[1], given, wanted, anyway, today)
    run = Run("cost", found, model=both[0][0].model, device=f"{given.source.name} : {given.target.name}")
    with opened() as store:
        store.add(run)
    if html is not None:
        from anywarp.check.cost.page import page
        from anywarp.cli.report_file import write

        write(html, page(run))
    if style == "json":
        click.echo(json.dumps(run.as_json(), indent=1))
    else:
        show(run)
    return int(bool(found["marks"]))


def show(run: Run) -> None:
    """Print a comparison of costs."""
    from anywarp.cli.tables import table

    found = run.result
    currency = found["currency"]
    rows = [
        [f"{side} ({each['name']})", _range(each["cost"]), f"{each['cost_per_day']:,.2f}", each["result"]]
        for side, each in found["sides"].items()
    ]
    of = found["sides"]["source"]["of"]
    table("", (f"at {', '.join(found['level'])}", f"{currency} for a {of}", f"{currency} a day", "result"), rows)
    saving, part = found["saving_per_day"], found["saving_share"]
    click.echo(f"saving a day: {_range(saving)} {currency}" + (f" ({part['value']:.0%})" if part["value"] is not None else ""))  # fmt: skip
    click.echo(f"the move: {found['move']:,.2f} {currency}; paid back {_break_even(found['break_even'])}")
    click.echo("")
    rows = [
        [row["name"], f"{row['low']:.4g} to {row['high']:.4g}", " to ".join(f"{x:,.2f}" for x in row["saving_per_day"]), row["from"]]
        for row in found["sensitivity"][:12]
    ]  # fmt: skip
    table("what the saving hangs on", ("", "from", f"saving a day, {currency}", "origin"), rows)
    for mark in found["marks"]:
        click.echo(mark)
    click.echo(f"kept as {run.id}")


def _range(value: Mapping[str, float]) -> str:
    return f"{value['value']:,.4g} [{value['low']:,.4g}, {value['high']:,.4g}]"


def _break_even(found: Mapping[str, Any]) -> str:
    names: Sequence[str] = ("date", "earliest", "latest")
    date, earliest, latest = (found[name] or "never within ten years" for name in names)
    return f"on {date} (earliest {earliest}, latest {latest})" if found["date"] else f"{date} (earliest {earliest})"

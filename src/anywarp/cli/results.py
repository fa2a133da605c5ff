"""`anywarp results`: what was measured and compared, by id: so that every number in a report can be traced, and measured again."""

from __future__ import annotations

import csv
import datetime
import importlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from anywarp.check.store import KINDS, Run, opened, read

COLUMNS = ("id", "time", "kind", "device", "model", "dtype", "form", "p50_ms", "p99_ms", "per_second", "machine", "digest", "marks")  # fmt: skip


@click.group("results")
def command() -> None:
    """List, show, compare, export and remove results. They are kept in one file of yours (ANYWARP_RESULTS)."""


@command.command("list")
@click.option("--kind", type=click.Choice(KINDS), help="Only results of this kind.")
@click.option("--model", default="", help="Only results of this model or command, as it was given.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1_000_000), help="Most results.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_command(kind: str | None, model: str, limit: int, style: str) -> int:
    """List results, newest first."""
    from anywarp.cli.tables import table

    with opened() as store:
        runs = store.list(kind or "", model, limit)
    if style == "json":
        click.echo(json.dumps([_row(run) for run in runs], indent=1))
        return 0
    if not runs:
        click.echo("there are no results yet: anywarp bench measures", err=True)
        return 0
    rows = [_row(run) for run in runs]
    head = ("id", "time", "kind", "device", "model", "dtype", "form", "p50_ms", "per_second", "marks")
    table("", [name.replace("_", " ") for name in head], [[_text(row[name]) for name in head] for row in rows])
    return 0


@command.command("show")
@click.argument("identity", metavar="ID")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write charts to this HTML file.")
def show_command(identity: str, style: str, html: Path | None) -> int:
    """Show one result: what was run, where, with which versions, and what came out."""
    with opened() as store:
        run = store.get(identity)
    if html is not None:
        from anywarp.check.bench.page import page
        from anywarp.check.cost.page import page as cost_page
        from anywarp.cli.report_file import write

        kept = run.result.get("page")
        write(html, cost_page(run) if run.kind == "cost" else kept if isinstance(kept, str) else page([run]))
    if style == "json":
        click.echo(json.dumps(run.as_json(), indent=1))
        return 0
    from anywarp.cli.bench_tables import show

    for name in ("id", "kind", "model", "device", "machine", "dtype", "digest", "anywarp"):
        click.echo(f"{name:9}{getattr(run, name)}")
    click.echo(f"{'time':9}{_time(run)}")
    click.echo(f"{'versions':9}{', '.join(f'{name} {version}' for name, version in run.versions.items())}")
    click.echo(f"{'flags':9}{', '.join(f'{name} {value}' for name, value in run.flags.items())}")
    click.echo("")
    if run.kind == "bench":
        show([run])
    elif run.kind == "cost":
        from anywarp.cli import cost

        cost.show(run)
    elif run.kind == "rollout":
        cause: dict[str, Any] = run.result.get("cause") or {}
        click.echo(f"{run.result.get('phase')}: {run.result.get('reason')}")
        click.echo(f"cause: {cause['in words']}" if cause.get("in words") else "")
    return 0


@command.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--anyway", is_flag=True, help="Compare what is not alike, with a mark.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def compare_command(first: str, second: str, anyway: bool, style: str) -> int:
    """Compare two results (ids, or JSON files of results): ratios with intervals; refused where they are not alike."""
    from anywarp.check.bench.unpaired import compare
    from anywarp.cli.tables import table

    found = compare(find(first), find(second), anyway)
    if style == "json":
        click.echo(json.dumps(found, indent=1))
        return 0
    rows = [
        [name.replace("_", " "), f"{r['value']:.4g}", " to ".join(f"{r[x]:.4g}" if r[x] is not None else "?" for x in ("low", "high"))]
        for name, r in found["ratios"].items()
    ]  # fmt: skip
    table("", (f"{found['a']} : {found['b']}", "A/B", "interval"), rows)
    for mark in found["marks"]:
        click.echo(mark)
    return 0


@command.command("export")
@click.option("--format", "style", type=click.Choice(["json", "csv", "parquet"]), default="json", show_default=True)
@click.option("--kind", type=click.Choice(KINDS), help="Only results of this kind.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
def export_command(style: str, kind: str | None, output: Path | None) -> int:
    """Write all results as JSON (everything), CSV or Parquet (a line each; Parquet needs pyarrow)."""
    with opened() as store:
        runs = store.list(kind or "", limit=1_000_000)[::-1]
    if style == "parquet":
        return _parquet(runs, output)
    text = json.dumps([run.as_json() for run in runs], indent=1) + "\n" if style == "json" else _csv(runs)
    if output is None:
        click.echo(text, nl=False)
    else:
        from anywarp.cli.report_file import write

        write(output, text)
    return 0


@command.command("remove")
@click.argument("identities", metavar="ID...", nargs=-1, required=True)
def remove_command(identities: Sequence[str]) -> int:
    """Remove results."""
    with opened() as store:
        for identity in [store.get(each).id for each in identities]:  # all are there, or none is removed
            store.remove(identity)
            click.echo(f"removed: {identity}", err=True)
    return 0


def find(text: str) -> Run:
    """Return the result of an id, or the only one in a JSON file; AnywarpError (V032)."""
    found = read(text)
    if len(found) == 1:
        return found[0]
    from anywarp.check.store.problems import UNKNOWN, problem

    raise problem(UNKNOWN, f"{text} holds {len(found)} results", "name one by its id")


def _row(run: Run) -> dict[str, Any]:
    result = run.result
    latency: dict[str, Any] = result.get("latency_ms") or {}
    done: dict[str, Any] = result.get("throughput") or result.get("tokens_per_s") or {}
    return {
        "id": run.id, "time": _time(run), "kind": run.kind, "device": run.device, "model": run.model, "dtype": run.dtype,
        "form": result.get("form", ""), "p50_ms": _value(latency, "p50"),
        "p99_ms": _value(latency, "p99"), "per_second": done.get("value"), "machine": run.machine,
        "digest": run.digest, "marks": "; ".join(result.get("marks", ())),
    }  # fmt: skip


def _value(latency: dict[str, Any], name: str) -> float | None:
    return latency[name]["value"] if name in latency else None


def _time(run: Run) -> str:
    return datetime.datetime.fromtimestamp(run.time, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%SZ")


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _csv(runs: Sequence[Run]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run in runs:
        # A spreadsheet takes a cell that begins so for a formula.
        row = _row(run)
        cells = [row[name] for name in COLUMNS]
        writer.writerow([f"'{v}" if isinstance(v, str) and v[:1] in ("=", "+", "-", "@") else v for v in cells])
    return text.getvalue()


def _parquet(runs: Sequence[Run], output: Path | None) -> int:
    from anywarp.cli.report_file import check_writable
    from anywarp.diagnostics import AnywarpError, Diagnostic

    if output is None:
        raise click.UsageError("Parquet is no text: name a file by -o")
    try:
        arrow: Any = importlib.import_module("pyarrow")
        importlib.import_module("pyarrow.parquet")
    except ImportError:
        text = "writing Parquet needs pyarrow"
        raise AnywarpError(Diagnostic("V036", text, help="pip install pyarrow, or export JSON or CSV")) from None
    check_writable(output)
    arrow.parquet.write_table(arrow.Table.from_pylist([_row(run) for run in runs]), output)
    return 0

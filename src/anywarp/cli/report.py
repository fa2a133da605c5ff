"""`anywarp report`: where the time of a traced run went.

Tables where a person reads them, plain columns in a pipe, JSON for programs, and a time line that any browser opens.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from anywarp.cli.report_file import write


@click.command("report")
@click.argument("trace", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--top", default=15, show_default=True, type=click.IntRange(1, 100_000), help="Rows of each table.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a time line to this HTML file.")
def command(trace: Path, top: int, form: str, html: Path | None) -> int:
    """Tell where the time of the run in TRACE went; `anywarp run --trace TRACE -- COMMAND` writes one."""
    from anywarp.runtime import trace as traces
    from anywarp.runtime.trace_summary import summarise

    read = traces.read(trace)
    if html is not None:
        from anywarp.runtime.timeline import page

        write(html, page(read, trace.name))
        click.echo(f"anywarp: the time line is in {html}", err=True)
    summary = summarise(read)
    if form == "json":
        print(json.dumps(summary.as_json(), indent=2))
        return 0
    from anywarp.cli.report_tables import tables
    from anywarp.cli.tables import table

    for title, head, lines in tables(summary, top):
        if table(title, head, lines, left=(-1,)):
            print()
    return 0

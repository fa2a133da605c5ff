"""`anywarp smi`: what `nvidia-smi` shows, of our devices.

Scripts and schedulers read NVIDIA's tool, so its options, columns and words are kept; inside `anywarp run` it is found under its own name.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TextIO

import click

from anywarp.cli import smi_pages, smi_query
from anywarp.runtime.management import DeviceState, MachineState, look


@click.command("smi", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-L", "--list-gpus", "listed", is_flag=True, help="List the devices, one a line.")
@click.option("-q", "--query", "everything", is_flag=True, help="Everything that is known of each device.")
@click.option("-x", "--xml-format", "as_xml", is_flag=True, help="With -q: as XML.")
@click.option(
    "-i", "--id", "wanted", metavar="ID", help="Only this device: a number, UUID or bus; several with commas."
)
@click.option(
    "-d", "--display", "sections", metavar="NAMES", help="With -q: only MEMORY, UTILIZATION, CLOCK, POWER, PIDS ..."
)
@click.option("--query-gpu", "fields", metavar="FIELDS", help="Properties of the devices, separated by commas.")
@click.option("--query-compute-apps", "app_fields", metavar="FIELDS", help="Properties of the processes.")
@click.option("--help-query-gpu", is_flag=True, help="List the properties of devices.")
@click.option("--help-query-compute-apps", is_flag=True, help="List the properties of processes.")
@click.option("--format", "style", default="", metavar="FORMAT", help="csv[,noheader][,nounits], for the two above.")
@click.option("-l", "--loop", "seconds", type=click.FloatRange(min=0.1), help="Again every so many seconds.")
@click.option(
    "-lms", "--loop-ms", "milliseconds", type=click.IntRange(min=10), help="Again every so many milliseconds."
)
@click.option("-f", "--filename", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
@click.option("--version", "version", is_flag=True, help="Versions, and nothing else.")
@click.argument("words", nargs=-1)
def command(
    listed: bool,
    everything: bool,
    as_xml: bool,
    wanted: str | None,
    sections: str | None,
    fields: str | None,
    app_fields: str | None,
    help_query_gpu: bool,
    help_query_compute_apps: bool,
    style: str,
    seconds: float | None,
    milliseconds: int | None,
    file: Path | None,
    version: bool,
    words: tuple[str, ...],
) -> int:
    """Show the devices as nvidia-smi does: the default screen, -L, -q, --query-gpu=name,memory.used --format=csv, topo -m."""
    if help_query_gpu or help_query_compute_apps:
        names = smi_query.GPU_FIELDS if help_query_gpu else smi_query.APP_FIELDS
        click.echo("\n".join(f'"{name}"' for name in names))
        return 0
    if words not in ((), ("topo",), ("topo", "-m")):
        raise click.UsageError(f"nvidia-smi {' '.join(words)} is not there; topo -m is")
    draw = _page(listed, everything, as_xml, sections, fields, app_fields, style, version, words)
    every = milliseconds / 1000 if milliseconds else seconds
    out = file.open("w", encoding="utf-8") if file else sys.stdout
    try:
        return _show(draw, wanted, every, out)
    finally:
        if file:
            out.close()


def _show(draw: Callable[[MachineState, bool], str], wanted: str | None, every: float | None, out: TextIO) -> int:
    first = True
    while True:
        state = look()
        chosen = tuple(d for d in state.devices if wanted is None or _is_named(d, wanted))
        if not chosen:
            click.echo("No devices were found" if wanted is None else f"no device is named {wanted}", err=True)
            return 6  # nvidia-smi: a query to find an object was unsuccessful
        print(draw(MachineState(state.driver, state.cuda, chosen), first), file=out, flush=True)
        if every is None:
            return 0
        first = False
        time.sleep(every)


def _is_named(device: DeviceState, names: str) -> bool:
    own = (str(device.index), device.uuid, device.bus, device.bus[4:])
    return any(name.strip() in own for name in names.split(","))


def _page(
    listed: bool,
    everything: bool,
    as_xml: bool,
    sections: str | None,
    fields: str | None,
    app_fields: str | None,
    style: str,
    version: bool,
    words: tuple[str, ...],
) -> Callable[[MachineState, bool], str]:
    """Return what draws the page that the options ask for; the second argument is true for the first of a loop."""
    if fields is not None:
        return _gpu_table(fields, smi_query.layout_of(style))
    if app_fields is not None:
        return _app_table(app_fields, smi_query.layout_of(style))
    if listed:
        return lambda state, _: "\n".join(f"GPU {d.index}: {d.name} (UUID: {d.uuid})" for d in state.devices)
    if version:
        return lambda state, _: smi_pages.versions(state)
    if words:
        return lambda state, _: smi_pages.topology(state)
    if everything:
        only = tuple(name.strip().upper() for name in sections.split(",")) if sections else ()
        draw = smi_pages.as_xml if as_xml else smi_pages.as_tree
        return lambda state, _: draw(state, datetime.now(), only)
    return lambda state, _: smi_pages.screen(state, datetime.now())


def _gpu_table(fields: str, layout: smi_query.Layout) -> Callable[[MachineState, bool], str]:
    wanted = smi_query.chosen(fields, smi_query.GPU_FIELDS)
    return lambda state, first: smi_query.as_csv(smi_query.gpu_rows(state, wanted), wanted, layout, first)


def _app_table(fields: str, layout: smi_query.Layout) -> Callable[[MachineState, bool], str]:
    wanted = smi_query.chosen(fields, smi_query.APP_FIELDS)
    return lambda state, first: smi_query.as_csv(smi_query.app_rows(state, wanted), wanted, layout, first)

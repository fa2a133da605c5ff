"""`anywarp image wrap`: anywarp put into an image for containers, as a layer upon it; from OCI layout to OCI layout, without a daemon."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anywarp.cli import packages

if TYPE_CHECKING:
    from anywarp.deploy.env.installer import Name
    from anywarp.runtime.overlay import Record

_PATIENCE = 2.0


@click.group("image")
def command() -> None:
    """Put anywarp into images for containers."""


@command.command("wrap")
@click.argument("source", metavar="LAYOUT", type=click.Path(path_type=Path, exists=True))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Where the new layout goes: a folder, or an archive (.tar).",
)
@click.option(
    "--device",
    type=click.Choice(["cpu", "hip"]),
    default="cpu",
    show_default=True,
    help="The device that programs in it run on.",
)
@click.option(
    "--python",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Carry this Python, for an image without one; it must be one that may be moved.",
)
@click.option(
    "--compression",
    type=click.Choice(["gzip", "zstd"]),
    default="gzip",
    show_default=True,
    help="How the layer is compressed.",
)
@click.option("--tag", default="", help="The name of the result in its index.")
@click.option(
    "--rocm-packages",
    "wanted",
    is_flag=True,
    help="With --device hip: install what answers the image's packages for CUDA on AMD GPUs, as `anywarp env make` does.",
)
@packages.rocm
@packages.sources
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def wrap(
    source: Path, output: Path, device: str, python: Path | None, compression: str, tag: str,
    wanted: bool, rocm: str, name: Name | None, index: str, links: tuple[str, ...], no_index: bool, style: str,
) -> int:  # fmt: skip
    """Write the image in LAYOUT, an OCI layout (a folder or an archive), with anywarp upon it to OUTPUT.

    What the image starts is started by `anywarp run --device DEVICE --`. Exit code 0: done; 2: could not do it, and nothing was written.
    """
    from anywarp.deploy.env import installer
    from anywarp.deploy.image import overlaid
    from anywarp.deploy.image.wrap import Choice, wrap

    if wanted and device != "hip":
        raise click.UsageError("--rocm-packages go with --device hip")
    if not wanted and (rocm or name or index or links or no_index):
        raise click.UsageError("--rocm, --installer, --index-url, --find-links and --no-index go with --rocm-packages")
    asked = None
    if wanted:
        asked = overlaid.Asked(rocm, installer.choose(name), installer.Sources.named(index, links, no_index))
    choice = Choice(device, python, "zstd" if compression == "zstd" else "gzip", tag, asked)
    with _progress() as step:
        done = wrap(source, output, choice, step)
    if style == "json":
        wrapped = [
            {"platform": one.platform, "old": one.old, "new": one.new, "python": one.python, "entrypoint": one.entrypoint,
             "layer": one.layer.digest, "layer_size": one.layer.size, "removed": one.removed,
             "rocm_packages": None if one.overlay is None else [f"{each.name}=={each.version}" for each in one.overlay.laid],
             "without": None if one.overlay is None else [f"{each.name}=={each.version}" for each in one.overlay.without]}
            for one in done.wrapped
        ]  # fmt: skip
        print(json.dumps({"wrapped": wrapped, "kept": done.kept, "attestations_dropped": done.dropped}, indent=2))
        return 0
    for one in done.wrapped:
        print(f"{one.platform}: {one.old}\n  is now {one.new}")
        print(
            f"  Python: {one.python}; layer of {one.layer.size / 1e6:.0f} MB ({one.layer.plain_size / 1e6:.0f} MB unpacked)"
        )
        print(f"  starts with {json.dumps(one.entrypoint)}")
        for text in one.removed:
            print(f"  taken out: {text}")
        for line in _overlaid(one.overlay):
            print(f"  {line}")
    for platform in done.kept:
        print(f"{platform}: as it was")
    if done.dropped:
        print(f"{done.dropped} attestations were of the images before, and are left out")
    return 0


def _overlaid(record: Record | None) -> list[str]:
    if record is None:
        return []
    laid = ", ".join(f"{each.name} {each.version}" for each in record.laid)
    lines = [f"packages for ROCm {record.rocm} beside /{record.prefix.strip('/')}: {laid}"]
    return lines + [f"no counterpart: {each.name} {each.version}: {each.reason}" for each in record.without]


@contextmanager
def _progress() -> Generator[Callable[[str, int], None]]:
    """Give a callback that shows on a terminal's stderr what is done once the work has taken two seconds."""
    if not sys.stderr.isatty():
        yield lambda what, count: None
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, TextColumn

    started = time.monotonic()
    columns = (TextColumn("{task.description}"), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as shown:
        task = shown.add_task("", total=None, visible=False)
        seen = {"": 0}

        def step(what: str, count: int) -> None:
            seen[what] = seen.get(what, 0) + count
            late = time.monotonic() - started > _PATIENCE
            shown.update(task, description=what, completed=seen[what], visible=late, refresh=late)

        yield step

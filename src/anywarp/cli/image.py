"""`anywarp image wrap`: anywarp put into an image for containers, as a layer upon it; from OCI layout to OCI layout, without a daemon."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import click

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
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def wrap(source: Path, output: Path, device: str, python: Path | None, compression: str, tag: str, style: str) -> int:
    """Write the image in LAYOUT, an OCI layout (a folder or an archive), with anywarp upon it to OUTPUT.

    What the image starts is started by `anywarp run --device DEVICE --`. Exit code 0: done; 2: could not do it, and nothing was written.
    """
    from anywarp.deploy.image.wrap import Choice, wrap

    choice = Choice(device, python, "zstd" if compression == "zstd" else "gzip", tag)
    with _progress() as step:
        done = wrap(source, output, choice, step)
    if style == "json":
        wrapped = [
            {"platform": one.platform, "old": one.old, "new": one.new, "python": one.python, "entrypoint": one.entrypoint,
             "layer": one.layer.digest, "layer_size": one.layer.size, "removed": one.removed}
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
    for platform in done.kept:
        print(f"{platform}: as it was")
    if done.dropped:
        print(f"{done.dropped} attestations were of the images before, and are left out")
    return 0


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

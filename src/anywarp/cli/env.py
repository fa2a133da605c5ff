"""`anywarp env`: packages for ROCm beside an environment of Python that was installed for CUDA, which itself stays as it is."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from anywarp import settings
from anywarp.cli import packages
from anywarp.deploy.env import check as checking
from anywarp.deploy.env import installer, interpreter, requirements
from anywarp.deploy.env import make as making
from anywarp.deploy.env.installed import look
from anywarp.deploy.env.plan import Item, Plan, of_environment, of_requirements
from anywarp.deploy.env.problems import BROKEN, NOTHING, problem
from anywarp.diagnostics import AnywarpError
from anywarp.runtime import overlay
from anywarp.runtime.overlay import Record

FORMAT = click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print.")
PYTHON = click.option(
    "--python",
    "place",
    metavar="PLACE",
    help="A Python, or an environment's folder (default: the python3 on the path).",
)
MARKS = {"replace": "replaced", "keep": "serves", "unused": "unused", "none": "none", "broken": "broken"}


@click.group("env")
def command() -> None:
    """Lay packages for AMD GPUs beside an environment that was installed for CUDA."""


@command.command("plan")
@PYTHON
@click.option(
    "--requirements", "-r", "files", multiple=True, type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Plan for what this file asks for, not for what is installed; may be repeated.",
)  # fmt: skip
@packages.rocm
@FORMAT
def plan_command(place: str | None, files: tuple[Path, ...], rocm: str, style: str) -> int:
    """Say which package for ROCm takes the place of each one for CUDA, and change nothing.

    Exit code 0: all have one or need none; 1: some have none.
    """
    python = interpreter.ask(_chosen(place))
    if files:
        texts = [text for file in files for text in requirements.read(file, _say)]
        plan = of_requirements(texts, python.markers, rocm)
    else:
        plan = of_environment(look(python.folders), rocm)
    if style == "json":
        items = [asdict(item) for item in plan.items]
        click.echo(
            json.dumps(
                {
                    "python": python.version,
                    "prefix": None if files else python.prefix,
                    "rocm": plan.rocm,
                    "packages": items,
                },
                indent=2,
            )
        )
    else:
        _show(plan)
    return 1 if plan.of("none", "broken") else 0


@command.command("make")
@PYTHON
@packages.rocm
@packages.sources
def make_command(
    place: str | None, rocm: str, name: installer.Name | None, index: str, links: tuple[str, ...], no_index: bool
) -> int:
    """Install the counterparts for ROCm beside the environment, for `anywarp run --device hip`; the environment stays as it is.

    Exit code 0: done; 1: done, and some packages have no counterpart.
    """
    python = interpreter.ask(_chosen(place))
    found = look(python.folders)
    plan = of_environment(found, rocm)
    if broken := plan.of("broken"):
        raise problem(BROKEN, "; ".join(item.reason for item in broken), "mend the environment first")
    sources = installer.Sources.named(index, links, no_index)
    made = making.make(python, found, plan, installer.choose(name), sources, _cache(), _say)
    for one in made.record.laid:
        click.echo(f"{one.name} {one.version}")
    click.echo(f"{'shared' if made.shared else 'made'}: {made.record.overlay}")
    for item in plan.of("none"):
        _say(f"{item.name} {item.version} has no counterpart for ROCm: {item.reason} ({item.help})")
    return 1 if plan.of("none") else 0


@command.command("check")
@PYTHON
@FORMAT
def check_command(place: str | None, style: str) -> int:
    """Say whether the packages beside an environment still fit it.

    Exit code 0: they do; 1: they do not, a line for each reason; 2: there are none.
    """
    python = interpreter.ask(_chosen(place))
    record = overlay.read(overlay.place(_cache(), python.prefix))
    if record is None:
        raise problem(
            NOTHING,
            f"nothing has been laid beside {python.prefix}",
            f"anywarp env make --python {shlex.quote(python.prefix)}",
        )
    found = look(python.folders)
    lines = checking.check(record, python, found, of_environment(found, record.rocm))
    if style == "json":
        click.echo(
            json.dumps(
                {"prefix": record.prefix, "overlay": record.overlay, "fits": not lines, "reasons": lines}, indent=2
            )
        )
        return 1 if lines else 0
    for line in lines or [f"fits: {len(record.laid)} packages for ROCm {record.rocm} beside {record.prefix}"]:
        click.echo(line)
    if lines:
        _say(f"make it again: anywarp env make --python {shlex.quote(record.prefix)}")
    return 1 if lines else 0


@command.command("list")
@FORMAT
def list_command(style: str) -> int:
    """Show every environment that packages were laid beside, and their size.

    Exit code 1: a record is damaged.
    """
    found = overlay.records(_cache())
    rows = [_row(place, record) for place, record in found]
    if style == "json":
        click.echo(json.dumps(rows, indent=2))
    else:
        for row in rows:
            gone = "" if Path(row["prefix"]).is_dir() else "  (the environment is gone)"
            click.echo(
                f"{row['prefix']}{gone}\n    {row['words']}\n    {row['bytes'] / 2**30:.1f} GiB in {row['overlay']}"
            )
    return 1 if any(isinstance(record, AnywarpError) for _, record in found) else 0


@command.command("remove")
@click.argument("place", required=False)
def remove_command(place: str | None) -> int:
    """Remove the packages beside an environment (PLACE: a Python, or the environment's folder, which may be gone)."""
    chosen = _chosen(place)
    prefix = overlay.prefix_of(chosen) if Path(chosen).is_file() else chosen
    record = overlay.place(_cache(), prefix)
    if not record.exists():
        raise problem(NOTHING, f"nothing has been laid beside {prefix}", "anywarp env list shows what there is")
    gone = making.remove(record, _cache(), _say)
    click.echo("removed" if gone else "removed; its packages serve another environment and stay")
    return 0


def _row(place: Path, record: Record | AnywarpError) -> dict[str, Any]:
    if isinstance(record, AnywarpError):
        prefix = str(place.parent)[len(str(overlay.environments(_cache()))) :]
        return {"prefix": prefix, "words": record.diagnostic.message, "overlay": "", "bytes": 0}
    words = ", ".join(f"{one.name} {one.version}" for one in record.laid)
    return {"prefix": record.prefix, "words": words, "overlay": record.overlay, "bytes": _size(Path(record.overlay))}


def _size(folder: Path) -> int:
    return sum(one.lstat().st_size for one in folder.rglob("*") if not one.is_dir())


def _show(plan: Plan) -> None:
    groups: dict[str, list[Item]] = {}
    for item in plan.items:
        groups.setdefault(item.what, []).append(item)
    click.echo(f"ROCm {plan.rocm}")
    for what in ("replace", "keep", "none", "broken"):
        for item in groups.get(what, ()):
            by = f"{item.asks}{f' from {item.index}' if item.index else ''}: " if item.asks else ""
            click.echo(f"{MARKS[what]:<9} {item.name} {item.version}".rstrip() + f"  {by}{item.reason}")
            if item.help:
                click.echo(f"{'':<9}     {item.help}")
    if unused := groups.get("unused"):
        click.echo(
            f"{MARKS['unused']:<9} {', '.join(item.name for item in unused)}  what is built for ROCm does not ask for them"
        )
    if not plan.items:
        click.echo("nothing here belongs to CUDA")


def _chosen(place: str | None) -> str:
    return place or shutil.which("python3") or sys.executable


def _cache() -> Path:
    return settings.CACHE_DIR.get().absolute()


def _say(text: str) -> None:
    click.echo(f"anywarp: {text}", err=True)

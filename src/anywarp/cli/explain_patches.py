"""`anywarp explain --patches`: runs a program and lists every change made in its processes, with the reason for each."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from anywarp import settings
from anywarp.frameworks.torch import patch_report
from anywarp.frameworks.torch.patch_report import Changes
from anywarp.frameworks.torch.patches import Patch
from anywarp.runtime import launch


def explain_patches(words: Sequence[str], style: str) -> int:
    """Run the command, its output on stderr, then print what was changed; returns 2 when the command failed, else 0."""
    before = settings.environment()
    after = launch.environment(settings.DEVICE.get(), before)
    program = list(words) or [_interpreter(before.get("PATH")), "-c", "import torch"]
    with tempfile.TemporaryDirectory(prefix="anywarp-patches-") as folder:
        status = launch.watch(program, {**after, settings.PATCH_REPORT.name: folder}, stdout=sys.stderr.fileno())
        found = patch_report.read(Path(folder))
    for_all = patch_report.environment(before, after)
    if style == "json":
        all_of_it = {
            "environment": Changes((), for_all).as_json()["changes"],
            "processes": [f.as_json() for f in found],
        }
        click.echo(json.dumps({"command": program, "exit_code": status, **all_of_it}, indent=2))
    else:
        _print("all processes", for_all)
        for each in found:
            _print(_which(each.processes), each.patches)
        if not found:
            click.echo("no process of the command has imported a torch that is served", err=True)
    if status:
        click.echo(f"the command ended with exit code {status}", err=True)
    return 2 if status else 0


def _interpreter(path: str | None) -> str:
    """Return a Python that may have torch: this one if it has, else the one that `python` means."""
    here = importlib.util.find_spec("torch") is not None
    return sys.executable if here else shutil.which("python", path=path) or sys.executable


def _which(processes: Sequence[int]) -> str:
    more = f" and {len(processes) - 3} more" if len(processes) > 3 else ""
    return f"process {', '.join(map(str, processes[:3]))}{more}"


def _print(heading: str, patches: Sequence[Patch]) -> None:
    if not sys.stdout.isatty():
        for patch in patches:
            click.echo(f"{heading}\t{_kind(patch)}\t{patch.target}\t{patch.reason}")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"{heading}: {len(patches)} changes", title_justify="left", box=None, pad_edge=False)
    for column in ("", "what", "why"):
        table.add_column(column)
    for patch in patches:
        table.add_row(_kind(patch), Text(patch.target), Text(patch.reason))
    Console().print(table)


def _kind(patch: Patch) -> str:
    return "added" if patch.added else "changed"

"""`anywarp run`: become the user's command, with our libraries in the place of NVIDIA's.

Without a report it replaces itself by the command, so that signals, terminal and exit code are the command's own.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import click

from anywarp import settings
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.runtime import launch

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""What shells return for a command that does not exist, and for one that cannot be run."""


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.option("--device", metavar="NAME", help="Device to run on (default: ANYWARP_DEVICE, else cpu).")
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), help="Write what the run did to this JSON file."
)
@click.option("--summary", is_flag=True, help="Close with a summary on stderr.")
@click.option("--pure", is_flag=True, help="Put our libraries in place and nothing else: PyTorch stays as it is.")
@click.argument("program", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(device: str | None, report: Path | None, summary: bool, pure: bool, program: tuple[str, ...]) -> int:
    """Run COMMAND with our libraries where it looks for NVIDIA's.

    Put -- before it: anywarp run -- python train.py
    """
    chosen = device or settings.DEVICE.get()
    try:
        if report is None and not summary:
            launch.become(program, launch.environment(chosen, settings.environment(), pure=pure))
        return _watched(chosen, report, summary, pure, program)
    except AnywarpError as error:
        status = {"R021": NOT_FOUND, "R022": NOT_EXECUTABLE}.get(error.diagnostic.code)
        if status is None:
            raise
        click.echo(error.diagnostic.as_text(), err=True)
        return status


def _watched(device: str, report: Path | None, summary: bool, pure: bool, program: tuple[str, ...]) -> int:
    """Run the command as a child, then tell what it did; returns the command's exit code."""
    _check_writable(report)
    with tempfile.TemporaryDirectory(prefix="anywarp-report-") as folder:
        status = launch.watch(program, launch.environment(device, settings.environment(), Path(folder), pure))
        from anywarp.cli.summary import summary_text  # late: the program's start does not wait for it
        from anywarp.runtime.report import read

        found = read(Path(folder))
    if report is not None:
        content = {"command": list(program), "exit_code": status, "device": device, **found.as_json()}
        report.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if summary:
        print(summary_text(found, device), file=sys.stderr)
    return status


def _check_writable(report: Path | None) -> None:
    """Fail before the run, not after it, when the report has nowhere to go."""
    try:
        if report is not None:
            report.open("a").close()
    except OSError as error:
        raise AnywarpError(
            Diagnostic("L001", f"the report {report} cannot be written: {error.strerror}", help="choose another place")
        ) from error

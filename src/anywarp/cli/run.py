"""`anywarp run`: become the user's command, with our libraries in the place of NVIDIA's.

Without a report it replaces itself by the command, so that signals, terminal and exit code are the command's own.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click

from anywarp import settings
from anywarp.cli.report_file import check_writable
from anywarp.devices import device as devices
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.runtime import launch, overlay

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""What shells return for a command that does not exist, and for one that cannot be run."""


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.option(
    "--device",
    metavar="NAME",
    help="Device to run on (default: ANYWARP_DEVICE, else cpu); xpu, npu: an accelerator of the program's torch.",
)
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), help="Write what the run did to this JSON file."
)
@click.option("--summary", is_flag=True, help="Close with a summary on stderr.")
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="NAMES",
    help="Have kernels check what they do: memory, race, init, sync or all; repeat it or separate names by commas.",
)
@click.option(
    "--check-report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write what the checks found to this JSON file.",
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a time line of calls, kernels and copies to this file (.json or .json.gz), for `anywarp report` or Perfetto.",
)
@click.option("--pure", is_flag=True, help="Put our libraries in place and nothing else: PyTorch stays as it is.")
@click.option(
    "--rebind",
    is_flag=True,
    help="Replace the CUDA runtime that a program or library carries statically by ours (read docs/rebind.md first).",
)
@click.argument("program", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    device: str | None,
    report: Path | None,
    summary: bool,
    checks: tuple[str, ...],
    check_report: Path | None,
    trace: Path | None,
    pure: bool,
    rebind: bool,
    program: tuple[str, ...],
) -> int:
    """Run COMMAND with our libraries where it looks for NVIDIA's.

    Put -- before it: anywarp run -- python train.py
    """
    chosen = device or settings.DEVICE.get()
    base = settings.environment() | ({settings.REBIND.name: "1"} if rebind else {})
    try:
        names = _checks(checks)
        if check_report is not None and not names:
            raise click.UsageError("--check-report needs --check")
        if names:
            require_checks(chosen)
        if accelerator := _accelerator(chosen, program[0], base):
            _require_accelerator(chosen, accelerator, base, pure, bool(report or summary or trace))
            launch.become(program, launch.accelerated(chosen, base))
        if chosen == launch.ROCM and not pure:
            _packages_for_rocm(program[0], base)
        if report is None and not summary and not names and trace is None:
            launch.become(program, launch.environment(chosen, base, pure=pure))
        return _watched(_Watch(chosen, report, summary, names, check_report, trace, pure), base, program)
    except AnywarpError as error:
        status = {"R021": NOT_FOUND, "R022": NOT_EXECUTABLE}.get(error.diagnostic.code)
        if status is None:
            raise
        click.echo(error.diagnostic.as_text(), err=True)
        return status


def require_checks(device: str) -> None:
    """Raise AnywarpError (R028) where kernels on a device cannot check what they do."""
    if device != "cpu":
        text = f"kernels on the device {device!r} cannot check what they do"
        raise AnywarpError(
            Diagnostic("R028", text, help="run with --check on the processor: anywarp run --device cpu --check ...")
        )


@dataclass(frozen=True)
class _Watch:
    """What is wanted of a run that we wait for."""

    device: str
    report: Path | None
    summary: bool
    checks: tuple[str, ...]
    check_report: Path | None
    trace: Path | None
    pure: bool


def _checks(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the checks asked for."""
    try:
        return settings.CHECK.get({settings.CHECK.name: ",".join(given)})
    except settings.SettingError as error:
        raise click.BadParameter(str(error).partition(": ")[2], param_hint="--check") from None


def _watched(watch: _Watch, base: dict[str, str], program: tuple[str, ...]) -> int:
    """Run the command as a child in the environment `base`, changed for it, then tell what it did.

    Returns the command's exit code; 1 when checks found something and the command itself says that all is well.
    """
    check_writable(watch.report)
    check_writable(watch.check_report)
    check_writable(watch.trace)
    with tempfile.TemporaryDirectory(prefix="anywarp-report-") as folder:
        if watch.checks:
            base = {**base, settings.CHECK.name: ",".join(watch.checks)}
        if watch.trace is not None:
            base = {**base, settings.TRACE_DIR.name: folder}
        status = launch.watch(program, launch.environment(watch.device, base, Path(folder), watch.pure))
        from anywarp.cli.summary import findings_text, summary_text  # late: the program's start does not wait for it
        from anywarp.runtime.report import read

        found = read(Path(folder))
        if watch.trace is not None:
            _write_trace(Path(folder), watch.trace)
    if watch.report is not None:
        content = {"command": list(program), "exit_code": status, "device": watch.device, **found.as_json()}
        watch.report.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if watch.check_report is not None:
        findings = [finding.as_json() for finding in found.findings]
        content = {"command": list(program), "exit_code": status, "checks": list(watch.checks), "findings": findings}
        watch.check_report.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if watch.summary:
        print(summary_text(found, watch.device), file=sys.stderr)
    if watch.checks:
        print(findings_text(found, watch.checks), file=sys.stderr)
    return status or int(bool(found.findings))


def _accelerator(chosen: str, program: str, base: dict[str, str]) -> str | None:
    """Return the prefix of the program's Python when the device is none of ours, and may be one of its torch's; else None."""
    if chosen == launch.PASSED_THROUGH or chosen in devices.names():
        return None
    prefix = overlay.environment_of(program, base.get("PATH", os.defpath))
    if prefix is None:
        return None
    from anywarp.frameworks.torch.accelerators import check  # late, as below

    return prefix if check.may_be(chosen, prefix, base.get("PYTHONPATH", "")) else None


def _require_accelerator(name: str, prefix: str, base: dict[str, str], pure: bool, watched: bool) -> None:
    """Raise AnywarpError: F020 or F021 where the program's torch has no such device, F022 for options that say nothing there."""
    from anywarp.frameworks.torch.accelerators import check

    text = ""
    if pure:
        text = f"--pure leaves PyTorch as it is, so nothing would be mapped to {name}"
    elif watched:
        text = f"--report, --summary and --trace: nothing of a program on {name} passes through anywarp's libraries"
    if text:
        raise AnywarpError(
            Diagnostic("F022", text, help="leave the option out; torch.profiler shows what runs on the device")
        )
    check.require(name, prefix, base)


def _packages_for_rocm(program: str, base: dict[str, str]) -> None:
    """Say which packages of the program's environment have no counterpart for ROCm, as `anywarp env make` wrote it down.

    AnywarpError (R032) where the environment or its overlay has changed since.
    """
    prefix = overlay.environment_of(program, base.get("PATH", os.defpath))
    if prefix is None:
        return
    record = overlay.find(settings.CACHE_DIR.get().absolute(), prefix)
    if record is None:
        return _no_overlay(prefix)
    if misfits := overlay.misfits(record):
        text = f"the packages for ROCm beside {prefix} do not fit it any more: {'; '.join(misfits)}"
        raise AnywarpError(Diagnostic("R032", text, help=f"anywarp env make --python {shlex.quote(prefix)}"))
    for one in record.without:
        help = f" ({one.help})" if one.help else ""
        click.echo(f"anywarp: {one.name} {one.version} has no counterpart for ROCm: {one.reason}{help}", err=True)


def _no_overlay(prefix: str) -> None:
    """Say that an environment has a torch for CUDA, which AMD GPUs do not run, and no overlay."""
    from anywarp.frameworks.torch import found  # late, as above

    for place in sorted(Path(prefix).glob("lib/python3*/*-packages/torch")):
        if found.is_torch(place) and (torch := found.read(place)).cuda:
            text = f"torch {torch.version} in {prefix} is a build for CUDA, which finds no AMD GPU"
            help = f"lay its counterpart beside it: anywarp env make --python {shlex.quote(prefix)}"
            found_it = Diagnostic("R033", text, severity="warning", help=help)
            click.echo(f"anywarp: {found_it.as_text()}", err=True)


def _write_trace(folder: Path, target: Path) -> None:
    from anywarp.runtime import trace, trace_files  # late, as above

    processes = trace_files.read_folder(folder)
    try:
        events = trace.write(processes, target)
    except OSError as error:
        raise AnywarpError(
            Diagnostic("L001", f"the trace {target} cannot be written: {error.strerror}", help="choose another place")
        ) from error
    lost = sum(process.dropped for process in processes)
    click.echo(f"anywarp: {events} events of {len(processes)} processes in {target}", err=True)
    if lost:
        click.echo(f"anywarp: {lost} more did not fit (ANYWARP_TRACE_LIMIT)", err=True)

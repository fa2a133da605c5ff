"""`anywarp sanitize`: the checks of `anywarp run --check` by the options and in the words of NVIDIA's compute-sanitizer, which scripts start and read.

Source of options, words and exit codes: NVIDIA, Compute Sanitizer User Manual, 2025.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from anywarp import settings
from anywarp.cli import report_file
from anywarp.cli.readable_names import readable
from anywarp.cli.run import require_checks
from anywarp.runtime import launch, leaks, trace_files
from anywarp.runtime.leaks import Leak
from anywarp.runtime.report import Finding, read

CHECKS = {"memcheck": "memory", "racecheck": "race", "initcheck": "init", "synccheck": "sync"}
"""What --check calls a tool of compute-sanitizer's."""

_ACCESSES = {"load": "read", "store": "write"}
_WRONG = {
    "out of bounds": "is out of bounds",
    "misaligned": "is misaligned",
    "use after free": "is out of bounds, in memory that was freed",
}
_MARK = "========="

_IDLE = (
    ("--target-processes", ("all", "application-only")),
    ("--show-backtrace", ("yes", "no", "host", "device")),
    ("--destroy-on-device-error", ("context", "kernel")),
    ("--demangle", ("full", "simple", "no")),
    ("--report-api-errors", ("no", "explicit")),
    ("--check-device-heap", ("yes", "no")),
    ("--racecheck-report", ("hazard", "analysis", "all")),
)
"""Options that change nothing here: all processes are checked, and errors of calls are told by the program alone."""


def _idle(command: Callable[..., int]) -> Callable[..., int]:
    for name, words in _IDLE:
        command = click.option(name, type=click.Choice(words), expose_value=False, hidden=True)(command)
    return click.option("--launch-timeout", type=int, expose_value=False, hidden=True)(command)


@click.command("sanitize", context_settings={"allow_interspersed_args": False})
@click.option("--tool", type=click.Choice(list(CHECKS)), default="memcheck", help="What to look for.")
@click.option("--error-exitcode", type=click.IntRange(0, 255), default=0, help="Exit code where something was found.")
@click.option("--log-file", metavar="FILE", help="Where the findings go (default: stdout); %p is our process's number.")
@click.option("--print-limit", type=click.IntRange(0), default=100, help="Findings shown at most; 0: all.")
@click.option(
    "--kernel-name",
    "--kernel-regex",
    "-k",
    "kernels",
    multiple=True,
    metavar="FILTER",
    help="Only these kernels: kne=NAME, kns=PART or regex=PATTERN.",
)
@click.option("--leak-check", type=click.Choice(["full", "no"]), default="no", help="Whether memory was given back.")
@click.option("--require-cuda-init", type=click.Choice(["yes", "no"]), default="yes", help="Whether CUDA must be used.")
@_idle
@click.argument("program", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    tool: str,
    error_exitcode: int,
    log_file: str | None,
    print_limit: int,
    kernels: tuple[str, ...],
    leak_check: str,
    require_cuda_init: str,
    program: tuple[str, ...],
) -> int:
    """Run COMMAND and report what its kernels do wrong, as compute-sanitizer does.

    Its exit code is the command's, unless --error-exitcode says otherwise.
    """
    wanted = [_filter(text) for text in kernels]
    watches_memory = leak_check == "full"
    if watches_memory and tool != "memcheck":
        raise click.UsageError("--leak-check full goes with --tool memcheck")
    log = Path(log_file.replace("%p", str(os.getpid()))) if log_file else None
    device = settings.DEVICE.get()
    require_checks(device)
    report_file.check_writable(log)
    with tempfile.TemporaryDirectory(prefix="anywarp-report-") as folder:
        base = {**settings.environment(), settings.CHECK.name: CHECKS[tool]}
        base |= {settings.TRACE_DIR.name: folder} if watches_memory else {}
        status = launch.watch(program, launch.environment(device, base, Path(folder)))
        found = read(Path(folder))
        leaked = _Leaks.read(Path(folder)) if watches_memory else None
    findings = [
        f for f in found.findings if f.check == CHECKS[tool] and (not wanted or any(w(f.kernel) for w in wanted))
    ]
    missed = require_cuda_init == "yes" and not found.processes
    text = "\n".join(f"{_MARK} {line}".rstrip() for line in _lines(tool, findings, leaked, print_limit, missed)) + "\n"
    if log is None:
        sys.stdout.write(text)
    else:
        report_file.write(log, text)
    if (findings or missed or (leaked and leaked.found)) and error_exitcode:
        return error_exitcode
    return status


@dataclass(frozen=True, slots=True)
class _Leaks:
    """What the processes of the command did not give back; `missing` events are not known, so that there may be more or fewer."""

    found: list[Leak]
    missing: int

    @classmethod
    def read(cls, folder: Path) -> _Leaks:
        """Read the traces in a folder."""
        traces = trace_files.read_folder(folder)
        found = [leak for trace in traces for leak in leaks.of_process(trace)]
        return cls(found, sum(trace.dropped + trace.damaged for trace in traces))


def _filter(text: str) -> Callable[[str], bool]:
    """Return what says whether a kernel, by its symbol, is among those that an option names."""
    kind, equals, name = text.partition("=")
    if equals and kind in ("kne", "kernel_name"):
        return lambda kernel: name in (kernel, readable(kernel), readable(kernel).partition("(")[0])
    if equals and kind in ("kns", "kernel_substring"):
        return lambda kernel: name in kernel or name in readable(kernel)
    if equals and kind == "regex":
        try:
            pattern = re.compile(name)
        except re.error as error:
            raise click.BadParameter(f"{name!r} is no pattern: {error}", param_hint="--kernel-regex") from None
        return lambda kernel: bool(pattern.search(kernel))
    raise click.BadParameter(f"{text!r} is none of kne=NAME, kns=PART, regex=PATTERN", param_hint="--kernel-name")


def _lines(tool: str, findings: list[Finding], leaked: _Leaks | None, limit: int, missed: bool) -> Iterable[str]:
    yield "COMPUTE-SANITIZER"
    if missed:
        yield "Error: no process of the command used CUDA"
    shown = findings[: limit or None]
    for finding in shown:
        yield from _told(finding)
        yield ""
    if len(shown) < len(findings):
        yield f"{len(findings) - len(shown)} more places are not shown (--print-limit)"
    if leaked is not None:
        yield from _leaks_told(leaked, limit - len(shown) if limit else None)
    if tool == "racecheck":
        hazards = _count(len(findings), "hazard")
        yield f"RACECHECK SUMMARY: {hazards} displayed ({_count(len(findings), 'error')}, 0 warnings)"
    else:
        leaks_count = len(leaked.found) if leaked else 0
        yield f"ERROR SUMMARY: {_count(sum(f.count for f in findings) + leaks_count + missed, 'error')}"


def _leaks_told(leaked: _Leaks, limit: int | None) -> Iterable[str]:
    """Give the lines of what was not given back, at most `limit` of them one by one."""
    for leak in leaked.found[:limit]:
        yield f"Leaked {leak.size:,} bytes at {leak.address:#x}"
        yield f"    allocated by {leak.call}" if leak.call else "    allocated outside of a call"
        yield ""
    if limit is not None and len(leaked.found) > limit:
        yield f"{_count(len(leaked.found) - limit, 'more allocation')} not shown (--print-limit)"
    if leaked.missing:
        yield f"Warning: {_count(leaked.missing, 'event')} not recorded (ANYWARP_TRACE_LIMIT), so there may be others"
    yield f"LEAK SUMMARY: {sum(leak.size for leak in leaked.found)} bytes leaked in {len(leaked.found)} allocations"


def _told(finding: Finding) -> Iterable[str]:
    """Give the lines of one finding."""
    space = finding.space.partition(" ")[0] or "global"
    access = _ACCESSES.get(finding.access, finding.access)
    kernel = readable(finding.kernel)
    if finding.check == "memory":
        yield f"Invalid __{space}__ {access} of size {_count(finding.size, 'byte')}"
    elif finding.check == "init":
        yield f"Uninitialized __{space}__ memory {access} of size {_count(finding.size, 'byte')}"
    elif finding.check == "race":
        yield f"Error: Race reported between {access.capitalize()} access at {kernel} in {finding.place}"
    else:
        yield f"Barrier error detected. {finding.kind.capitalize()}."
    if finding.check != "race":
        yield f"    at {kernel} in {finding.place}"
    if finding.inlined_at:
        yield f"    inlined at {finding.inlined_at}"
    yield f"    by thread {finding.thread} in block {finding.block}"
    if finding.check == "memory":
        yield f"    Address {finding.address:#x} {_WRONG.get(finding.kind, f'is of a {finding.kind}')}"
    elif finding.check != "init" and finding.text:
        yield f"    {finding.text}"
    if finding.more:
        yield f"    {finding.more}"
    if finding.count > 1:
        yield f"    and {_count(finding.count - 1, 'more thread')} here"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

"""Files that a command writes when it is done: whether that will be possible is asked before it begins."""

from __future__ import annotations

from pathlib import Path

from anywarp.diagnostics import AnywarpError, Diagnostic


def check_writable(report: Path | None) -> None:
    """Fail before the work, not after it, when the report has nowhere to go (AnywarpError L001)."""
    try:
        if report is not None:
            report.open("a").close()
    except OSError as error:
        raise AnywarpError(
            Diagnostic("L001", f"the report {report} cannot be written: {error.strerror}", help="choose another place")
        ) from error

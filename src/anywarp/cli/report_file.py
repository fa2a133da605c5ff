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
        raise unwritable(f"the report {report}", error) from error


def write(path: Path, text: str) -> None:
    """Write a text; AnywarpError (L001)."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(str(path), error) from error


def unwritable(what: str, error: OSError) -> AnywarpError:
    """Return what is to be raised where a file cannot be written."""
    return AnywarpError(Diagnostic("L001", f"{what} cannot be written: {error.strerror}", help="choose another place"))

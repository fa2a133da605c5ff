"""The problems of `anywarp fleet`, with their codes."""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic

PLAN = "Y140"
EXTRA = "Y141"
FOLDER = "Y142"
RUNNER = "Y144"
DAMAGED = "Y145"
LIST = "Y146"
MEMBER = "Y147"


def problem(code: str, message: str, help: str = "") -> AnywarpError:
    """Build the error for a code; the caller raises it."""
    return AnywarpError(Diagnostic(code, message, help=help))

"""The problems of `anywarp rollout`, with their codes."""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic

PLAN = "Y070"
EXTRA = "Y071"
STATE = "Y072"
BUSY = "Y073"
CHANGED = "Y074"
DRIVER = "Y075"
LOST = "Y076"


def problem(code: str, message: str, help: str) -> AnywarpError:
    """Build the error for a code; the caller raises it."""
    return AnywarpError(Diagnostic(code, message, help=help))

"""The diagnostic codes of the webhook (Y110 to Y119)."""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic

MISSING = "Y110"
CERTIFICATE = "Y111"
CANNOT_LISTEN = "Y112"
WORKERS = "Y113"
CLUSTER = "Y114"
UNREADABLE = "Y115"


def problem(code: str, message: str, help: str) -> AnywarpError:
    """Build the error for a code; the caller raises it."""
    return AnywarpError(Diagnostic(code, message, help=help))


def missing(error: ImportError) -> AnywarpError:
    """Build the error for a package of the extra that is not installed."""
    return problem(MISSING, f"the webhook needs the package {error.name}", "pip install 'anywarp[webhook]'")

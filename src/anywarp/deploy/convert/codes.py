"""The diagnostic codes of conversions (Y001 to Y029) with what to do about each.

A refusal carries one of them, so that a list of what is left can be sorted by what kind of decision it waits for.
"""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic

UNREADABLE = "Y001"
NOT_CONVERTIBLE_FILE = "Y002"
CANNOT_WRITE = "Y003"
BAD_ANSWER = "Y004"
NOT_CONVERTED = "Y010"
NO_COUNTERPART = "Y011"
ASK = "Y012"
PARTITION = "Y013"
FREELOADER = "Y014"
REPLACED_WHOLE = "Y015"
INVALID = "Y017"
CLASH = "Y018"
DEPENDS = "Y019"


def problem(code: str, message: str, help: str) -> AnywarpError:
    """Build the error for a code; the caller raises it."""
    return AnywarpError(Diagnostic(code, message, help=help))

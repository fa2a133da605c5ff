"""The codes of what can go wrong with the pages, and how it is raised."""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic

EXTRA, ADDRESS, MISSING = "Y130", "Y131", "Y132"

NOT_FOUND = (MISSING, "V032")
"""What a browser is told with 404."""


def problem(code: str, text: str, help: str = "") -> AnywarpError:
    """Return what is to be raised."""
    return AnywarpError(Diagnostic(code, text, help=help))

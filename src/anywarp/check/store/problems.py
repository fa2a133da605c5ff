"""The codes of what can go wrong with the store of results, and how it is raised."""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic

UNUSABLE, FOREIGN, UNKNOWN = "V030", "V031", "V032"


def problem(code: str, text: str, help: str = "") -> AnywarpError:
    """Return what is to be raised."""
    return AnywarpError(Diagnostic(code, text, help=help))

"""The codes of what can go wrong while a model is exported, and how it is raised."""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic

PACKAGES, MODEL, INPUTS, CONVERSION = "F012", "F013", "F014", "F015"


def problem(code: str, text: str, help: str = "") -> AnywarpError:
    """Return what is to be raised."""
    return AnywarpError(Diagnostic(code, text, help=help))

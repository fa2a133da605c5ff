"""The codes of what can go wrong while something is measured, and how it is raised."""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic

UNLIKE, FAILED, UNLOADED, ASKED, LOADER, ENDPOINT, PROMPTS, RAY = (
    "V033", "V034", "V035", "V036", "V037", "V038", "V039", "V040"
)  # fmt: skip


def problem(code: str, text: str, help: str = "") -> AnywarpError:
    """Return what is to be raised."""
    return AnywarpError(Diagnostic(code, text, help=help))

"""The diagnostics of bundles."""

from __future__ import annotations

from pathlib import Path

from anywarp.diagnostics import AnywarpError, Diagnostic


def shown(text: object, most: int = 200) -> str:
    """Return a text from a bundle for a message: no control characters, not endless."""
    plain = "".join(c if c.isprintable() else "?" for c in str(text)[: most + 1])
    return plain if len(plain) <= most else plain[:most] + "..."


def not_there(path: Path, why: str) -> AnywarpError:
    """Return V001: there is no bundle at this place."""
    help = "name the folder or the .tar that anywarp record wrote"
    return AnywarpError(Diagnostic("V001", f"{shown(path)} holds no recording: {why}", help=help))


def damaged(where: str, why: str) -> AnywarpError:
    """Return V002: the bundle is there, and its content is not what was recorded."""
    help = "copy it again from where it was recorded, or record again"
    return AnywarpError(Diagnostic("V002", f"the recording is damaged: {shown(where)}: {why}", help=help))


def excessive(where: str, why: str) -> AnywarpError:
    """Return V003: the bundle demands more than a recording can need."""
    help = "no recording of anywarp's is like that: do not trust its source"
    return AnywarpError(Diagnostic("V003", f"the recording is refused: {shown(where)}: {why}", help=help))


def not_written(path: object, error: OSError) -> AnywarpError:
    """Return V004: a recording cannot be written there."""
    help = "choose another place with -o, or free some space"
    return AnywarpError(Diagnostic("V004", f"{shown(path)} cannot be written: {error.strerror or error}", help=help))

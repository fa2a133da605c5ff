"""The problems of `anywarp env`, with their codes."""

from __future__ import annotations

import errno

from anywarp.diagnostics import AnywarpError, Diagnostic

NO_PYTHON = "Y060"
NOT_INSTALLED = "Y061"
NO_ROOM = "Y062"
NOTHING = "Y063"
BROKEN = "Y064"
UNREAD = "Y065"


def problem(code: str, message: str, help: str) -> AnywarpError:
    """Build the error for a code; the caller raises it."""
    return AnywarpError(Diagnostic(code, message, help=help))


def cannot_write(error: OSError, where: object) -> AnywarpError:
    """Return what is said of a folder of ours that takes nothing; a full disk by name."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full(where)
    return problem(
        NO_ROOM, f"{where} cannot be written: {error.strerror or error}", "set ANYWARP_CACHE_DIR to a folder of yours"
    )


def full(where: object) -> AnywarpError:
    """Return what is said of a full disk."""
    text = f"the disk of {where} is full; nothing was left there"
    return problem(
        NO_ROOM, text, "a torch for ROCm takes 10 to 25 GB: make room, or set ANYWARP_CACHE_DIR to a larger disk"
    )

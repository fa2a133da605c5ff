"""The diagnostic codes of reading trees and assessing them (M002 to M019) and the one way to raise them.

Codes are stable: users look them up with `anywarp explain`, and programs match on them, so a code is never given a new meaning.
"""

from __future__ import annotations

from typing import Any

from anywarp.diagnostics import AnywarpError, Diagnostic, Severity, Source

UNREADABLE = "M002"
TOO_LARGE = "M003"
NOT_UNDERSTOOD = "M004"
WORKER_DIED = "M005"
TOOK_TOO_LONG = "M006"
DAMAGED_ARCHIVE = "M007"
ARCHIVE_LIMIT = "M008"
LEAVES_ARCHIVE = "M009"
TOO_MANY_PLACES = "M010"
NO_SUCH_PATH = "M011"
BAD_BASELINE = "M012"
CACHE_UNUSABLE = "M013"

_HELP = {
    UNREADABLE: "give this user the right to read it, or leave it out with --exclude",
    TOO_LARGE: "if it matters, split it or look at it by hand; --exclude leaves it out without a word",
    NOT_UNDERSTOOD: "the rest was read; if the file is sound, report it with the file",
    WORKER_DIED: "the rest was read; look at this file by hand, and report it with the file",
    TOOK_TOO_LONG: "the rest was read; look at this file by hand, or leave it out with --exclude",
    DAMAGED_ARCHIVE: "fetch or make the archive again; what was read before the damage is listed",
    ARCHIVE_LIMIT: "unpack the archive and assess the folder",
    LEAVES_ARCHIVE: "nothing was written; do not unpack such an archive with a program that obeys its names",
    TOO_MANY_PLACES: "the file is probably generated: assess what it is generated from",
    NO_SUCH_PATH: "name a file or a folder that exists",
    BAD_BASELINE: "make it with `anywarp assess PATH --format json -o FILE`",
    CACHE_UNUSABLE: "everything is read again each time; free some space or set ANYWARP_CACHE_DIR to a directory of your own",
}


def diagnostic(
    code: str, message: str, source: Source | None = None, severity: Severity = "error", **details: Any
) -> Diagnostic:
    """Build the diagnostic of `code` with its usual help."""
    return Diagnostic(code, message, severity, source, None, _HELP[code], details)


def problem(code: str, message: str, source: Source | None = None, **details: Any) -> AnywarpError:
    """Build the error for `code`; the caller raises it."""
    return AnywarpError(diagnostic(code, message, source, **details))


def help_of(code: str) -> str:
    """Return the usual help of a code; nothing for codes of others."""
    return _HELP.get(code, "")

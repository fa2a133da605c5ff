"""Where the compile service of this user is found: a socket in a private directory (docs/contracts.md, section 3).

Whoever can answer on that socket decides what code a program runs, so the directory must be the user's own and closed to others.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import AnywarpError, Diagnostic

LONGEST_SOCKET_PATH = 100
"""The kernel allows 107 bytes (unix(7)); a few are kept for the temporary name while the service starts."""


def socket_paths(build_id: str, cache: Path) -> list[Path]:
    """Return where the service for this compiler and cache may listen, best first; makes the directories.

    There are several because a disk may be full: the service takes the first that it can. AnywarpError (R008) when no private
    directory can be had.
    """
    digest = hashlib.sha256(f"{build_id}\n{cache}".encode()).hexdigest()
    name = f"service-{digest[:16]}.sock"
    folders = (f for f in _candidates(cache) if len(os.fsencode(f / name)) <= LONGEST_SOCKET_PATH and _make_private(f))
    paths = [folder / name for folder in folders]
    if paths:
        return paths
    raise AnywarpError(
        Diagnostic(
            "R008",
            "there is no private directory for the compile service's socket",
            help="set XDG_RUNTIME_DIR or ANYWARP_CACHE_DIR to a directory that is yours and that only you may write to",
        )
    )


def is_private(folder: Path) -> bool:
    """Tell whether a directory is this user's own, no link, and closed to everybody else."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _candidates(cache: Path) -> list[Path]:
    runtime = settings.RUNTIME_DIR.get()
    first = [runtime / "anywarp"] if runtime is not None and runtime.is_dir() else []
    own = f"anywarp-{os.getuid()}"
    beside = [cache / "run"] if _may_hold(cache) else []
    return [*first, *beside, Path(_temporary_directory()) / own, Path("/dev/shm") / own]


def _may_hold(cache: Path) -> bool:
    """Tell whether the cache is a folder of this user's that others may not write to, or can become one."""
    try:
        status = os.stat(cache)
    except OSError:
        return True
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


def _temporary_directory() -> str:
    """Return the system's folder for temporary files, which tempfile finds by writing a file: a disk may be full."""
    try:
        return tempfile.gettempdir()
    except OSError:
        return "/tmp"


def _make_private(folder: Path) -> bool:
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return False
    return is_private(folder) and os.access(folder, os.W_OK | os.X_OK)

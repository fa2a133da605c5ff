"""A bundle's folder as one .tar, for carrying."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path


def pack(folder: Path, target: Path) -> None:
    """Write the files of a bundle into a .tar that appears whole; OSError where it cannot be written."""
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "wb") as out, tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
                    archive.add(path, path.relative_to(folder).as_posix(), recursive=False, filter=_plain)
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who wrote it and when: a bundle goes to other people, and equal ones give equal archives."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime, member.mode = 0, 0o600
    return member

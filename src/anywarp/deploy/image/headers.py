"""Headers of tar archives whose extensions are bounded: a PAX header of gigabytes would be read into memory whole."""

from __future__ import annotations

import tarfile
from typing import Any

MOST = 1 << 20
_EXTENSIONS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


class BoundedInfo(tarfile.TarInfo):
    """A member of an archive; tarfile.HeaderError for an extension of more than a megabyte."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> Any:
        """Read a header (the standard library calls this before it reads what the header announces)."""
        info = super().frombuf(buf, encoding, errors)
        if info.type in _EXTENSIONS and info.size > MOST:
            raise tarfile.ReadError(f"a header of {info.size} bytes")
        return info

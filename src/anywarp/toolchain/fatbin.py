"""Writing a fat binary: the container of PTX that a program carries and the runtime library is given.

Reading is `anywarp.ptx.fatbin`; the layout is the one it describes. `python -m anywarp.toolchain.fatbin OUT PTX...` writes one.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from anywarp.ptx import fatbin as reader

_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_PTX, _VERSION, _64_BIT = 1, 0x0101, 0x11


def pack(texts: Sequence[bytes]) -> bytes:
    """Return a fat binary that holds these PTX texts, uncompressed. AnywarpError for text that does not begin as PTX."""
    entries = b"".join(map(_entry, texts))
    return _HEADER.pack(reader.FATBIN_MAGIC, 1, _HEADER.size, len(entries)) + entries


def _entry(text: bytes) -> bytes:
    image = next(iter(reader.images(text)))
    payload = text.rstrip(b"\0") + b"\0"
    payload += b"\0" * (-len(payload) % 8)
    flags = _64_BIT | {"a": 0x100000, "f": 0x200000}.get(image.variant, 0)
    major, minor = image.version
    head = (_PTX, _VERSION, _ENTRY.size, len(payload), 0, 0, minor, major, image.arch, 0, 0, flags, 0, 0)
    return _ENTRY.pack(*head) + payload


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(pack([Path(name).read_bytes() for name in sys.argv[2:]]))

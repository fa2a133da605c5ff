"""Images and containers made by hand, from the manual and docs/contracts.md, for tests that must not use our own makers."""

import hashlib
import struct


def container(payload: bytes, header: str = "kind kernel\n") -> bytes:
    """A container as docs/contracts.md, section 1, describes it."""
    body = header.encode() + payload
    return b"ANYWARP1" + struct.pack("<IQ", len(header.encode()), len(payload)) + hashlib.sha256(body).digest() + body


def ptx(*entries: str) -> bytes:
    """A module of empty kernels; each entry is a name, parentheses, and directives if there are any."""
    bodies = "".join(f".visible .entry {entry} {{ ret; }}\n" for entry in entries)
    return f".version 7.8\n.target sm_80\n.address_size 64\n{bodies}".encode()


def fatbin(*images: tuple[int, int, bytes]) -> bytes:
    """A fat binary of uncompressed images, each a kind (1 PTX, 2 cubin), an architecture and a payload."""
    entries = b""
    for kind, arch, payload in images:
        payload += b"\0" * (-len(payload) % 8)
        entries += (
            struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(payload), 0, 0, 8, 7, arch, 0, 0, 0, 0, 0) + payload
        )
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries

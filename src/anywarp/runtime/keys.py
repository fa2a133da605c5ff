"""The names under which images, modules and kernels are cached (docs/contracts.md, section 2).

The native libraries compute the same keys in C++; a difference would only cost a compilation, never a wrong result,
because the service checks every key it is given.
"""

from __future__ import annotations

import hashlib
import re

KEY = re.compile(r"[0-9a-f]{64}")


def image_key(image: bytes) -> str:
    """Return the key of an image as the program passed it (PTX without its terminating NUL)."""
    return hashlib.sha256(image).hexdigest()


def module_key(build_id: str, device: str, image: str) -> str:
    """Return the key of a module's description on a device."""
    return _sha256("module", build_id, device, image)


def kernel_key(build_id: str, device: str, image: str, kernel: str, block: tuple[int, int, int], options: str) -> str:
    """Return the key of a kernel compiled for one block shape on a device."""
    return _sha256("kernel", build_id, device, image, kernel, " ".join(map(str, block)), options)


def source_key(build_id: str, image: str) -> str:
    """Return the key of a source's PTX; `image` is the key of all that the program handed over."""
    return _sha256("source", build_id, image)


def machine_key(build_id: str, device: str) -> str:
    """Return the key of what was measured of a device; `device` is its identity without what follows from that."""
    return _sha256("machine", build_id, device)


def _sha256(*lines: str) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def plain(device: str) -> str:
    """Return a device without the words that its code goes by."""
    return ":".join(device.split(":", 2)[:2])

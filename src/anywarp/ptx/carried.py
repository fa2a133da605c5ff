"""Whether a program or library carries NVIDIA's CUDA runtime, linked statically, and whether it can be redirected."""

from __future__ import annotations

import re
from typing import Literal

from anywarp.ptx import elf

Carried = Literal["", "static", "static, stripped"]

_MARK = re.compile(
    rb"cudaErrorInsufficientDriver|libcudart_static|CUDA driver version is insufficient for CUDA runtime version"
)

ADVICE: dict[Carried, str] = {
    "static": "carries NVIDIA's runtime, which works with NVIDIA's driver only: start it by `anywarp run --rebind` (docs/rebind.md)",
    "static, stripped": "carries NVIDIA's runtime without its symbols: it works with NVIDIA's driver only, and there is no sound way to redirect it; "
    "use a build that links libcudart.so or keeps its symbols (docs/rebind.md)",
}
"""What to do about each, in words."""


def carried(read: elf.Elf) -> Carried:
    """Return how the runtime is linked into a file that does not need the shared one; "" where it is not.

    `anywarp run --rebind` finds its entry points by the symbols that the file itself has: without them nothing is guessed.
    """
    content = read.section(".rodata")
    if content is None or _MARK.search(content) is None:
        return ""
    tables = [read.section(name) for name in (".strtab", ".dynstr")]
    return "static" if any(b"\0cudaMalloc\0" in bytes(t) for t in tables if t is not None) else "static, stripped"

"""The processor described, probed and entered as a device.

Its identity is part of cache keys: code compiled for one processor's instructions must never be loaded on another.
"""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

from anywarp.devices.device import CompileRequest, DeviceInfo

if TYPE_CHECKING:
    from anywarp.ptx.index import ModuleIndex

SHOWN = ("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512_bf16", "avx512_fp16", "amx_tile", "asimd", "sve")
"""The features, as Linux spells them, that decide how fast kernels run."""


class Processor:
    """The device `cpu`."""

    name = "cpu"

    def identity(self) -> str:
        """Return `cpu:` and a digest over model and features (docs/contracts.md, section 2)."""
        lines = _first_processor()
        if "model name" not in lines or "flags" not in lines:
            return f"cpu:generic-{platform.machine()}"
        text = lines["model name"] + lines["flags"]
        return f"cpu:{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def probe(self) -> tuple[DeviceInfo, ...]:
        """Return the one processor that every machine has."""
        lines = _first_processor()
        model = lines.get("model name", "").partition(":")[2].strip() or platform.machine()
        present = set(lines.get("flags", lines.get("Features", "")).partition(":")[2].split())
        name = f"{model} ({len(os.sched_getaffinity(0))} threads)"
        return (DeviceInfo(name, _memory(), tuple(f for f in SHOWN if f in present)),)

    def libraries(self, ours: Path) -> Path:
        """Return the common folder: every machine has a processor."""
        return ours

    def describe(self, index: ModuleIndex) -> bytes:
        """Return the module's description; it does not depend on the processor."""
        from anywarp.compiler.description import pack_module
        from anywarp.compiler.pipeline import describe_module

        return pack_module(describe_module(index))

    def compile(self, index: ModuleIndex, request: CompileRequest) -> bytes:
        """Compile one kernel for this processor."""
        from anywarp.compiler.artifact import pack
        from anywarp.compiler.options import read_options
        from anywarp.compiler.pipeline import compile_kernel
        from anywarp.devices.cpu.target import host_target

        specialisation = read_options(request.options, request.block)
        return pack(compile_kernel(index, request.kernel, specialisation, host_target()))

    def locate(self, index: ModuleIndex, request: CompileRequest, digest: str, offset: int) -> int:
        """Compile one kernel again to find the line of PTX behind an instruction; 0 where nobody knows."""
        from anywarp.compiler.options import read_options
        from anywarp.compiler.pipeline import locate
        from anywarp.devices.cpu.target import host_target

        specialisation = read_options(request.options, request.block)
        return locate(index, request.kernel, specialisation, host_target(), digest, offset)


def _first_processor() -> dict[str, str]:
    """Return the lines of the first processor in /proc/cpuinfo by their names, as they stand."""
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return {}
    first = text.partition("\n\n")[0]
    return {line.partition(":")[0].strip(): line for line in first.split("\n")}


def _memory() -> int:
    """Return the bytes of physical memory, or of the control group's limit when that is less."""
    amounts = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(place).read_text().strip()
        except OSError:
            continue
        if text.isdecimal() and int(text) > 0:
            amounts.append(int(text))
    return min(amounts)


device = Processor()
"""What the entry point names."""

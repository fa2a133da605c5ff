"""The processor described, probed and entered as a device.

Its identity is part of cache keys: code compiled for one processor's instructions must never be loaded on another.
"""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anywarp.devices.device import CompileRequest, DeviceInfo
from anywarp.diagnostics import AnywarpError, Diagnostic

if TYPE_CHECKING:
    from anywarp.compiler.simd.target import SimdTarget
    from anywarp.ptx.index import ModuleIndex

SHOWN = ("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512_bf16", "avx512_fp16", "amx_tile", "asimd", "sve")
"""The features, as Linux spells them, that decide how fast kernels run."""


_SPARE = 1 << 30
"""Bytes of memory from which on a measurement may take 64 MiB for a moment."""


@dataclass(frozen=True, slots=True)
class Processor:
    """The device `cpu`; `tuning` are the words for what was found of its speed (compiler/simd/tuning.py)."""

    tuning: str = ""

    @property
    def name(self) -> str:
        """Return the device's short name."""
        return "cpu"

    def variant(self, identity: str) -> Processor:
        """Return the device for `cpu`, or for what `identity` gave, with `:` and words of its speed; AnywarpError D003 for other words."""
        words = identity.split(":", 2)[2:]
        if not words:
            return Processor()
        from anywarp.compiler.simd.tuning import read_tuning  # late: most who ask for the device compile nothing

        try:
            for text in words:
                read_tuning(text)
        except ValueError as error:
            help = "end the programs that use anywarp and start again"
            raise AnywarpError(
                Diagnostic("D003", f"{identity[:80]!r} names no processor: {error}", help=help)
            ) from None
        return Processor(*words)

    def measure(self) -> bytes:
        """Measure this processor; return the record. Takes a tenth of a second, or three where it is not a usual one."""
        from anywarp.devices.cpu.machine import measure, pack_record, settle

        target = self._target()
        return pack_record(*settle(lambda: measure(target, _memory() >= _SPARE), target))

    def _target(self) -> SimdTarget:
        from anywarp.devices.cpu.target import host_target

        return host_target(self.tuning)

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

        specialisation = read_options(request.options, request.block)
        return pack(compile_kernel(index, request.kernel, specialisation, self._target()))

    def locate(self, index: ModuleIndex, request: CompileRequest, digest: str, offset: int) -> int:
        """Compile one kernel again to find the line of PTX behind an instruction; 0 where nobody knows."""
        from anywarp.compiler.options import read_options
        from anywarp.compiler.pipeline import locate

        specialisation = read_options(request.options, request.block)
        return locate(index, request.kernel, specialisation, self._target(), digest, offset)


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

"""How many waves of a kernel a SIMD unit holds at once, by the rules for registers and shared memory.

Sources: the ISA manuals of CDNA3, RDNA2, RDNA3 and RDNA4 (chapters "Kernel State"), and what LLVM's AMDGPU backend documents of
allocation granules.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.compiler.amdgpu.architectures import ARCHITECTURES
from anywarp.compiler.artifact import Amd


@dataclass(frozen=True, slots=True)
class Unit:
    """What waves share: vector registers of a lane per SIMD and their granule, waves per SIMD at most, SIMDs that share `lds` bytes."""

    registers: int
    granule: int
    waves: int
    simds: int
    lds: int
    scalars: int = 0


def unit_of(arch: str) -> Unit:
    """Return the limits of an architecture; KeyError for an unknown one."""
    found = ARCHITECTURES[arch]
    paired = found.generation > 9  # two compute units share LDS, of which a block addresses half
    lds, scalars = (2 * found.lds_bytes, 0) if paired else (found.lds_bytes, 800)
    return Unit(found.registers, found.granule, found.waves, 4, lds, scalars)


def waves_per_simd(amd: Amd, shared: int, threads: int) -> tuple[int, str]:
    """Return how many waves of blocks of `threads` threads with `shared` bytes fit on a SIMD, and what limits them."""
    unit = unit_of(amd.arch)
    registers = max(1, _up(_up(amd.vgprs, 4) + amd.agprs if amd.agprs else amd.vgprs, unit.granule))
    limits = [(unit.waves, "the hardware"), (unit.registers // registers, "vector registers")]
    if unit.scalars:
        limits.append((unit.scalars // _up(max(1, amd.sgprs), 16), "scalar registers"))
    lanes = 32 * amd.warps_per_wave if amd.wave == 64 else 32
    waves = -(-threads // lanes)
    if shared:
        granule = ARCHITECTURES[amd.arch].lds_granule
        limits.append((unit.lds // _up(shared, granule) * waves // unit.simds, "shared memory"))
    least, why = min(limits, key=lambda limit: limit[0])
    return max(0, least), why


def _up(number: int, granule: int) -> int:
    return -(-number // granule) * granule

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


_K = 1024
_LARGE = ("gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201", "gfx12-generic")
"""Architectures of waves of 32 lanes with 1536 vector registers instead of 1024."""


def unit_of(arch: str) -> Unit:
    """Return the limits of an architecture; KeyError for an unknown one."""
    found = ARCHITECTURES[arch]
    if found.generation == 9:
        unified = found.agprs > 0 and arch != "gfx908"
        return Unit(512, 8, 8, 4, found.lds_bytes, 800) if unified else Unit(256, 4, 10, 4, found.lds_bytes, 800)
    if arch in _LARGE:
        return Unit(1536, 24, 16, 4, 128 * _K)
    return Unit(1024, 16, 16, 4, 128 * _K)


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

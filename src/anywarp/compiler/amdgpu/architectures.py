"""AMD's GPU architectures as far as code generation depends on them.

Sources: LLVM's AMDGPU usage page (processors, generic processors, LDS granules) and ROCm's table of GPU specifications.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.diagnostics import AnywarpError, Diagnostic


@dataclass(frozen=True, slots=True)
class Architecture:
    """One architecture: `wave` lanes run together; a block addresses at most `lds_bytes`, given out in units of `lds_granule`.

    `generation` is the first part of the number (9, 10, 11, 12). `matrix` is "mfma", "wmma" or "" and `fp8` "fnuz", "ocp" or "".
    `vgprs` are the vector registers that a lane can have, `agprs` those for matrix products beside them.
    """

    name: str
    generation: int
    wave: int
    lds_bytes: int
    lds_granule: int
    matrix: str = ""
    fp8: str = ""
    vgprs: int = 256
    agprs: int = 0
    generic: bool = False

    @property
    def local_bytes(self) -> int:
        """Return how much local memory a thread can have, bytes: its share of a wave's scratch, less 8 KiB for registers.

        The size of a wave's scratch is a field of 13, 15 or 18 bits in units of 1 KiB (LLVM, AMDGPU usage).
        """
        bits = {11: 15, 12: 18}.get(self.generation, 13)
        return 1024 * ((1 << bits) - 1) // self.wave - 8192


_K = 1024
_TABLE = (
    Architecture("gfx906", 9, 64, 64 * _K, 512),
    Architecture("gfx908", 9, 64, 64 * _K, 512, "mfma", "", 256, 256),
    Architecture("gfx90a", 9, 64, 64 * _K, 512, "mfma", "", 256, 256),
    Architecture("gfx942", 9, 64, 64 * _K, 512, "mfma", "fnuz", 256, 256),
    Architecture("gfx950", 9, 64, 160 * _K, 1280, "mfma", "ocp", 256, 256),
    *(Architecture(f"gfx{n}", 10, 32, 64 * _K, 512) for n in (1030, 1031, 1032, 1033, 1034, 1035, 1036)),
    *(
        Architecture(f"gfx{n}", 11, 32, 64 * _K, 512, "wmma")
        for n in (1100, 1101, 1102, 1103, 1150, 1151, 1152, 1153)
    ),
    *(Architecture(f"gfx{n}", 12, 32, 64 * _K, 512, "wmma", "ocp") for n in (1200, 1201)),
    Architecture("gfx9-generic", 9, 64, 64 * _K, 512, generic=True),
    Architecture("gfx9-4-generic", 9, 64, 64 * _K, 512, "mfma", "", 256, 256, generic=True),
    Architecture("gfx10-3-generic", 10, 32, 64 * _K, 512, generic=True),
    Architecture("gfx11-generic", 11, 32, 64 * _K, 512, "wmma", generic=True),
    Architecture("gfx12-generic", 12, 32, 64 * _K, 512, "wmma", "ocp", generic=True),
)  # fmt: skip
ARCHITECTURES: dict[str, Architecture] = {one.name: one for one in _TABLE}
"""All architectures that code is generated for, by LLVM's name."""

_SWITCHES = ("sramecc", "xnack")


def parse(identity: str) -> tuple[Architecture, str]:
    """Return the architecture that HIP's `gcnArchName` names, and LLVM's features for its switches.

    "gfx942:sramecc+:xnack-" has two switches; one that is not named is left open, so the code serves both settings. AnywarpError D003 for what is not known.
    """
    name, *switches = identity.split(":")
    found = ARCHITECTURES.get(name)
    features: list[str] = []
    for switch in switches:
        if switch[:-1] not in _SWITCHES or switch[-1:] not in ("+", "-"):
            found = None
        features.append(switch[-1:] + switch[:-1])
    if found is None:
        known = ", ".join(ARCHITECTURES)
        raise AnywarpError(
            Diagnostic(
                "D003", f"no code is generated for the architecture {identity[:60]!r}", help=f"known are: {known}"
            )
        )
    return found, ",".join(features)

"""AMD's GPU architectures that code is generated for; what is known of them stands in `catalogue.architectures`."""

from __future__ import annotations

from anywarp.catalogue.architectures import Facts as Architecture
from anywarp.catalogue.architectures import architectures
from anywarp.diagnostics import AnywarpError, Diagnostic

ARCHITECTURES: dict[str, Architecture] = {
    one.name: one for one in architectures() if one.kind in ("compiled", "generic")
}
"""All architectures that code is generated for, by LLVM's name."""


def local_bytes(arch: Architecture) -> int:
    """Return how much local memory a thread can have, bytes: its share of a wave's scratch, less 8 KiB for registers.

    The size of a wave's scratch is a field of 13, 15 or 18 bits in units of 1 KiB (LLVM, AMDGPU usage).
    """
    bits = {11: 15, 12: 18}.get(arch.generation, 13)
    return 1024 * ((1 << bits) - 1) // arch.wave - 8192


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

"""The compiler's target for an AMD GPU, by the name that HIP gives its architecture."""

from __future__ import annotations

from anywarp.compiler.amdgpu.target import AmdTarget, make_target


def target_for(architecture: str) -> AmdTarget:
    """Return the target for `gfx942`, `gfx942:sramecc+:xnack-`, `gfx9-4-generic` ...; AnywarpError D003 for an unknown one."""
    return make_target(architecture)

"""The compiler's target for this machine's processor."""

from __future__ import annotations

from anywarp.compiler.simd.target import SimdTarget, this_machine


def host_target() -> SimdTarget:
    """Return the target that compiles for the processor of this machine, with all features LLVM finds on it."""
    return this_machine()

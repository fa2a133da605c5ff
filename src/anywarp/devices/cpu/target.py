"""The compiler's target for this machine's processor."""

from __future__ import annotations

from dataclasses import replace

from anywarp.compiler.simd.target import SimdTarget, this_machine
from anywarp.compiler.simd.tuning import read_tuning


def host_target(tuning: str = "", measured: bool = False, tiles: bool = False) -> SimdTarget:
    """Return the target that compiles for the processor of this machine, with all features LLVM finds on it.

    `tuning`: words of its speed; `measured`: whether these, or that there are none, come from a measurement; `tiles`: whether
    code may use tiles though the words do not say so.
    """
    chosen = read_tuning(tuning)
    return this_machine(replace(chosen, measured=measured, tiles=int(tiles or chosen.tiles)))

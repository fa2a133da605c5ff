"""Words of 32 bits, one for each lane of a warp, out of the wave's."""

from __future__ import annotations

from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.simd.text import Text


def ballot(e: Emitter, predicate: str) -> str:
    """Return the word of the warp's active lanes in which an i1 is true."""
    return word_of_warp(e, e.t, predicate)


def word_of_warp(e: Emitter, t: Text, predicate: str) -> str:
    """The same, in code that need not be where the emission stands: the kernel's start."""
    if e.wave == 32:
        return t.call("i32", "llvm.amdgcn.ballot.i32", ("i1", predicate))
    whole = t.call("i64", "llvm.amdgcn.ballot.i64", ("i1", predicate))
    if e.half != "0":
        whole = t.two("lshr", "i64", whole, e.once("half64", lambda h: h.cast("zext", "i32", e.half, "i64")))
    return t.cast("trunc", "i64", whole, "i32")

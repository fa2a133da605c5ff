"""Barriers of a block: the hardware's where all threads take part, counters in shared memory otherwise."""

from __future__ import annotations

from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.ir import Terminator

_RELEASE = 'fence syncscope("workgroup") release'
_ACQUIRE = 'fence syncscope("workgroup") acquire'


def emit_barrier(e: Emitter, end: Terminator) -> None:
    """Emit the waiting of a terminator; the caller goes on to its target."""
    if end.attrs.get("kind") == "yield":
        e.t.call("void", "llvm.amdgcn.wave.barrier")
    elif end.attrs.get("warp"):
        warp_barrier(e)
    elif end.attrs.get("kind") == "sync" and end.args[1] is None:
        block_barrier(e)
    else:
        raise NotImplementedError("barriers of some threads")


def warp_barrier(e: Emitter) -> None:
    """Order the memory accesses of a warp's lanes; they run together, so nobody has to be waited for."""
    e.t.do('fence syncscope("wavefront") release')
    e.t.call("void", "llvm.amdgcn.wave.barrier")
    e.t.do('fence syncscope("wavefront") acquire')


def block_barrier(e: Emitter) -> None:
    """Wait for all waves of the block, and see what they wrote."""
    e.t.do(_RELEASE)
    e.t.call("void", "llvm.amdgcn.s.barrier")
    e.t.do(_ACQUIRE)

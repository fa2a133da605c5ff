"""Functions of CUDA's device run time that are written in PTX here: declared in a module, and defined nowhere in it.

NVIDIA's libcudadevrt has them as machine code only. Those of cooperative groups that compilers of Python call are the handle of the
grid and its barrier, which works as in the public headers: a word that every block adds to, and block 0 so that the top bit turns.
A graph's conditional handle is the address of its value (native/cpu/graph_conditional.h).
"""

from __future__ import annotations

from functools import cache

from anywarp.ptx.index import ModuleIndex, index_module
from anywarp.ptx.tree import Function

RUNTIME_FUNCTIONS = frozenset({"cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaGraphSetConditional"})

_TEXT = """.version 8.0
.target sm_80
.address_size 64
.func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b32 %r<3>; .reg .b64 %d<2>;
  mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %d1, {%r2, %r1}; st.param.b64 [result], %d1; ret;
}
.func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .b32 %r<12>; .reg .b64 %d<3>; .reg .pred %p<5>;
  ld.param.b64 %d1, [handle]; setp.eq.s64 %p1, %d1, 0; @%p1 trap;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; or.b32 %r1, %r1, %r2; mov.u32 %r2, %tid.z; or.b32 %r1, %r1, %r2;
  setp.ne.s32 %p2, %r1, 0;
  barrier.sync 0;
  @%p2 bra MEET;
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; or.b32 %r3, %r3, %r4; mov.u32 %r4, %ctaid.z; or.b32 %r3, %r3, %r4;
  mov.u32 %r5, %nctaid.x; mov.u32 %r6, %nctaid.y; mul.lo.s32 %r5, %r5, %r6; mov.u32 %r6, %nctaid.z; mul.lo.s32 %r5, %r5, %r6;
  sub.s32 %r6, -2147483647, %r5; setp.eq.s32 %p3, %r3, 0; selp.b32 %r7, %r6, 1, %p3;
  atom.add.release.gpu.u32 %r8, [%d1+4], %r7;
WAIT:
  ld.acquire.gpu.u32 %r9, [%d1+4]; xor.b32 %r10, %r9, %r8; setp.gt.s32 %p4, %r10, -1; @%p4 bra WAIT;
MEET:
  barrier.sync 0;
  st.param.b32 [result], 0; ret;
}
.func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b32 %r<2>; .reg .b64 %d<2>;
  ld.param.b64 %d1, [handle]; ld.param.b32 %r1, [value]; st.relaxed.gpu.u32 [%d1], %r1; ret;
}
"""


@cache
def _index() -> ModuleIndex:
    return index_module(_TEXT, "<device run time>")


def runtime_function(name: str) -> Function | None:
    """Return the definition of a function of the device run time, None for any other name."""
    return _index().function(name) if name in RUNTIME_FUNCTIONS else None

"""Functions of CUDA's device run time that are written in PTX here: declared in a module, and defined nowhere in it.

NVIDIA's libcudadevrt has them as machine code only. Those of cooperative groups that compilers of Python call are the handle of the
grid and its barrier, which works as in the public headers: a word that every block adds to, and block 0 so that the top bit turns.
A graph's conditional handle is the address of its value (native/cpu/graph_conditional.h).

Those of dynamic parallelism (host_functions.DEVICE_CALLS) put their arguments into memory and ask the runtime, which knows the grid.
"""

from __future__ import annotations

from functools import cache

from anywarp.compiler.host_functions import ARGUMENT_BYTES, CALL_BYTES, DEVICE_CALLS, DeviceCall
from anywarp.ptx.index import ModuleIndex, index_module
from anywarp.ptx.tree import Function

_PREFIXES, _SUFFIXES = ("cuda", "__cudaCDP2"), ("", "_ptsz")
"""How nvcc names the device run time: before CUDA 12 and since; with `_ptsz` where the default stream is the thread's own."""

_CALLS = {
    f"{prefix}{call.name}{suffix}": (number, call)
    for number, call in enumerate(DEVICE_CALLS) for prefix in _PREFIXES for suffix in _SUFFIXES
}  # fmt: skip
_SERVICE = "anywarp_device_runtime"

LAUNCHES = frozenset(
    name for name, (_, call) in _CALLS.items() if "Launch" in call.name or "ParameterBuffer" in call.name
)
"""Functions by which a kernel launches others."""

TAKE_KERNELS = LAUNCHES | frozenset(
    name for name, (_, call) in _CALLS.items() if "Occupancy" in call.name or call.name == "FuncGetAttributes"
)
"""Functions that take the address of a kernel."""

_COOPERATIVE = frozenset({"cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaGraphSetConditional"})
RUNTIME_FUNCTIONS = _COOPERATIVE | _CALLS.keys()

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


_HEAD = _TEXT[: _TEXT.index(".func")]
_DECLARED = (
    f".extern .func (.param .b64 result) {_SERVICE}(.param .b32 call, .param .b64 thread, .param .b64 arguments);\n"
)

# The number of this thread in its grid, for errors that each thread has of its own.
_THREAD = """
  mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %nctaid.x; mul.wide.u32 %d1, %r1, %r2; mov.u32 %r3, %ctaid.x; cvt.u64.u32 %d2, %r3; add.u64 %d1, %d1, %d2;
  mov.u32 %r1, %tid.z; mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y; mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3; cvt.u64.u32 %d2, %r1;
  mad.lo.u64 %d1, %d1, 1024, %d2;
"""


def _definition(name: str) -> str:
    """Return the PTX of a function of dynamic parallelism."""
    number, call = _CALLS[name]
    formals, stores = _arguments(call)
    return f"""{_HEAD}{_DECLARED}
.func (.param .b{call.result[1:]} result) {name}({", ".join(formals)})
{{
  .reg .b32 %r<4>; .reg .b64 %d<5>;
  .local .align 8 .b8 arguments[{CALL_BYTES}];
  {" ".join(stores)}
  {_THREAD}
  mov.u64 %d3, arguments; cvta.local.u64 %d3, %d3;
  call (%d4), {_SERVICE}, ({number}, %d1, %d3);
  {"" if call.result == "i64" else "cvt.u32.u64 %r1, %d4;"}
  st.param.b{call.result[1:]} [result], {"%d4" if call.result == "i64" else "%r1"}; ret;
}}
"""


def _arguments(call: DeviceCall) -> tuple[list[str], list[str]]:
    """Return the declarations of a call's parameters, and what stores them one behind the other, and the bytes that they take."""
    formals: list[str] = []
    stores: list[str] = []
    offset = 0
    for position, kind in enumerate(call.parameters):
        size, name = ARGUMENT_BYTES[kind], f"p{position}"
        word = 8 if size % 8 == 0 else 4
        formals.append(f".param .b{8 * size} {name}" if kind[0] == "i" else f".param .align {word} .b8 {name}[{size}]")
        register = "%d1" if word == 8 else "%r1"
        for at in range(0, size, word):
            stores.append(
                f"ld.param.b{8 * word} {register}, [{name}+{at}]; st.local.b{8 * word} [arguments+{offset + at}], {register};"
            )
        offset += -(-size // 8) * 8
    return formals, stores


@cache
def _index() -> ModuleIndex:
    return index_module(_TEXT, "<device run time>")


@cache
def _dynamic(name: str) -> ModuleIndex:
    return index_module(_definition(name), "<device run time>")


def runtime_function(name: str) -> Function | None:
    """Return the definition of a function of the device run time, None for any other name."""
    if name in _COOPERATIVE:
        return _index().function(name)
    return _dynamic(name).function(name) if name in _CALLS else None


def runtime_service(name: str) -> Function | None:
    """Return the declaration of what the functions of dynamic parallelism call, None for any other name."""
    return _dynamic("cudaGetLastError").function(name) if name == _SERVICE else None

"""A kernel as one LLVM function with AMD's kernel calling convention.

It takes one argument buffer by reference: CUDA's parameters, then `AwHipHidden`.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.compiler.amdgpu import hidden
from anywarp.compiler.amdgpu.architectures import Architecture
from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.amdgpu.flow import emit_blocks
from anywarp.compiler.amdgpu.operations import Operations
from anywarp.compiler.amdgpu.pointers import declared
from anywarp.compiler.ir import Kernel, Specialisation

MAX_THREADS = 1024
_UNUSED = (
    "dispatch-ptr queue-ptr dispatch-id implicitarg-ptr lds-kernel-id hostcall-ptr heap-ptr default-queue completion-action "
    "multigrid-sync-arg"
).split()
"""What LLVM would otherwise have the launch supply for code that it cannot see."""


@dataclass(frozen=True, slots=True)
class Emitted:
    """LLVM IR of a kernel, the shared memory that it has statically (bytes, the runtime's own included), what to note about it."""

    text: str
    shared_bytes: int
    threads: int
    notes: tuple[str, ...] = ()


def emit_kernel(
    kernel: Kernel,
    specialisation: Specialisation,
    arch: Architecture,
    symbol: str,
    warps_per_wave: int,
    *,
    apart: bool = False,
) -> Emitted:
    """Write the LLVM IR module of `kernel`; `apart` as in `Code`. Raises NotImplementedError naming what there is no code for."""
    e = Emitter(kernel, specialisation, arch, warps_per_wave, apart=apart)
    operations = Operations(e)
    emit_blocks(e, operations)
    threads = most_threads(kernel, specialisation, arch, warps_per_wave)
    shared = e.shared_bytes
    idle = _idle(kernel, specialisation) if arch.wave == 64 and warps_per_wave == 1 else []
    if idle:
        e.t.declare("i32", "llvm.amdgcn.workitem.id.x", [])
    body = "\n".join([*e.head.allocas, *e.t.allocas, *idle, *e.head.lines, *e.t.lines])
    declarations = "\n".join(e.t.declarations.values())
    bytes = hidden.argument_bytes(kernel.param_bytes)
    text = (
        f'define amdgpu_kernel void @"{symbol}"(ptr addrspace(4) noundef byref([{bytes} x i8]) align 16 %args) '
        f"{_attributes(threads)}{_shape(specialisation, arch, warps_per_wave)} {{\n{'start' if idle else 'entry'}:\n{body}\n}}\n"
        f"{declarations}\n{declared(e)}\n!0 = !{{}}\n{_version(arch)}"
    )
    return Emitted(text, shared, threads, tuple(e.notes))


def _idle(kernel: Kernel, specialisation: Specialisation) -> list[str]:
    """Return the code with which lanes end that have no thread: the upper half of each wave, and what the last warp lacks.

    What comes behind it begins the block `entry`.
    """
    shape = specialisation.block
    lines = [
        "  %item = call range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.x()",
        "  %upper = and i32 %item, 32",
        "  %idle0 = icmp ne i32 %upper, 0",
    ]
    threads = str(shape[0] * shape[1] * shape[2]) if shape else "%threads"
    if shape and int(threads) % 32 == 0:
        return [*lines, "  br i1 %idle0, label %idle, label %entry", "idle:", "  ret void", "entry:"]
    if not shape:
        for axis in "xyz":
            place = hidden.hidden_offset(kernel.param_bytes, f"block.{axis}")
            lines.append(f"  %at.{axis} = getelementptr i8, ptr addrspace(4) %args, i64 {place}")
            lines.append(f"  %size.{axis} = load i32, ptr addrspace(4) %at.{axis}, align 4, !invariant.load !0")
        lines += ["  %plane = mul i32 %size.x, %size.y", "  %threads = mul i32 %plane, %size.z"]
    lines += [
        "  %pair = lshr i32 %item, 6",
        "  %first = shl i32 %pair, 5",
        "  %own = and i32 %item, 31",
        "  %linear = or disjoint i32 %first, %own",
        f"  %idle1 = icmp uge i32 %linear, {threads}",
        "  %idle2 = or i1 %idle0, %idle1",
    ]
    return [*lines, "  br i1 %idle2, label %idle, label %entry", "idle:", "  ret void", "entry:"]


def most_threads(kernel: Kernel, specialisation: Specialisation, arch: Architecture, warps_per_wave: int) -> int:
    """Return how many threads a workgroup of the kernel may have."""
    shape = specialisation.block
    if shape is None:
        given = kernel.directives.get("reqntid") or kernel.directives.get("maxntid") or ()
        numbers = [int(n) for n in given]
        threads = MAX_THREADS
        if numbers and min(numbers) > 0:
            threads = 1
            for n in numbers:
                threads *= n
    else:
        threads = shape[0] * shape[1] * shape[2]
    if arch.wave == 64 and warps_per_wave == 1:
        threads = -(-threads // 32) * 64
    return min(threads, MAX_THREADS)


def _version(arch: Architecture) -> str:
    """Return the module's flag for the version of its code object: 5, which all of ROCm 6 and later loads; generic ones need 6."""
    number = 600 if arch.generic else 500
    return f'!llvm.module.flags = !{{!1}}\n!1 = !{{i32 1, !"amdhsa_code_object_version", i32 {number}}}\n'


def _attributes(threads: int) -> str:
    unused = " ".join(f'"amdgpu-no-{name}"' for name in _UNUSED)
    return (
        f'nounwind "amdgpu-flat-work-group-size"="1,{threads}" "uniform-work-group-size"="true" '
        f'"amdgpu-implicitarg-num-bytes"="0" {unused}'
    )


def _shape(specialisation: Specialisation, arch: Architecture, warps_per_wave: int) -> str:
    shape = specialisation.block
    if shape is None:
        return ""
    if arch.wave == 64 and warps_per_wave == 1:
        shape = (-(-(shape[0] * shape[1] * shape[2]) // 32) * 64, 1, 1)
    return f" !reqd_work_group_size !{{i32 {shape[0]}, i32 {shape[1]}, i32 {shape[2]}}}"

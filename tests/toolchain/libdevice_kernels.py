"""Kernels in LLVM's assembly around functions of libdevice.10.bc: linked and compiled as a compiler of another language would, run on the processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from anywarp.devices.cpu.execute import Program
from anywarp.toolchain import libdevice

TYPES = {"i16": np.uint16, "i32": np.uint32, "i64": np.uint64, "float": np.float32, "double": np.float64}
FLUSHING = '"denormal-fp-math-f32"="preserve-sign,preserve-sign"'


@dataclass(frozen=True)
class Signature:
    """What a function returns and takes, in LLVM's types."""

    result: str
    parameters: tuple[str, ...]


def table() -> dict[str, Signature]:
    """Return the functions of NVIDIA's guide by their names without __nv_."""
    lines = (Path(__file__).parents[1] / "cases/libdevice.tsv").read_text().splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {name.removeprefix("__nv_"): Signature(result, tuple(types.split())) for name, result, types in rows}


TABLE = table()


@cache
def library() -> bytes:
    """Return the bitcode, made at the first time."""
    return libdevice.find().read_bytes()


def _kernel(names: Sequence[str], flush: bool) -> str:
    """Return a module with a kernel that calls functions of one signature for each element, storing the results of each in a row."""
    first = TABLE[names[0]]
    assert all(TABLE[name] == first for name in names)
    pointers = ", ".join(f"ptr %a{k}" for k in range(len(first.parameters)))
    lines = []
    for k, type in enumerate(first.parameters):
        element = "[4 x i64]" if type == "ptr" else type
        lines.append(f"%p{k} = getelementptr {element}, ptr %a{k}, i64 %i")
        if type != "ptr":
            lines.append(f"%x{k} = load {type}, ptr %p{k}")
    words = ", ".join(f"{type} %{'p' if type == 'ptr' else 'x'}{k}" for k, type in enumerate(first.parameters))
    for row, name in enumerate(names):
        if first.result == "void":
            lines.append(f"call void @__nv_{name}({words})")
            continue
        lines += [
            f"%y{row} = call {first.result} @__nv_{name}({words})",
            f"%row{row} = mul i64 %count, {row}",
            f"%at{row} = add i64 %row{row}, %i",
            f"%to{row} = getelementptr {first.result}, ptr %r, i64 %at{row}",
            f"store {first.result} %y{row}, ptr %to{row}",
        ]
    body = "\n  ".join(lines)
    declared = "\n".join(f"declare {first.result} @__nv_{name}({', '.join(first.parameters)})" for name in names)
    return f"""target triple = "nvptx64-nvidia-cuda"
{declared}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
define ptx_kernel void @k({pointers}, ptr %r, i32 %n) #0 {{
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul i32 %block, 64
  %index = add i32 %start, %tid
  %inside = icmp ult i32 %index, %n
  br i1 %inside, label %body, label %end
body:
  %i = zext i32 %index to i64
  %count = zext i32 %n to i64
  {body}
  br label %end
end:
  ret void
}}
attributes #0 = {{ {FLUSHING if flush else "nounwind"} }}
!llvm.module.flags = !{{!0}}
!0 = !{{i32 4, !"nvvm-reflect-ftz", i32 {int(flush)}}}
"""


@cache
def ptx(names: tuple[str, ...], flush: bool = False) -> str:
    """Return PTX that LLVM makes of such a kernel, with the library linked into it as NVIDIA's guide says."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(_kernel(names, flush))
    module.link_in(llvm.parse_bitcode(library()))
    for function in module.functions:
        if not function.is_declaration and function.name != "k":
            function.linkage = "internal"
    target = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    machine = target.create_target_machine(cpu="sm_80", features="+ptx80", opt=2)
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return machine.emit_assembly(module)


@cache
def program(names: tuple[str, ...], flush: bool = False) -> Program:
    """Return the kernel, compiled for the processor when it is run."""
    return Program(ptx(names, flush))


def compute(names: Sequence[str], *arguments: np.ndarray[Any, Any], flush: bool = False) -> dict[str, Any]:
    """Return what functions of one signature give for arrays of arguments, each of the parameter's type; 32 bytes for what a pointer points to."""
    signature = TABLE[names[0]]
    n = len(arguments[0])
    given = [
        np.ascontiguousarray(values if type == "ptr" else values.astype(TYPES[type], copy=False))
        for values, type in zip(arguments, signature.parameters, strict=True)
    ]
    for values, type in zip(given, signature.parameters, strict=True):
        assert values.nbytes == n * (32 if type == "ptr" else values.itemsize)
    results = np.zeros((len(names), n), TYPES.get(signature.result, np.uint8))
    code = program(tuple(names), flush)
    code.run("k", (n + 63) // 64, 64, [*given, results, n], any_shape=True)
    for values, into in zip(given, arguments, strict=True):
        if values is not into and values.dtype == into.dtype:
            into[...] = values
    return dict(zip(names, results, strict=True))

"""LLVM IR text to an object file or assembly for an AMD GPU, through llvmlite."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding

from anywarp.compiler import codes, llvm_release
from anywarp.compiler.amdgpu.directed import only_directed
from anywarp.compiler.amdgpu.services import link_services, needs_services
from anywarp.compiler.amdgpu.texture import link_textures, needs_textures
from anywarp.compiler.simd.objects import imported_symbols

llvm: Any = llvmlite.binding  # it has no types

TRIPLE = "amdgcn-amd-amdhsa"


@cache
def _ready() -> None:
    llvm_release.require()
    # Shared memory is laid out by us: LLVM must not put variables of lanes at its beginning.
    llvm.set_option("anywarp", "-disable-promote-alloca-to-lds")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@cache
def _machine(cpu: str, features: str, level: int) -> Any:
    _ready()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=cpu, features=features, opt=level, reloc="pic")


class ModeLeaks(Exception):
    """Raised when other operations came to stand where a rounding mode is set for one."""


def sets_mode(text: str) -> bool:
    """Tell whether a kernel sets the rounding mode amid other code."""
    return "= call float @llvm.experimental.constrained" in text.partition("\n}")[0]


def compile_text(text: str, cpu: str, features: str, kernel: str, quick: bool = False) -> bytes:
    """Compile LLVM IR to a relocatable object; AnywarpError if LLVM refuses the text or the object needs what it may not.

    ModeLeaks: emit the kernel with its directed operations apart. `quick`: optimised as little as LLVM allows for this target.
    """
    machine, module = _optimised(text, cpu, features, kernel, quick)
    if sets_mode(text) and not only_directed(str(machine.emit_assembly(llvm.parse_bitcode(module.as_bitcode())))):
        raise ModeLeaks
    code = bytes(machine.emit_object(module))
    unknown = sorted(imported_symbols(code))
    if unknown:
        raise codes.problem(
            codes.INTERNAL, f"the code of kernel {kernel!r} calls {', '.join(unknown)}, which nothing supplies"
        )
    return code


def assembly(text: str, cpu: str, features: str, kernel: str, quick: bool = False) -> str:
    """Compile LLVM IR to assembly text."""
    machine, module = _optimised(text, cpu, features, kernel, quick)
    return str(machine.emit_assembly(module))


def optimised_text(text: str, cpu: str, features: str, kernel: str) -> str:
    """Return the LLVM IR as it is before instructions are chosen."""
    return str(_optimised(text, cpu, features, kernel, False)[1])


def _optimised(text: str, cpu: str, features: str, kernel: str, quick: bool) -> tuple[Any, Any]:
    machine = _machine(cpu, features, 1 if quick else 3)
    module = _parse(text, str(machine.target_data), kernel)
    if needs_services(text):
        link_services(module)
    if needs_textures(text):
        link_textures(module, text)
    options = llvm.create_pipeline_tuning_options(speed_level=1 if quick else 3)
    # Pairs of f32 in one instruction (V_PK_FMA_F32 of gfx90a and later); off in LLVM unless asked for.
    options.slp_vectorization = not quick
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine, module


def _parse(text: str, layout: str, kernel: str) -> Any:
    """Parse and verify a module; a refusal is our mistake and is reported as one."""
    try:
        module = llvm.parse_assembly(f'target triple = "{TRIPLE}"\ntarget datalayout = "{layout}"\n{text}')
        module.verify()
    except RuntimeError as error:
        lines = str(error).strip().splitlines()
        raise codes.problem(
            codes.INTERNAL, f"LLVM refuses the code of kernel {kernel!r}: {' '.join(lines)[:400]}"
        ) from None
    return module

"""LLVM IR text to an object file, and an object file into this process: the only place that drives LLVM.

LLVM ends the process on some mistakes instead of reporting them, so text is parsed and verified before anything else, and no
intrinsic wider than the processor's registers is ever written.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding

from anywarp.compiler import codes
from anywarp.compiler.simd.objects import imported_symbols

llvm: Any = llvmlite.binding  # it has no types

IMPORTS = frozenset(
    [
        "memcpy",
        "memset",
        "memmove",
        "fma",
        "fmaf",
        "fmod",
        "fmodf",
        "__divti3",
        "__modti3",
        "__udivti3",
        "__umodti3",
        "__multi3",
        "__ashlti3",
        "__ashrti3",
        "__lshrti3",
        "__truncsfhf2",
        "__truncdfhf2",
        "__extendhfsf2",
        "__gnu_h2f_ieee",
        "__gnu_f2h_ieee",
        "__truncsfbf2",
        "__truncdfbf2",
        "__floattidf",
        "__floattisf",
        "__floatuntidf",
        "__floatuntisf",
        "__fixdfti",
        "__fixsfti",
        "__fixunsdfti",
        "__fixunssfti",
        "aw_globaltimer",
        "aw_nanosleep",
        "aw_vprintf",
        "aw_malloc",
        "aw_free",
        "aw_assertfail",
        "aw_texture",
        "aw_check",
        "_GLOBAL_OFFSET_TABLE_",
    ]
)
"""What an object may ask of whoever loads it (docs/contracts.md, section 1)."""


@cache
def _ready() -> None:
    """Register the machine's own back end with LLVM, once."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def host_cpu() -> tuple[str, str, str]:
    """Return LLVM's target triple, processor name and feature string for this machine."""
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:
        features = ""
    return str(llvm.get_process_triple()), str(llvm.get_host_cpu_name()), str(features)


@cache
def _target_machine(triple: str, cpu: str, features: str, level: int = 2) -> Any:
    _ready()
    if triple.partition("-")[0] != str(llvm.get_process_triple()).partition("-")[0]:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=cpu, features=features, opt=level, reloc="pic", codemodel="small")


def compile_text(text: str, triple: str, cpu: str, features: str, kernel: str, quick: bool = False) -> bytes:
    """Compile LLVM IR to a relocatable object; AnywarpError if LLVM refuses the text or the object needs what it may not.

    `quick`: without any optimisation, in about a quarter of the time.
    """
    machine = _target_machine(triple, cpu, features, 0 if quick else 2)
    module = parse(text, triple, str(machine.target_data), kernel)
    if not quick:
        _optimise(module, machine)
    code = bytes(machine.emit_object(module))
    check_imports(code, kernel)
    return code


def assembly(text: str, triple: str, cpu: str, features: str, kernel: str, quick: bool = False) -> str:
    """Compile LLVM IR to assembly text; its remarks name loops, spills and reloads."""
    machine = _target_machine(triple, cpu, features, 0 if quick else 2)
    module = parse(text, triple, str(machine.target_data), kernel)
    if not quick:
        _optimise(module, machine)
    machine.set_asm_verbosity(True)
    return str(machine.emit_assembly(module))


def parse(text: str, triple: str, layout: str, kernel: str) -> Any:
    """Parse and verify a module; a refusal is our mistake and is reported as one."""
    _ready()
    try:
        module = llvm.parse_assembly(f'target triple = "{triple}"\ntarget datalayout = "{layout}"\n{text}')
        module.verify()
    except RuntimeError as error:
        lines = str(error).strip().splitlines()
        raise codes.problem(
            codes.INTERNAL, f"LLVM refuses the code of kernel {kernel!r}: {' '.join(lines)[:400]}"
        ) from None
    return module


def _optimise(module: Any, machine: Any) -> None:
    """Clean up what the emitter leaves to LLVM; vector code needs none of the loop passes."""
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_sccp_pass()  # what is forgotten between copies of blocks is zero: most phis that sroa makes of it are constants
    passes.add_aggressive_dce_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_jump_threading_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, builder)


def check_imports(code: bytes, kernel: str) -> None:
    """Raise if an object needs a function that no loader supplies."""
    unknown = sorted(imported_symbols(code) - IMPORTS)
    if unknown:
        raise codes.problem(
            codes.INTERNAL, f"the code of kernel {kernel!r} calls {', '.join(unknown)}, which nothing supplies"
        )


class LoadedObject:
    """An object file made executable in this process; `services` are the `aw_*` functions that it may import."""

    def __init__(self, code: bytes, services: dict[str, Any] | None = None) -> None:
        _ready()
        triple, cpu, features = host_cpu()
        for name, function in (services or {}).items():
            llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
        self._kept = services
        self._engine: Any = llvm.create_mcjit_compiler(
            llvm.parse_assembly(""), llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features)
        )
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def function(self, symbol: str, prototype: Callable[[int], Any]) -> Any:
        """Return a function of the object as a callable of a ctypes prototype."""
        address = int(self._engine.get_function_address(symbol))
        if not address:
            raise LookupError(symbol)
        return prototype(address)

"""LLVM IR text to an object file, and an object file into this process: the only place that drives LLVM.

LLVM ends the process on some mistakes instead of reporting them, so text is parsed and verified before anything else, and no
intrinsic wider than the processor's registers is ever written.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from threading import Lock, Thread, stack_size
from typing import Any

import llvmlite.binding

from anywarp.compiler import codes, llvm_release
from anywarp.compiler.host_functions import HOST_FUNCTIONS
from anywarp.compiler.simd.objects import imported_symbols

llvm: Any = llvmlite.binding  # it has no types

_PREPARED = 8_000
"""Lines of LLVM IR up to which code is prepared for selection, which takes time by the square of them."""

_OPTIMISED = 120_000
"""Lines of LLVM IR up to which code is optimised at all: registers are allocated in more than linear time."""

_STACK_PER_LINE = 4096
"""Bytes of stack that LLVM's instruction combiner may need for each operation of a chain: it follows operands by recursion."""

_SELECTED = 20_000
"""Lines of scalar LLVM IR up to which instructions are chosen with care: in long blocks that takes minutes."""

_REGIONS, _FEWER_REGIONS = 10_000, 1_000
"""Blocks that LLVM's register allocator looks at for one value: its own choice, and ours for long code."""

_REGION, _SMALLER_REGION = 1_000, 100
"""Accesses of a block between which LLVM's schedulers look for dependences one by one: its own choice, and ours for long code."""

_STACK = 4 << 20
"""Bytes of stack that are taken for granted."""

_LOCK = Lock()
"""Held where options are set that hold for the whole process."""

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
        *HOST_FUNCTIONS,
        "_GLOBAL_OFFSET_TABLE_",
    ]
)
"""What an object may ask of whoever loads it (docs/contracts.md, section 1)."""


@cache
def _ready() -> None:
    """Register the machine's own back end with LLVM, once."""
    llvm_release.require()
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


def left_plain(text: str, scalar: bool) -> str | None:
    """Return what is told of code that a full compilation does not optimise, or not wholly, because it is so long; None of other code."""
    lines = text.count("\n")
    if lines > _OPTIMISED:
        return (
            f"not optimised: {lines} lines of LLVM's code would take minutes; the code runs as that which is made soon"
        )
    if scalar and lines > _SELECTED:
        return f"not optimised wholly: for {lines} lines of LLVM's code instructions and registers are chosen without looking around"
    return None


def compile_text(
    text: str, triple: str, cpu: str, features: str, kernel: str, quick: bool = False, scalar: bool = False
) -> bytes:
    """Compile LLVM IR to a relocatable object; AnywarpError if LLVM refuses the text or the object needs what it may not.

    `quick`: without any optimisation, in about a quarter of the time, as is done with what would take minutes. Long code that
    is `scalar` is cleaned up, and instructions and registers are then chosen without looking around.
    """
    lines = text.count("\n")
    quick = quick or lines > _OPTIMISED
    level = 0 if quick or (scalar and lines > _SELECTED) else 2
    machine = _target_machine(triple, cpu, features, level)
    module = parse(text, triple, str(machine.target_data), kernel)
    if not quick:
        _with_room(lambda: _optimise(module, machine), lines)
    with _rewriting(preparation=lines < _PREPARED, loops=not scalar and lines < _PREPARED, regions=lines < _PREPARED):
        code = bytes(machine.emit_object(module))
    check_imports(code, kernel)
    return code


def _with_room(work: Callable[[], None], lines: int) -> None:
    """Do `work` on a stack that is large enough for so much code, in a thread of its own where this one's may not be."""
    needed = lines * _STACK_PER_LINE
    if needed <= _STACK:
        work()
        return
    failed: list[Exception] = []

    def in_thread() -> None:
        try:
            work()
        except Exception as error:
            failed.append(error)

    with _LOCK:
        before = stack_size(needed)
        try:
            thread = Thread(target=in_thread)
            thread.start()
        finally:
            stack_size(before)
    thread.join()
    if failed:
        raise failed[0]


@contextmanager
def _rewriting(*, preparation: bool, loops: bool, regions: bool) -> Generator[None, None, None]:
    """Compile with or without LLVM's CodeGenPrepare and its reduction of strength in loops, and with or without looking far for regions
    in which a value that does not fit into the registers everywhere may have one.

    CodeGenPrepare begins again at a function's start whenever it has changed an operation: the product of what it finds and what
    there is. The other writes down each scalar as an expression of all it is made of, for every operation in turn: a minute for
    6000 products modulo a prime, which then come out twice as long; the loop over lanes has nothing to gain by it. Regions are grown block by
    block for each such value anew: half the time where lanes wait for others in 250 branches.
    """
    with _LOCK:
        for option, wanted in (("disable-cgp", preparation), ("disable-lsr", loops)):
            llvm.set_option("anywarp", f"-{option}={'false' if wanted else 'true'}")
        llvm.set_option("anywarp", f"-grow-region-complexity-budget={_REGIONS if regions else _FEWER_REGIONS}")
        llvm.set_option("anywarp", f"-dag-maps-huge-region={_REGION if regions else _SMALLER_REGION}")
        yield


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

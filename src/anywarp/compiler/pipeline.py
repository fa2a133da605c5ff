"""From a module's index to an artifact: what happens, in which order, on one screen.

Everything that a target gets is made here; nothing after this page knows PTX.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from anywarp.compiler import codes, verify
from anywarp.compiler.artifact import Artifact
from anywarp.compiler.crossings import Crossing, find_crossings
from anywarp.compiler.device_runtime import TAKE_KERNELS
from anywarp.compiler.expand import STACK_BYTES
from anywarp.compiler.gangs import WARP, Gang, may_spill_too_much, spills_no_more
from anywarp.compiler.ir import Kernel, Specialisation
from anywarp.compiler.layout import Entry, ModuleLayout, entry_of, function_addresses, lay_out_data
from anywarp.compiler.lower import lower_kernel
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.passes.cancel_terms import cancel_terms
from anywarp.compiler.passes.drop_flushes import drop_flushes
from anywarp.compiler.passes.fold_constants import fold_constants
from anywarp.compiler.passes.insert_checks import insert_checks
from anywarp.compiler.passes.lay_out_variables import lay_out_variables
from anywarp.compiler.passes.number_values import number_values
from anywarp.compiler.passes.promote_local import promote_local
from anywarp.compiler.passes.remove_dead_code import remove_dead_code
from anywarp.compiler.passes.simplify_branches import simplify_branches
from anywarp.compiler.passes.specialise_block import specialise_block
from anywarp.compiler.passes.spread_matrix_loads import spread_matrix_loads
from anywarp.compiler.passes.yield_in_loops import yield_in_loops
from anywarp.compiler.sites import describe_sites
from anywarp.compiler.skeleton import ModuleView
from anywarp.compiler.target import Target
from anywarp.compiler.variants import analyse_for_variant
from anywarp.ptx.index import ModuleIndex
from anywarp.ptx.isa.registry import supports
from anywarp.ptx.lines import LineTable

_TILED = frozenset({"bf16", "s8", "u8"})
"""Types of elements of which a processor's tiles may hold products."""

Pass = Callable[[Kernel, Specialisation], None]

PASSES: tuple[Pass, ...] = (
    remove_dead_code,
    promote_local,
    specialise_block,
    fold_constants,
    simplify_branches,
    fold_constants,
    number_values,
    cancel_terms,
    drop_flushes,
    remove_dead_code,
    simplify_branches,
    yield_in_loops,
    lay_out_variables,
    spread_matrix_loads,
    insert_checks,
)
"""What every kernel goes through between lowering and analysis, in order."""


def prepare_kernel(
    module: ModuleView,
    name: str,
    specialisation: Specialisation,
    *,
    target: Target | None = None,
    checked: bool = False,
    watch: Callable[[str, Kernel], None] | None = None,
) -> Kernel:
    """Lower the kernel `name` and run the passes, the target's last.

    `watch` is called with the name of each stage and the kernel after it; `checked` verifies the IR then. Where lanes come to instructions on
    different ways that wait for each other, all of it is done again with those at one place, if the target wants it.
    """
    kernel = _prepared(module, name, specialisation, target, checked, watch, [])
    crossings = find_crossings(kernel, specialisation) if target is not None and target.waits_at_one_place else []
    return _prepared(module, name, specialisation, target, checked, watch, crossings) if crossings else kernel


def _prepared(
    module: ModuleView,
    name: str,
    specialisation: Specialisation,
    target: Target | None,
    checked: bool,
    watch: Callable[[str, Kernel], None] | None,
    crossings: list[Crossing],
) -> Kernel:
    members, stack = "sync" in specialisation.checks, specialisation.stack or STACK_BYTES
    kernel = lower_kernel(module, name, members=members, stack_bytes=stack, crossings=crossings)
    for one in (None, *PASSES, *([target.suit] if target is not None else [])):
        if one is not None:
            one(kernel, specialisation)
        stage = one.__name__ if one is not None else "lowering" + " with crossings joined" * bool(crossings)
        if watch is not None:
            watch(stage, kernel)
        if checked:
            verify.check(kernel, stage)
    return kernel


def compile_kernel(index: ModuleIndex, name: str, specialisation: Specialisation, target: Target) -> Artifact:
    """Compile the kernel `name` for `target`. Raises AnywarpError naming what cannot be compiled, with its place in the PTX."""
    _check_shape(index, name, specialisation)
    with _keeping_all():
        artifact = _compile_once(index, name, specialisation, target)
        if specialisation.lanes == 0 and may_spill_too_much(artifact):
            why = f"{artifact.lanes} lanes need {artifact.on_stack:.0f} accesses of the stack for each vector of them"
            narrow = _compile_once(index, name, specialisation, target, Gang(WARP, why))
            artifact = narrow if spills_no_more(narrow, artifact) else artifact
    return artifact


def _compile_once(
    index: ModuleIndex, name: str, specialisation: Specialisation, target: Target, gang: Gang | None = None
) -> Artifact:
    """Compile for a gang, or for what the target chooses."""
    kernel = prepare_kernel(IndexedModule(index), name, specialisation, target=target)
    gang = gang or target.choose_gang(kernel, specialisation)
    specialisation = replace(specialisation, lanes=gang.lanes)
    analysis, variant = analyse_for_variant(kernel, specialisation)
    artifact = target.emit(kernel, analysis, specialisation)
    notes = (*artifact.notes, f"gang of {gang.lanes} lanes: {gang.reason}")
    waits = tuple((number, index.source.position(offset)[0]) for number, offset in artifact.waits)
    sites = describe_sites(kernel.sites, index.source)
    variant = variant if artifact.amd is None else ()  # where lanes are no vectors, addresses gain nothing by it
    return replace(artifact, lanes=gang.lanes, notes=notes, variant=variant, sites=sites, waits=waits)


@contextmanager
def _keeping_all() -> Generator[None, None, None]:
    """Look for no garbage meanwhile: a kernel lives until it is compiled, and going through all of it takes a fifth of the time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def locate(
    index: ModuleIndex, name: str, specialisation: Specialisation, target: Target, digest: str, offset: int
) -> int:
    """Return the line of PTX behind the instruction `offset` bytes into a kernel's object code; 0 where nobody knows.

    `digest` is the SHA-256 of that object in hex: the kernel is compiled again, and what differs says nothing.
    """
    made = compile_kernel(index, name, specialisation, target)
    if hashlib.sha256(made.object).hexdigest() != digest:
        return 0
    # Anew: emission changes what it is given.
    kernel = prepare_kernel(IndexedModule(index), name, specialisation, target=target)
    specialisation = replace(specialisation, lanes=made.lanes)
    analysis, _ = analyse_for_variant(kernel, specialisation)
    lines = LineTable(index.source.text)
    return target.locate(kernel, analysis, specialisation, made.object, offset, lines.line_of)


def _check_shape(index: ModuleIndex, name: str, specialisation: Specialisation) -> None:
    shape = specialisation.block
    if shape is not None and (min(shape) < 1 or shape[0] * shape[1] * shape[2] > 1024 or shape[2] > 64):
        raise codes.problem(
            codes.BLOCK_SHAPE,
            f"a block of {shape[0]} x {shape[1]} x {shape[2]} threads, for the kernel `{name[:200]}`",
            index.source,
            help="a block has 1 to 1024 threads, at most 64 in z",
        )


def describe_module(index: ModuleIndex) -> ModuleLayout:
    """Lay out a module's data and describe its kernels, without parsing any body. Raises AnywarpError.

    What a kernel lacks is found by a quick scan of its own instructions; those of the functions it calls count too.
    """
    data = lay_out_data(index.items, index.source)
    forms = _forms(index)
    lacking = {name: _lacking(found) for name, found in forms.items()}
    tiled = _with_tiles(index, forms)
    pointers = {} if TAKE_KERNELS.isdisjoint(index.functions) else function_addresses(index.items)

    def entry(name: str) -> Entry:
        needs = tuple(sorted(_reached(index, name, lacking)))
        header = index.functions[name].header
        return entry_of(header, index.source, needs, _size(index, name), name in tiled, pointers.get(name, 0))

    entries = tuple(map(entry, index.entries))
    remarks = [*data.remarks, *(f"the variable `{n}` is declared extern and defined nowhere" for n in data.missing)]
    return ModuleLayout(
        index.version, index.target, data.image, data.align, data.globals, tuple(data.addresses), entries, data.missing,
        tuple(remarks), data.references,
    )  # fmt: skip


def _size(index: ModuleIndex, name: str) -> int:
    """How many characters the body of a kernel has; functions that it calls are not counted."""
    body = index.functions[name].body
    return body[1] - body[0] if body else 0


def _lacking(forms: frozenset[str]) -> frozenset[str]:
    """Return the instruction forms that have no meaning."""
    out: set[str] = set()
    for form in forms:
        opcode, *modifiers = form.split(".")
        if not supports(opcode, tuple(modifiers)):
            out.add(form)
    return frozenset(out)


def _suits_tiles(form: str) -> bool:
    """Tell whether an instruction form is a product that a processor's tiles (AMX) may compute."""
    opcode, *modifiers = form.split(".")
    return opcode == "mma" and not _TILED.isdisjoint(modifiers)


def kernels_for_tiles(index: ModuleIndex) -> set[str]:
    """Return the kernels of which code may use a processor's tiles, as the description of the module says."""
    return _with_tiles(index, _forms(index))


def _forms(index: ModuleIndex) -> dict[str, frozenset[str]]:
    """Return the instruction forms in each body."""
    return {name: frozenset(index.opcodes(name)) for name in index.functions}


def _with_tiles(index: ModuleIndex, forms: Mapping[str, frozenset[str]]) -> set[str]:
    suited = {name: frozenset(filter(_suits_tiles, found)) for name, found in forms.items()}
    return {name for name in index.entries if _reached(index, name, suited)}


def _reached(index: ModuleIndex, entry: str, of: Mapping[str, frozenset[str]]) -> set[str]:
    """Return what is found in `entry` and in functions that it may call."""
    found: set[str] = set()
    if not any(of.values()):
        return found
    seen = {entry}
    work = [entry]
    while work:
        name = work.pop()
        found |= of[name]
        for other in index.mentions(name):
            if other not in seen:
                seen.add(other)
                work.append(other)
    return found

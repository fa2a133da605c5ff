"""Which function gives the meaning of which instruction forms, and the one door to run it.

Forms are declared in the manual's own notation, so that what is supported can be answered without running anything and an
unknown form is refused by name instead of being half understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from typing import TypeVar

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.ptx.isa.manual import why_refused
from anywarp.ptx.isa.operands import Misfit, malformed
from anywarp.ptx.isa.ops import Ops
from anywarp.ptx.tree import TYPES, Instruction

Meaning = Callable[[Ops, Instruction], None]
F = TypeVar("F", bound=Meaning)

CHAPTERS = (
    "texture",
    "integer", "bits", "extended", "floating", "comparison", "logic", "data_movement", "addresses", "conversion", "small_floats", "scale_floats",
    "approximations", "atomics", "warp", "mbarriers", "bulk", "matrix", "matrix_move", "matrix_wmma", "asynchronous", "video", "miscellaneous",
)  # fmt: skip
"""The modules that declare meanings; a new chapter is listed here once."""

SETS: dict[str, str] = {
    "int": "u16/u32/u64/s16/s32/s64",
    "unsigned": "u16/u32/u64",
    "signed": "s16/s32/s64",
    "bits": "b16/b32/b64",
    "round": "rn/rz/rm/rp",
    "space": "global/shared/shared::cta/shared::cluster/local/const/param/param::entry/param::func",
    "scope": "cta/cluster/gpu/sys",
    "order": "weak/relaxed/acquire/release",
    "cache": "ca/cg/cs/lu/cv/wb/wt",
    "l1": "L1::evict_normal/L1::evict_unchanged/L1::evict_first/L1::evict_last/L1::no_allocate",
    "l2": "L2::evict_normal/L2::evict_first/L2::evict_last",
    "hint": "L2::cache_hint",
    "prefetch": "L2::64B/L2::128B/L2::256B",
    "data": "b8/b16/b32/b64/b128/u8/u16/u32/u64/s8/s16/s32/s64/f16/bf16/f32/f64",
}
"""Names for the alternatives that many forms share, used as `<name>` in a form."""

_SLOT = re.compile(r"\{\.([^{}]+)\}|\.([^.{}]+)")


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of a form: what may stand there, and whether it may be left out."""

    options: frozenset[str]
    optional: bool


@dataclass(frozen=True, slots=True)
class Form:
    """A family of instruction forms: type modifiers in order, all others in any order, each slot once; `text` is how it was written."""

    opcode: str
    types: tuple[Slot, ...]
    others: tuple[Slot, ...]
    text: str = field(default="", compare=False)

    def matches(self, modifiers: Sequence[str]) -> bool:
        """Tell whether an instruction with `modifiers` is of this family.

        The manual fixes an order, but compilers in use emit others (`atom.add.release.gpu.u32`) that NVIDIA's assembler takes.
        """
        types = [m for m in modifiers if m in TYPES]
        others = [m for m in modifiers if m not in TYPES]
        return _in_order(self.types, types) and _each_once(self.others, others)


def _in_order(slots: Sequence[Slot], found: Sequence[str]) -> bool:
    if not slots:
        return not found
    first, rest = slots[0], slots[1:]
    if found and found[0] in first.options and _in_order(rest, found[1:]):
        return True
    return first.optional and _in_order(rest, found)


def _each_once(slots: Sequence[Slot], found: Sequence[str]) -> bool:
    free = list(slots)
    for modifier in found:
        slot = next((s for s in free if modifier in s.options), None)
        if slot is None:
            return False
        free.remove(slot)
    return all(s.optional for s in free)


def parse_form(text: str) -> Form:
    """Read a form in the manual's notation: `add{.sat}.s32`, alternatives as `.lo/hi`, shared sets as `.<int>`."""
    written = text
    for name, options in SETS.items():
        text = text.replace(f"<{name}>", options)
    opcode = re.split(r"[.{]", text, maxsplit=1)[0]
    types: list[Slot] = []
    others: list[Slot] = []
    for optional, required in _SLOT.findall(text[len(opcode) :]):
        slot = Slot(frozenset((optional or required).split("/")), bool(optional))
        (types if slot.options <= TYPES else others).append(slot)
    return Form(opcode, tuple(types), tuple(others), written)


_MEANINGS: dict[str, list[tuple[Form, Meaning]]] = {}
_STRUCTURAL_FORMS = tuple(
    parse_form(t)
    for t in (
        "bra{.uni}", "brx.idx{.uni}", "call{.uni}", "ret{.uni}", "exit",
        "alloca.u32/u64", "stacksave.u32/u64", "stackrestore.u32/u64",
        "bar{.cta}.sync/arrive", "bar.warp.sync", "bar{.cta}.red.popc.u32", "bar{.cta}.red.and/or.pred",
        "barrier{.cta}.sync/arrive{.aligned}", "barrier{.cta}.red.popc{.aligned}.u32",
        "barrier.cluster.arrive{.release/relaxed}{.aligned}", "barrier.cluster.wait{.acquire}{.aligned}", "barrier{.cta}.red.and/or{.aligned}.pred",
    )
)  # fmt: skip
STRUCTURAL = frozenset(f.opcode for f in _STRUCTURAL_FORMS)
"""Opcodes that change which lanes run next; whoever builds or walks the control flow handles them (see `barriers`)."""


def meaning(*forms: str) -> Callable[[F], F]:
    """Declare that the decorated function is the meaning of `forms`."""

    def register(function: F) -> F:
        for text in forms:
            form = parse_form(text)
            _MEANINGS.setdefault(form.opcode, []).append((form, function))
        return function

    return register


@cache
def load_chapters() -> None:
    """Import every chapter once, so that its meanings are declared."""
    for chapter in CHAPTERS:
        import_module(f"anywarp.ptx.isa.{chapter}")


def declared() -> list[tuple[Form, str]]:
    """Return every declared form with the chapter (module) that declares it."""
    load_chapters()
    return [(form, m.__module__.rpartition(".")[2]) for forms in _MEANINGS.values() for form, m in forms]


@lru_cache(maxsize=4096)
def find(opcode: str, modifiers: tuple[str, ...]) -> Meaning | None:
    """Return the meaning of a form, or None where there is none (structural opcodes included)."""
    load_chapters()
    return next((m for form, m in _MEANINGS.get(opcode, ()) if form.matches(modifiers)), None)


@lru_cache(maxsize=4096)
def supports(opcode: str, modifiers: tuple[str, ...]) -> bool:
    """Tell whether an instruction form can be run: it has a meaning or is structural."""
    if opcode in STRUCTURAL:
        return any(f.opcode == opcode and f.matches(modifiers) for f in _STRUCTURAL_FORMS)
    return find(opcode, modifiers) is not None


def structural() -> tuple[Form, ...]:
    """Return the forms of opcodes that whoever walks the control flow handles."""
    return _STRUCTURAL_FORMS


def unsupported(instruction: Instruction) -> AnywarpError:
    """Return the error that names a form we do not have, with the reason where the whole instruction is refused."""
    reason = why_refused(instruction.opcode, instruction.modifiers)
    return AnywarpError(
        Diagnostic(
            "C101",
            f"instruction {instruction.form} is not supported" + (f": {reason}" if reason else ""),
            span=instruction.span,
            help="anywarp cannot run the kernel that uses it yet; `anywarp inspect FILE` lists every such instruction of a file",
            details={"instruction": instruction.form},
        )
    )


def expand(ops: Ops, instruction: Instruction) -> None:
    """Run the meaning of `instruction` on `ops`; raise AnywarpError C101 for a form without one, C102 for bad operands."""
    function = find(instruction.opcode, instruction.modifiers)
    if function is None:
        raise unsupported(instruction)
    try:
        function(ops, instruction)
    except Misfit as misfit:
        raise malformed(instruction, str(misfit)) from None

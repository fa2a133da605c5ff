"""Inline assembly in CUDA C++: which PTX instructions a text writes itself, read by our own PTX front end.

PTX in a string is what no translator of names reaches, so it is told apart, instruction by instruction, with what our compiler and our
translator make of it.
"""

from __future__ import annotations

import re

from anywarp.diagnostics import AnywarpError
from anywarp.migrate.scan.tally import Tally
from anywarp.migrate.translate.inline_ptx import NoPtx, convert
from anywarp.migrate.translate.inline_ptx_ops import Untranslatable
from anywarp.migrate.translate.inline_ptx_text import AsmStatement, statements
from anywarp.migrate.translate.unit import Unit
from anywarp.ptx.index import index_module
from anywarp.ptx.isa.manual import entry_of
from anywarp.ptx.isa.registry import supports

_ASM = re.compile(rb"\b(?:asm|__asm__|__asm)\b")
_HEAD = ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry inline_asm()\n{\n"
_HOST_REGISTERS = re.compile(r"%(?:[er]?[abcd]x|[er]?[sd]i|[er]?[sb]p|[xyz]mm\d|cr\d|st)\b")
_TRIED = 300
"""How many statements of one text are given to the translator; the instructions of later ones are counted all the same."""


def scan_asm(unit: Unit, tally: Tally, device: bool) -> None:
    """Count the PTX instructions in the inline assembly of a text; `device` says that it holds device code."""
    if _ASM.search(unit.code) is None:
        return
    read: dict[str, list[str]] = {}
    tried: dict[str, str] = {}
    for statement in statements(unit.code, unit.data):
        if not _is_ptx(statement.template, device):
            continue
        key = statement.template
        if key not in read:
            read[key] = [form for form in forms(key) if entry_of(*_parts(form)) is not None]
        found = read[key]
        if not found:
            continue  # no PTX, or not yet in the manual: AMD's and the host's assembly look alike
        if key not in tried and len(tried) < _TRIED:
            tried[key] = _translated(statement, unit.data)
        for form in found:
            details = (("front_end", "served" if supports(*_parts(form)) else "lacking"),)
            if outcome := tried.get(key):
                details += (("translated", outcome),)
            tally.add("ptx.inline", form, statement.start, details)


def forms(text: str) -> tuple[str, ...]:
    """Return the PTX instruction forms in a template, in order, each once; none where it is no PTX."""
    try:
        return tuple(index_module(f"{_HEAD}{text}\n}}\n", "<asm>").opcodes("inline_asm"))
    except AnywarpError:
        return ()


def _parts(form: str) -> tuple[str, tuple[str, ...]]:
    opcode, *modifiers = form.split(".")
    return opcode, tuple(modifiers)


def _translated(statement: AsmStatement, data: bytes) -> str:
    """Return `yes`, or why the translator leaves a statement."""
    try:
        convert(statement, data)
    except NoPtx:
        return ""
    except Untranslatable as why:
        return str(why)[:200]
    return "yes"


def _is_ptx(text: str, device: bool) -> bool:
    """Tell PTX from assembly of the host: by its place in device code, or by dots and semicolons; x86 names its registers."""
    if _HOST_REGISTERS.search(text):
        return False
    return device or bool(re.search(r"\b[a-z]\w*\.[\w.:]+\s[^;]*;", text))

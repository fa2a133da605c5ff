"""Inline assembly in CUDA C++: which PTX instructions a text writes itself, read by our own PTX front end.

PTX in a string is what no translator of names reaches, so it is told apart, instruction by instruction.
"""

from __future__ import annotations

import re

from anywarp.diagnostics import AnywarpError
from anywarp.migrate.scan.tally import Tally
from anywarp.ptx.index import index_module
from anywarp.ptx.isa.manual import entry_of
from anywarp.ptx.isa.registry import supports

_ASM = re.compile(rb"\b(?:asm|__asm__|__asm)\b(?:\s*(?:volatile|__volatile__|goto|inline))*\s*\(")
_LITERAL = re.compile(rb'R"([^()\\\s]{0,16})\((.*?)\)\1"|"((?:[^"\\]|\\.)*)"', re.DOTALL)
_OPERAND = re.compile(r"%(\d+|\[\w+\])")
_ESCAPE = re.compile(r"\\(?:n|t|r|\n|\r\n)")
_HEAD = ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry inline_asm()\n{\n"
_LARGEST = 1 << 16
_HOST_REGISTERS = re.compile(r"%%(?:[er]?[abcd]x|[er]?[sd]i|[er]?[sb]p|[xyz]mm\d|r\d+d?|cr\d|st)\b")


def scan_asm(data: bytes, masked: bytes, tally: Tally, device: bool) -> None:
    """Count the PTX instructions in the inline assembly of a text; `device` says that it holds device code."""
    for found in _ASM.finditer(masked):
        end = _closing(masked, found.end())
        text = template(data[found.end() : end])
        for form in forms(text) if _is_ptx(text, device) else ():
            opcode, *modifiers = form.split(".")
            if entry_of(opcode, modifiers) is None:
                continue  # no PTX, or not yet in the manual: AMD's and the host's assembly look alike
            kind = "served" if supports(opcode, tuple(modifiers)) else "lacking"
            tally.add("ptx.inline", form, found.start(), (("front_end", kind),))


def template(operands: bytes) -> str:
    """Return the text of an asm statement's template: the string literals before its first colon, joined."""
    pieces: list[str] = []
    at = 0
    while found := _LITERAL.search(operands, at):
        if b":" in operands[at : found.start()]:
            break
        piece = found[2] if found[3] is None else found[3]
        pieces.append(piece.decode("utf-8", "replace"))
        at = found.end()
        if sum(map(len, pieces)) > _LARGEST:
            break
    return "".join(pieces)


def forms(text: str) -> tuple[str, ...]:
    """Return the PTX instruction forms in a template, in order, each once; none where it is no PTX."""
    code = _OPERAND.sub(lambda found: f"%r{found[1].strip('[]')}", _ESCAPE.sub("\n", text)).replace("%%", "%")
    try:
        index = index_module(f"{_HEAD}{code}\n}}\n", "<asm>")
        return tuple(index.opcodes("inline_asm"))
    except AnywarpError:
        return ()


def _is_ptx(text: str, device: bool) -> bool:
    """Tell PTX from assembly of the host: by its place in device code, or by dots and semicolons; x86 names its registers."""
    if _HOST_REGISTERS.search(text):
        return False
    return device or bool(re.search(r"\b[a-z]\w*\.[\w.:]+\s[^;]*;", text))


def _closing(masked: bytes, start: int) -> int:
    """Return the offset of the parenthesis that closes the one before `start`."""
    depth = 1
    for found in re.finditer(rb"[()]", masked[start : start + _LARGEST]):
        depth += 1 if found[0] == b"(" else -1
        if depth == 0:
            return start + found.start()
    return min(len(masked), start + _LARGEST)

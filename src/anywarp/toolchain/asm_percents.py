"""Registers in inline assembly by one `%`, `asm("mov.u32 %0, %laneid;" : "=r"(i))`: nvcc leaves a `%` before a name as it is, clang wants `%%`.

A letter with a digit behind it (`%r1`) is an operand with a modifier, which nvcc refuses, too: it stays. In assembly without operands
clang reads no `%` at all.
"""

from __future__ import annotations

import re

from anywarp.toolchain.masked import masked

_LIKELY = re.compile(r"%[A-Za-z_$](?![\d\[])")
_OPENS = re.compile(r"\b(?:asm|__asm|__asm__)\b(?:\s|\\\n|\b(?:volatile|__volatile__|__volatile|goto|inline)\b)*\(")
_NAME = re.compile(r"%%|%(?=[A-Za-z_$](?![\d\[]))")
_ENDS = re.compile(r"[:;(){}]")


def escaped(text: str) -> str:
    """Return a source in which `%` before a name is `%%` in assembly with operands; lines stay."""
    if "asm" not in text or _LIKELY.search(text) is None:
        return text
    code = masked(text)
    out: list[str] = []
    done = 0
    for opens in _OPENS.finditer(code):
        ends = _ENDS.search(code, opens.end())
        if ends is None or ends[0] != ":" or opens.end() < done:
            continue
        out += [text[done : opens.end()], _NAME.sub("%%", text[opens.end() : ends.start()])]
        done = ends.start()
    return "".join([*out, text[done:]])

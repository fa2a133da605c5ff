"""Functions of no execution space as device functions, for NVRTC's --device-as-default-execution-space.

clang can take functions for those of both sides from one pragma to another. It takes kernels along, which is an error where a kernel is
declared twice or specialised, so that kernels stand outside.
"""

from __future__ import annotations

import re

_BEGIN, _END = (f'_Pragma("clang force_cuda_host_device {word}")' for word in ("begin", "end"))
_KERNEL = re.compile(r"\b__global__\b")
_NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE
)
_BOUNDS = re.compile(r"[(){};]")


def spread(text: str) -> str:
    """Return a source in which functions without a space may run on the device; lines keep their numbers."""
    code = _NO_CODE.sub(lambda found: _blank(found[0]), text)
    parts, done = [f"{_BEGIN}\n"], 0
    for kernel in _KERNEL.finditer(code):
        if kernel.start() < done:
            continue
        before = max(done, *(code.rfind(mark, 0, kernel.start()) + 1 for mark in "{};"))
        start = before + len(code[before:]) - len(code[before:].lstrip())
        end = _end(code, kernel.end())
        parts += [text[done:start], _END, text[start:end], _BEGIN]
        done = end
    return "".join([*parts, text[done:], f"\n{_END}\n"])


def _blank(found: str) -> str:
    """Return as many characters that are no code; a line of the preprocessor's ends what stands before it."""
    blank = re.sub(r"[^\n]", " ", found)
    return f";{blank[1:]}" if found.lstrip().startswith("#") and blank[:1] != "\n" else blank


def _end(code: str, place: int) -> int:
    """Return where the declaration or definition ends that goes on at a place: behind its `;`, or its body's last brace."""
    parentheses = braces = 0
    for found in _BOUNDS.finditer(code, place):
        mark = found[0]
        parentheses += (mark == "(") - (mark == ")")
        braces += (mark == "{") - (mark == "}")
        if not parentheses and not braces and mark in ";}":
            return found.end()
    return len(code)

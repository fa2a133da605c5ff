"""Functions of no execution space as device functions, for NVRTC's --device-as-default-execution-space.

clang can take functions for those of both sides from one pragma to another. It takes kernels along, which is an error where a kernel is
declared twice or specialised, so that kernels stand outside.
"""

from __future__ import annotations

import re

from anywarp.toolchain.masked import blank, masked

_BEGIN, _END = (f'_Pragma("clang force_cuda_host_device {word}")' for word in ("begin", "end"))
_KERNEL = re.compile(r"\b__global__\b")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_CODE = re.compile(r"\S")
_BOUNDS = re.compile(r"[(){};]")


def spread(text: str) -> str:
    """Return a source in which functions without a space may run on the device; lines keep their numbers."""
    code = _DIRECTIVE.sub(lambda found: ";" + blank(found[0][1:]), masked(text))  # it ends what stands before it
    parts, done = [f"{_BEGIN}\n"], 0
    for kernel in _KERNEL.finditer(code):
        if kernel.start() < done:
            continue
        before = max(done, *(code.rfind(mark, 0, kernel.start()) + 1 for mark in "{};"))
        first = _CODE.search(code, before)
        assert first is not None  # the kernel's own word, if nothing stands before it
        start, end = first.start(), _end(code, kernel.end())
        parts += [text[done:start], _END, text[start:end], _BEGIN]
        done = end
    return "".join([*parts, text[done:], f"\n{_END}\n"])


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

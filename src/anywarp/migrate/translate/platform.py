"""Finds what no compiler for HIP sees: the other half of a source that already serves both vendors.

Such a half is CUDA's and stays as it is; the conditions are those on macros that HIP's headers and compilers define.
"""

from __future__ import annotations

import re

from anywarp.migrate.translate.includes import Directive

DEFINED = frozenset((b"__HIP_PLATFORM_AMD__", b"__HIP_PLATFORM_HCC__", b"__HIP__", b"__HIPCC__", b"USE_ROCM"))
UNDEFINED = frozenset((b"__HIP_PLATFORM_NVIDIA__", b"__HIP_PLATFORM_NVCC__"))
_TERM = re.compile(rb"\s*(!?)\s*(?:defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)|(\w+))\s*")
_NEVER = 2


def unseen(code: bytes, directives: tuple[Directive, ...]) -> list[tuple[int, int]]:
    """Return the ranges between directives that HIP's compilers skip, in order, those inside others left out."""
    found = list[tuple[int, int]]()
    stack = list[tuple[bool, bool]]()  # an earlier branch was certainly taken; this branch is certainly skipped
    start, inside = 0, 0
    for each in directives:
        opens, middle = each.word.startswith(b"if"), each.word.startswith(b"el")
        if not opens and not middle and each.word != b"endif":
            continue
        if not opens and stack and stack[-1][1]:
            inside -= 1
            if inside == 0:
                found.append((start, each.start))
        if opens:
            truth = _truth(code, each)
            stack.append((truth is True, truth is False))
        elif middle and stack:
            taken = stack[-1][0]
            truth = True if each.word == b"else" else _truth(code, each)
            stack[-1] = (taken or truth is True, taken or truth is False)
        elif stack:
            stack.pop()
            continue
        if stack and stack[-1][1]:
            start = each.end if inside == 0 else start
            inside += 1
    return found


def _truth(code: bytes, directive: Directive) -> bool | None:
    """Return what a condition is for HIP, or None where that depends on something else."""
    text = code[directive.text : directive.end]
    if directive.word in (b"ifdef", b"ifndef", b"elifdef", b"elifndef"):
        known = _known(text.strip())
        return known if known is None or not directive.word.endswith(b"ndef") else not known
    if b"\\" in text or b"(" in text.replace(b"defined(", b"").replace(b"defined (", b""):
        return None
    joined = b"&&" if b"&&" in text else b"||"
    if b"&&" in text and b"||" in text:
        return None
    values = [_term(part) for part in text.split(joined)]
    if joined == b"||":
        return True if True in values else None if None in values else False
    return False if False in values else None if None in values else True


def _term(text: bytes) -> bool | None:
    match = _TERM.fullmatch(text)
    if match is None:
        return None
    known = _known(match.group(2) or match.group(3) or match.group(4))
    return known if known is None or not match.group(1) else not known


def _known(name: bytes) -> bool | None:
    return True if name in DEFINED else False if name in UNDEFINED else None

"""Parts of a source that some vendor's conditions keep from the target, so that nothing in them is to be changed or told.

Many sources serve several vendors already: what stands under `#ifdef USE_ROCM` is written for HIP, what stands under its `#else`
never reaches HIP. Both are left as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from anywarp.migrate.translate.includes import Directive

AMD = re.compile(rb"(?<![A-Za-z])(?:HIP|ROCM|HCC|AMDGCN|AMDGPU)(?![a-z])|__gfx\w+__|(?<![A-Za-z])hip|__AMD")
"""What a condition mentions when it asks for AMD's tools."""
_NEVER = re.compile(rb"^[\s(]*0[\s)]*$|&&[\s(]*0[\s)]*$|^[\s(]*0[\s)]*&&")


@dataclass(frozen=True)
class Regions:
    """Sorted ranges of a text that lie under conditions about AMD's tools, or under `#if 0`."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def __contains__(self, place: int) -> bool:
        at = bisect_right(self.starts, place) - 1
        return at >= 0 and place < self.ends[at]


def set_apart(code: bytes, directives: Sequence[Directive]) -> Regions:
    """Return the ranges whose outermost deciding condition is about AMD's tools, or never holds."""
    found: list[tuple[int, int]] = []
    stack: list[
        tuple[bool, int]
    ] = []  # whether the chain is apart, where the branch being read began (-1: it is not apart)
    for each in directives:
        if each.word in (b"if", b"ifdef", b"ifndef"):
            condition = code[each.text : each.end]
            chain = AMD.search(condition) is not None
            never = each.word == b"if" and _NEVER.search(condition) is not None
            stack.append((chain, each.end if chain or never else -1))
        elif each.word in (b"elif", b"else", b"elifdef", b"elifndef") and stack:
            chain, start = stack.pop()
            if start >= 0:
                found.append((start, each.start))
            chain = chain or AMD.search(code[each.text : each.end]) is not None
            stack.append((chain, each.end if chain else -1))
        elif each.word == b"endif" and stack:
            _, start = stack.pop()
            if start >= 0:
                found.append((start, each.start))
    return _merged(found)


def _merged(found: list[tuple[int, int]]) -> Regions:
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(found):
        if ends and start < ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return Regions(tuple(starts), tuple(ends))

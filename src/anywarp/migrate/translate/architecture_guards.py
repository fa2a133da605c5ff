"""Which branch of a comparison with `__CUDA_ARCH__` AMD GPUs take, and where the newer branch cannot be theirs.

The text answers such questions as compute capability 8.0 would (`support/anywarp_warp.h`), because that is what HIP offers in
functions and types. Where the branch so taken holds instructions without an equal, and there is an older way, that one is taken.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anywarp.migrate.translate.includes import Directive
from anywarp.migrate.translate.inline_ptx import NoPtx, Untranslatable, convert
from anywarp.migrate.translate.inline_ptx_text import statements
from anywarp.migrate.translate.vendor_regions import AMD, Regions

LEVEL = 800
"""What `ANYWARP_CUDA_ARCH` is on AMD GPUs."""
COMPARISON = re.compile(rb"__CUDA_ARCH__\s*(>=|>|==)\s*(\d+)\b")
_OPPOSITE = re.compile(rb"__CUDA_ARCH__\s*(<=|<)\s*(\d+)\b")
_NVIDIA = re.compile(
    rb"\bnvcuda::wmma\b|\bwgmma\w*|\bcuda::(?:barrier|pipeline|memcpy_async|ptx)\b|\b__pipeline_arrive_on\b|\bcute::|\bcutlass::"
)


@dataclass(frozen=True)
class Untaken:
    """A comparison `[start, end)` that is answered with `value` so that the branch `[first, last)` is not AMD's, and why."""

    start: int
    end: int
    value: bytes
    first: int
    last: int
    why: str


@dataclass
class _Branch:
    condition: tuple[int, int]
    start: int
    end: int = -1


def refused(code: bytes, data: bytes, directives: Sequence[Directive], apart: Regions) -> tuple[Untaken, ...]:
    """Return the comparisons whose newer branch has no translation, while the same chain has another branch.

    `code` is `data` with comments and literals blanked; what lies in `apart` is for one vendor's tools already.
    """
    hindrances: list[tuple[int, str]] | None = None
    found: list[Untaken] = []
    for chain in _chains(directives):
        condition = code[slice(*chain[0].condition)]
        if b"__CUDA_ARCH__" not in condition or chain[0].start in apart or len(chain) < 2 or AMD.search(condition):
            continue
        hindrances = _hindrances(code, data) if hindrances is None else hindrances
        found += _of_chain(code, chain, hindrances)
    return tuple(found)


def _of_chain(code: bytes, chain: list[_Branch], hindrances: list[tuple[int, str]]) -> Iterator[Untaken]:
    first, second = chain[0], chain[1]
    condition = code[slice(*first.condition)]
    newer = list(COMPARISON.finditer(condition))
    older = list(_OPPOSITE.finditer(condition))
    offset = first.condition[0]
    if len(newer) == 1 and not older and int(newer[0].group(2)) <= LEVEL:
        why = _within(hindrances, first.start, first.end)
        if why:
            yield Untaken(offset + newer[0].start(), offset + newer[0].end(), b"0", first.start, first.end, why)
    elif len(older) == 1 and not newer and int(older[0].group(2)) <= LEVEL and len(chain) == 2 and _alone(condition):
        why = _within(hindrances, second.start, second.end)
        if why:
            yield Untaken(offset + older[0].start(), offset + older[0].end(), b"1", second.start, second.end, why)


def _alone(condition: bytes) -> bool:
    """Say whether a condition is a comparison and nothing else but whether there is something to compare."""
    rest = re.sub(rb"defined\s*\(?\s*__CUDA_ARCH__\s*\)?", b"", _OPPOSITE.sub(b"", condition))
    return not rest.strip(b" \t()&|!\r\n")


def _chains(directives: Sequence[Directive]) -> Iterator[list[_Branch]]:
    """Yield each `#if` with its branches, inner ones first."""
    stack: list[list[_Branch]] = []
    for each in directives:
        if each.word in (b"if", b"ifdef", b"ifndef"):
            stack.append([_Branch((each.text, each.end), each.end)])
        elif each.word in (b"elif", b"else", b"elifdef", b"elifndef") and stack:
            stack[-1][-1].end = each.start
            stack[-1].append(_Branch((each.text, each.end), each.end))
        elif each.word == b"endif" and stack:
            stack[-1][-1].end = each.start
            yield stack.pop()


def _hindrances(code: bytes, data: bytes) -> list[tuple[int, str]]:
    """Return the places of a text that have no translation, in order, and why."""
    found = [(m.start(), f"`{m.group().decode()}` has no equal on AMD GPUs") for m in _NVIDIA.finditer(code)]
    for statement in statements(code, data) if b"asm" in code else ():
        try:
            convert(statement, data)
        except NoPtx:
            continue
        except Untranslatable as why:
            found.append((statement.start, str(why)))
    return sorted(found)


def _within(hindrances: list[tuple[int, str]], start: int, end: int) -> str:
    """Return why a range has no translation, or nothing."""
    at = bisect_left(hindrances, (start, ""))
    return hindrances[at][1] if at < len(hindrances) and hindrances[at][0] < end else ""

"""What a wave of 64 lanes, or lanes that run in step, may break and no rule can mend: told, with what to do.

Code that only counts on warps of 32 lanes stays right (`rules_warps.py`) and gets one remark per file, for whoever wants to use the
full wave. Where statements of one warp follow each other through shared memory, the barrier that CUDA asks for is put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.migrate.translate.brackets import call
from anywarp.migrate.translate.edits import Edit, Need, Outcome, Problem
from anywarp.migrate.translate.unit import Unit

_WIDTH = rb"(?:32|0x20|WARP_SIZE|WARPSIZE|kWarpSize|warpSize|WarpSize|warp_size)[uU]?"
_LAST = rb"(?:31|0x1[fF]|\(?\s*(?:WARP_SIZE|WARPSIZE|kWarpSize|warpSize)\s*-\s*1\s*\)?)[uU]?"
_INDEX = rb"(?:threadIdx\.[xyz]|tid\w*|\w*[tT]hread_?[iI]dx?\w*|\w*[tT]hreadID|lane\w*|thread_rank\s*\(\s*\)|idx)"
_AMOUNT = re.compile(rb"(?:&\s*" + _LAST + rb"|[%/]\s*" + _WIDTH + rb"|>>\s*5)(?![\w.])")
_NUMBER = re.compile(rb"\b" + _INDEX + rb"\s*\Z")
_SLOTS = re.compile(rb"__shared__[^;\n=(){}\[]*\[\s*" + _WIDTH + rb"\s*\](?!\s*\[)")
_WARPS = re.compile(rb"[wW]arp|WARP|__shfl|__ballot|lane")
SPIN = re.compile(rb"\bwhile\s*\(\s*(?:\(?\s*0\s*[!=]=\s*|!\s*|1\s*==\s*)?atomic(?:CAS|Exch)\s*\(")
_SINGLE = re.compile(
    rb"(?:threadIdx\.x|tid\w*|lane\w*|thread_rank\s*\(\s*\)|thread_?[iI]d\w*)\s*(?:==\s*0|<\s*1)\b|!\s*threadIdx\.x|elect|leader|is_first|isLeader|threadIdx\.x\s*&\s*0x1[fF]\s*\)\s*==\s*0"
)
STEP = re.compile(
    rb"\b(?P<array>\w+)\s*\[\s*(?P<index>\w+(?:\.\w+)?)\s*\]\s*"
    rb"(?:[+*|&^]?=)[^;{}]{0,200}?\b(?P=array)\s*\[\s*(?P=index)\s*\+\s*(?:32|16|8|4|2|1)\s*\][^;{}]{0,200};"
)
"""One step of a reduction within a warp through shared memory."""
_BETWEEN = re.compile(rb"[\s{}]*(?:if\s*\([^;{}]{0,200}\)[\s{]*)?")
_STEPS = re.compile(rb"\[\s*\w+(?:\.\w+)?\s*\+\s*(?:32|16|8|4|2|1)\s*\]")
PROPERTY = re.compile(rb"(?:\.|->)\s*warpSize\b")
_PRINTS = re.compile(rb"printf|cout|cerr|<<\s*\"|print|json|Log|LOG|format|info", re.IGNORECASE)


class Remarks:
    """One remark per file on code that counts on 32 lanes, and stays right."""

    name = "warp-remarks"
    words = frozenset((b"__shared__", b"threadIdx", b"__device__", b"__global__"))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.target.wave == 32:
            return
        apart = unit.apart
        found = sorted(place for place in lane_numbers(unit.code) if place[0] not in apart)
        if not found:
            return
        places = "one place counts" if len(found) == 1 else f"{len(found)} places count"
        message = f"{places} on warps of 32 lanes; the translated code keeps them, two to a wave of 64"
        yield Problem(*found[0], "M120", message, "nothing is needed for right results", "note")


def lane_numbers(code: bytes) -> Iterator[tuple[int, int]]:
    """Yield where lane and warp numbers are made of thread numbers, and arrays have a place per warp."""
    for match in _AMOUNT.finditer(code):
        number = _NUMBER.search(code, max(0, match.start() - 60), match.start())
        if number is not None:
            yield number.start(), match.end()
    for match in _SLOTS.finditer(code) if _WARPS.search(code) else ():
        yield match.span()


class HostWidth:
    """The host asks the device for its warp size, and hears 64 on Instinct."""

    name = "warp-property"
    words = frozenset((b"warpSize",))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.target.wave == 32:
            return
        apart = unit.apart
        for match in PROPERTY.finditer(unit.code):
            start = max(unit.code.rfind(mark, 0, match.start()) for mark in (b";", b"{", b"}")) + 1
            if match.start() in apart or _PRINTS.search(unit.code, start, match.start()):
                continue
            message = (
                "the property warpSize is 64 on AMD Instinct, while the translated kernels work in warps of 32 lanes"
            )
            hint = "where it sizes grids, blocks or memory for such kernels, write 32"
            yield Problem(match.start(), match.end(), "M122", message, hint, "warning")


class SpinLocks:
    """A lane that waits for another lane of its own wave waits for ever, because a wave's lanes run in step."""

    name = "spin-locks"
    words = frozenset((b"atomicCAS", b"atomicExch"))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        apart = unit.apart
        for match in SPIN.finditer(unit.code):
            if match.start() in apart or _SINGLE.search(unit.code, max(0, match.start() - 300), match.start()):
                continue
            places = call(unit.code, match.end() - 1)
            if places is None or not _is_lock(unit.code[places[0] + 1 : places[1]]):
                continue
            message = "a lane that waits here for a lock that another lane of its wave holds waits for ever: lanes of a wave run in step"
            hint = "let one lane of the wave take the lock for all, or try once per round of an outer loop with the critical section inside it"
            yield Problem(match.start(), places[1] + 1, "M123", message, hint, "warning")


def _is_lock(arguments: bytes) -> bool:
    """Say whether an exchange writes a constant, as locks do; a loop that updates a value writes what it computed."""
    last = arguments.rsplit(b",", 1)[-1].strip()
    return re.fullmatch(rb"\d+u?|\w*(?i:locked|true|busy)\w*", last) is not None


class WarpSteps:
    """Reductions that count on a warp running in step get the barrier between steps that CUDA asks for since Volta."""

    name = "warp-steps"
    words = frozenset((b"__device__", b"__global__", b"__shared__"))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if _STEPS.search(unit.code) is None:
            return
        apart = unit.apart
        group: list[re.Match[bytes]] = []
        for match in (*STEP.finditer(unit.code), None):
            between = b";" if match is None or not group else unit.code[group[-1].end() : match.start()]
            follows = _BETWEEN.fullmatch(between) is not None
            if not follows:
                yield from self._steps(unit, group)
                group = []
            if match is not None and match.start() not in apart:
                group.append(match)

    def _steps(self, unit: Unit, group: list[re.Match[bytes]]) -> Iterator[Outcome]:
        if len(group) < 2 or len({m["array"] for m in group}) != 1:
            return
        for match in group:
            after = unit.code[match.end() : match.end() + 60].lstrip(b" \t\r\n}")
            if after.startswith((b"else", b"__syncwarp", b"anywarp::syncwarp", b"__syncthreads")):
                continue
            reason = "lanes exchange through shared memory: the compiler must not move these accesses past each other"
            if unit.options.keep_cuda:
                yield Edit(match.end(), match.end(), b" anywarp::syncwarp(anywarp::activemask());", self.name, reason)
            else:
                yield Edit(match.end(), match.end(), b" anywarp::syncwarp();", self.name, reason)
        yield Need(b'"anywarp_warp.h"', "barriers of a warp are put in")


class Coalesced:
    """The threads of a warp that happen to run together: HIP's function gives those of a whole wave."""

    name = "coalesced-groups"
    words = frozenset((b"coalesced_threads",))
    _NAME = re.compile(rb"(?<![\w:])(?:::\s*)?(?:\w+\s*::\s*)*coalesced_threads(?=\s*\(\s*\))")

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda or unit.target.wave == 32:
            return
        for match in self._NAME.finditer(unit.code):
            if match.start() in unit.apart or match.group().startswith(b"anywarp"):
                continue
            reason = "the active threads of a warp of 32, not of the wave"
            yield Edit(match.start(), match.end(), b"anywarp::coalesced_threads", self.name, reason)
            yield Need(b'"anywarp_groups.h"', reason)


RULES = (Remarks(), HostWidth(), SpinLocks(), WarpSteps(), Coalesced())

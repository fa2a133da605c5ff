"""CUB's warp-wide algorithms and constants mean 32 lanes; hipCUB's mean a wave unless they are told otherwise.

The name space itself and the headers are changed by the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.catalogue.identifiers import cub_names
from anywarp.migrate.translate.edits import Edit, Need, Outcome, Problem
from anywarp.migrate.translate.unit import Unit

WIDTH_AT = {b"WarpReduce": 1, b"WarpScan": 1, b"WarpExchange": 2, b"WarpMergeSort": 2}
"""The template argument that is the width, counted from 0: CUB's is 32 when it is left out, hipCUB's the whole wave."""
CONSTANTS: dict[bytes, bytes] = {
    b"CUB_PTX_WARP_THREADS": b"32", b"CUB_WARP_THREADS": b"32", b"CUB_LOG_WARP_THREADS": b"5", b"CUB_PTX_LOG_WARP_THREADS": b"5",
}  # fmt: skip
_LANES: dict[bytes, bytes] = {b"LaneId": b"anywarp::lane_id", b"WarpId": b"anywarp::warp_id"}


class CubWarps:
    """Gives warp-wide algorithms the width of 32, and lane numbers CUDA's meaning."""

    name = "cub-warps"
    words = frozenset((*WIDTH_AT, *CONSTANTS, *_LANES))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        apart = unit.apart
        for match in unit.occurrences(self.words):
            name, place = match.group(), match.start()
            if place in apart:
                continue
            if name in CONSTANTS:
                start = _qualified(unit.code, place, rb"(?:cub::)?")
                yield Edit(start, match.end(), CONSTANTS[name], self.name, "a warp has 32 lanes")
            elif name in _LANES:
                start = _qualified(unit.code, place, rb"cub::")
                if start < place:
                    reason = "hipCUB's counts lanes of a wave"
                    yield Edit(start, match.end(), _LANES[name], self.name, reason)
                    yield Need(b'"anywarp_warp.h"', reason)
            elif re.compile(rb"\bcub[ \t]*::[ \t]*\Z").search(unit.code, max(0, place - 16), place) or _uses_cub(unit):
                yield from self._width(unit, match)

    def _width(self, unit: Unit, match: re.Match[bytes]) -> Iterator[Outcome]:
        found = template_arguments(unit.code, match.end())
        if found is not None and found[0] == WIDTH_AT[match.group()]:
            reason = "without a width hipCUB takes the whole wave, 64 lanes on Instinct"
            yield Edit(found[1], found[1], b", 32", self.name, reason)


def _uses_cub(unit: Unit) -> bool:
    return re.search(rb"\busing\s+namespace\s+cub\s*;", unit.code) is not None


def _qualified(code: bytes, place: int, qualifier: bytes) -> int:
    """Return where the name with its qualifier begins, or `place` itself."""
    match = re.compile(rb"(?:::)?" + qualifier + rb"\Z").search(code, max(0, place - 8), place)
    return place if match is None else match.start()


def template_arguments(code: bytes, place: int, limit: int = 2000) -> tuple[int, int] | None:
    """Return how many template arguments follow a name, and where the closing `>` stands."""
    opening = re.compile(rb"\s*<").match(code, place)
    if opening is None:
        return None
    depth, angles, count = 0, 1, 1
    for match in re.compile(rb"[()\[\]{}<>,;]").finditer(code, opening.end(), opening.end() + limit):
        mark = match.group()
        if mark in b"([{":
            depth += 1
        elif mark in b")]}":
            depth -= 1
        elif mark == b";":
            return None
        elif depth == 0 and mark == b"<":
            angles += 1
        elif depth == 0 and mark == b">" and code[match.start() - 1 : match.start()] != b"-":
            angles -= 1
            if angles == 0:
                return count, match.start()
        elif depth == 0 and angles == 1 and mark == b",":
            count += 1
    return None


class Namespaces:
    """`cub` is `hipcub`, and Thrust's part for CUDA is its part for HIP."""

    name = "cub-namespaces"
    words = frozenset((b"cub", b"thrust"))
    _CUB = re.compile(
        rb"(?<![\w:.>])((?:::[ \t]*)?)cub(?=\s*::)|\busing\s+namespace\s+(cub)(?=\s*;)|\bnamespace\s+\w+\s*=\s*(cub)(?=\s*;)"
    )
    _THRUST = re.compile(rb"\bthrust\s*::\s*(?:system\s*::\s*)?(cuda)(?=\s*(?:::|;))")

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            return
        apart = unit.apart
        for match in self._CUB.finditer(unit.code):
            start = match.end() - 3
            if start not in apart:
                yield Edit(start, match.end(), b"hipcub", self.name, "hipCUB is the counterpart of CUB")
        for match in self._THRUST.finditer(unit.code):
            if match.start() not in apart:
                yield Edit(match.start(1), match.end(1), b"hip", self.name, "the part of rocThrust for HIP")


class Missing:
    """Tells of names of CUB's that hipCUB does not have in the release of ROCm that is translated for."""

    name = "cub-missing"
    words = frozenset((b"cub",))
    _MEMBER = re.compile(rb"(?<![\w:.>])(?:::[ \t]*)?cub[ \t]*::[ \t]*(\w+)")

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        missing = cub_names(unit.target.rocm)
        told: set[bytes] = set()
        for match in self._found(unit):
            hint = missing.get(match[1].decode("utf-8", "replace"))
            if hint is None or match[1] in told or match.start(1) in unit.apart:
                continue
            told.add(match[1])
            message = f"cub::{match[1].decode()} is not in hipCUB of ROCm {unit.target.rocm}"
            yield Problem(match.start(1), match.end(1), "M111", message, hint)

    def _found(self, unit: Unit) -> Iterator[re.Match[bytes]]:
        yield from self._MEMBER.finditer(unit.code)
        if _uses_cub(unit):
            names = (name.encode() for name in cub_names(unit.target.rocm))
            yield from re.finditer(rb"(?<![\w:.>])(" + b"|".join(names) + rb")(?=\s*[<(:{])", unit.code)


RULES = (CubWarps(), Namespaces(), Missing())

"""Code for warps of 32 lanes stays so on AMD GPUs, where a wave may have 64: shuffles of width 32, masks of one half of a wave.

Keeping 32 keeps every number that a kernel computes from lanes and warps (`& 31`, `>> 5`, slots in shared memory), so it is right
without understanding the kernel. What only a person can judge is told by `rules_hazards.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.migrate.translate.brackets import arguments, call
from anywarp.migrate.translate.edits import Edit, Need, Outcome
from anywarp.migrate.translate.scopes import is_anothers
from anywarp.migrate.translate.unit import Unit

HEADER = b'"anywarp_warp.h"'
RENAMED: dict[bytes, bytes] = {
    b"__ballot_sync": b"anywarp::ballot_sync", b"__any_sync": b"anywarp::any_sync", b"__all_sync": b"anywarp::all_sync",
    b"__activemask": b"anywarp::activemask", b"__syncwarp": b"anywarp::syncwarp",
    b"__match_any_sync": b"anywarp::match_any_sync", b"__match_all_sync": b"anywarp::match_all_sync",
    **{f"__reduce_{o}_sync".encode(): f"anywarp::reduce_{o}_sync".encode() for o in ("add", "min", "max", "and", "or", "xor")},
    b"__ballot": b"anywarp::ballot", b"__any": b"anywarp::any", b"__all": b"anywarp::all",
}  # fmt: skip
"""Functions that look at a warp as a whole, and the support header's functions with CUDA's meaning."""
_OLD = frozenset((b"__ballot", b"__any", b"__all"))
"""Names without `_sync`: common enough words that only a call counts."""
SHUFFLES: dict[bytes, bytes] = {f"__shfl{s}_sync".encode(): f"__shfl{s}".encode() for s in ("", "_up", "_down", "_xor")}
SHADOWS = re.compile(rb"#[ \t]*define[ \t]+(__(?:shfl(?:_up|_down|_xor)?|ballot|any|all))\(")
"""Old names as macros of the user's, who gives them the meaning: often that of the function with a mask."""
_PURE = re.compile(rb"(?:[\w\s+\-*/%&|^~<>.()]|::|->)*")
_CALL = re.compile(rb"\w\s*\(")
_OWN = re.compile(rb"#[ \t]*define[ \t]+\Z")
_DECLARED = re.compile(
    rb"(?:\b(?:int|unsigned|size_t|auto|short|long|uint32_t|int32_t|constexpr|const|static)\s+|#[ \t]*define[ \t]+|,\s*)warpSize\s*(?:=(?!=)|;|\{|\b(?=[ \t]+\d)|>)"
)


class Warps:
    """Shuffles get a width of 32 and lose their mask; votes and their like become functions of the support header."""

    name = "warps"
    words = frozenset((*RENAMED, *SHUFFLES, *SHUFFLES.values()))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        apart = unit.apart
        own = unit.options.shadowed | frozenset(SHADOWS.findall(unit.code))
        needed = False
        group = gone = 0
        for match in unit.occurrences(self.words):
            name, place = match.group(), match.start()
            if (
                place < gone
                or place in apart
                or name in own
                or is_anothers(unit, place)
                or _OWN.search(unit.code, max(0, place - 40), place)
            ):
                continue
            group += 1
            places = call(unit.code, match.end())
            if name in RENAMED:
                if name in _OLD and places is None:
                    continue
                yield Edit(place, match.end(), RENAMED[name], self.name, "a warp is one half of a wave of 64 lanes")
                needed = True
            elif name in SHUFFLES:
                plain = None if unit.options.keep_cuda else self._shuffle(unit, match, places, group)
                if plain is None:
                    new = b"anywarp::" + name[2:]
                    yield Edit(place, match.end(), new, self.name, "shuffles stay within 32 lanes")
                    needed = True
                else:
                    yield from plain
                    gone = max(each.end for each in plain[:2])
            elif places is not None and not unit.options.keep_cuda and not _declares(unit.code, place, places[1]):
                found = arguments(unit.code, *places)
                if len(found) == 2 and not _spread(unit.code, found):
                    yield Edit(places[1], places[1], b", 32", self.name, "shuffles stay within 32 lanes")
        if needed:
            yield Need(HEADER, "warps have 32 lanes in it, whatever the wave has")

    def _shuffle(
        self, unit: Unit, match: re.Match[bytes], places: tuple[int, int] | None, group: int
    ) -> list[Edit] | None:
        """Return the edits to HIP's own shuffle, or None where the call cannot be read or its mask has effects."""
        if places is None:
            return None
        found = arguments(unit.code, *places)
        if len(found) not in (3, 4) or _spread(unit.code, found):
            return None
        mask = unit.code[slice(*found[0])]
        if _PURE.fullmatch(mask) is None or (_CALL.search(mask) and mask.replace(b" ", b"") != b"__activemask()"):
            return None
        reason = "the mask only names who takes part; 32 lanes are a warp"
        edits = [
            Edit(match.start(), match.end(), SHUFFLES[match.group()], self.name, reason, group),
            Edit(found[0][0], found[1][0], b"", self.name, reason, group),
        ]
        if len(found) == 3:
            edits.append(Edit(found[2][1], found[2][1], b", 32", self.name, reason, group))
        return edits


class WarpSize:
    """`warpSize` in device code is 32, a constant, as on every GPU of NVIDIA's."""

    name = "warp-size"
    words = frozenset((b"warpSize",))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if _DECLARED.search(unit.code):
            return
        apart = unit.apart
        for match in unit.occurrences(self.words):
            if match.start() not in apart and not is_anothers(unit, match.start()):
                reason = "CUDA's warpSize is 32; HIP's is no constant, and 64 on Instinct"
                yield Edit(match.start(), match.end(), b"32", self.name, reason)


def _spread(code: bytes, ranges: list[tuple[int, int]]) -> bool:
    """Say whether an argument may stand for several."""
    return any(b"..." in code[a:b] or b"__VA_ARGS__" in code[a:b] for a, b in ranges)


def _declares(code: bytes, place: int, close: int) -> bool:
    """Say whether the name is a function being declared or defined there."""
    after = code[close + 1 : close + 40].lstrip()
    before = code[max(0, place - 80) : place].rstrip()
    return after.startswith(b"{") or before.endswith((b"T", b"int", b"float", b"unsigned", b"double", b"auto"))


RULES = (Warps(), WarpSize())

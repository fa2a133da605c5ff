"""Names of CUDA become the names of their twins in ROCm, wherever they are CUDA's: the last rule, and the most frequent.

A name is left alone where it is somebody else's: a member, a name in another's name space, or the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from anywarp.catalogue.identifiers import Identifier
from anywarp.migrate.translate.brackets import word_before
from anywarp.migrate.translate.rules import Edit, Outcome, Problem
from anywarp.migrate.translate.unit import Unit


class Names:
    """Rewrites functions, types, constants and macros by the catalogue, and tells of those without a twin."""

    name = "names"
    words = frozenset[bytes]()

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            return
        known = interesting(unit.target.rocm)
        present = unit.words & known.keys()
        if not present:
            return
        for match in unit.occurrences(present):
            if is_anothers(unit, match.start()):
                continue
            yield from self._one(unit, match, known[match.group()])

    def _one(self, unit: Unit, match: re.Match[bytes], row: Identifier) -> Iterator[Outcome]:
        if row.target:
            yield Edit(
                match.start(), match.end(), row.target.encode(), self.name, f"{row.name} is {row.target} in ROCm"
            )
            return
        hint = "see docs/coverage for what ROCm has; guard the call, or write it for HIP by hand"
        message = f"{row.name} has no twin in ROCm {unit.target.rocm}: {row.reason}"
        yield Problem(match.start(), match.end(), "M111", message, hint)


@cache
def interesting(rocm: str) -> Mapping[bytes, Identifier]:
    """Return the identifiers that are not the same in ROCm."""
    from anywarp.catalogue.identifiers import identifiers

    return {
        name.encode(): row
        for name, row in identifiers(rocm).items()
        if row.target != name and not (row.state == "absent" and row.subject == "device")
    }


def is_anothers(unit: Unit, place: int) -> bool:
    """Say whether the name at `place` is a member, or qualified with a name space or class."""
    code = unit.code
    at = place - 1
    while at >= 0 and code[at] in b" \t\r\n\\":
        at -= 1
    if at < 0:
        return False
    before = code[at : at + 1]
    if before == b"." and code[at - 1 : at] != b".":
        return True
    if before == b">" and code[at - 1 : at] == b"-":
        return True
    if before == b":" and code[at - 1 : at] == b":":
        qualifier = word_before(code, at - 1)
        return bool(qualifier) and qualifier not in (b"return", b"else", b"case", b"throw", b"in")
    return code[place - 1] >= 0x80 if place else False


RULES = (Names(),)

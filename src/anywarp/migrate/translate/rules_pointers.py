"""Arithmetic on `CUdeviceptr`, a number in CUDA and `void *` in HIP, is done on `char *`, where a variable shows it.

Adding to `void *` does not compile in C++, so what this rule does not see is found by the compiler, not at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.migrate.translate.edits import Edit, Outcome
from anywarp.migrate.translate.unit import Unit

_DECLARED = re.compile(rb"\bCUdeviceptr\s+((?:\w+\s*(?:=[^,;(){}]*)?,\s*)*\w+)\s*(?=[=;,){])")
_NAME = re.compile(rb"(?:\A|,)\s*(\w+)")
_OTHER = (
    rb"\b(?:int|unsigned|size_t|long|float|double|char|auto|bool|void|half|uint\d+_t|int\d+_t|T)\b[\s*&]+(?:const\s+)?"
)


class Pointers:
    """Casts the variables of that type where something is added to or taken from them."""

    name = "pointers"
    words = frozenset((b"CUdeviceptr",))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            return
        names = {name for match in _DECLARED.finditer(unit.code) for name in _NAME.findall(match.group(1))}
        for name in sorted(names):
            if re.search(_OTHER + name + rb"\b", unit.code) is None:
                yield from self._uses(unit, name)

    def _uses(self, unit: Unit, name: bytes) -> Iterator[Outcome]:
        reason = "a device's address is void * in HIP"
        operand = rb"(?<![\w.>])(?<!\(char \*\))" + name + rb"\b(?=\s*(?:\+(?![+=])|-(?![-=>])))"
        other = rb"(?<=[\w)\]])\s*[+-]\s*(" + name + rb")\b(?!\s*[.(\[])"
        places = {match.start() for match in re.finditer(operand, unit.code)}
        places |= {match.start(1) for match in re.finditer(other, unit.code)}
        for place in sorted(places):
            yield Edit(place, place, b"(char *)", self.name, reason)
        for match in re.finditer(rb"(?<![\w.>])" + name + rb"\s*([+-]=)\s*([^;{}]+);", unit.code):
            sign = match.group(1)[:1]
            simple = re.fullmatch(rb"[\w.]+", match.group(2).strip()) is not None
            begin = b"= (char *)" + name + b" " + sign + (b"" if simple else b" (")
            group = match.start(1) + 1
            end = match.end(1) + (0 if simple else len(unit.code[match.end(1) : match.start(2)]))
            yield Edit(match.start(1), end, begin, self.name, reason, group=group)
            if not simple:
                yield Edit(match.end(2), match.end(2), b")", self.name, reason, group=group)


RULES = (Pointers(),)

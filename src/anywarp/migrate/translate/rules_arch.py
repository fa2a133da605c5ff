"""Questions to nvcc's macros get the answer that holds for AMD GPUs; HIP defines none of them, so each would silently be "no".

Whether code is compiled for a device is HIP's own question. Which capability the device has is answered by `ANYWARP_CUDA_ARCH`, 8.0;
where the branch so taken cannot be translated and there is another, that one is taken, and the line says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.migrate.translate.edits import Edit, Need, Outcome, Problem
from anywarp.migrate.translate.unit import Unit
from anywarp.migrate.translate.vendor_regions import AMD

ARCH = b"__CUDA_ARCH__"
HEADER = b'"anywarp_warp.h"'
MACROS: dict[bytes, bytes] = {
    b"__CUDACC__": b"__HIPCC__", b"__NVCC__": b"__HIPCC__", b"__CUDACC_RTC__": b"__HIPCC_RTC__",
    b"__CUDACC_EXTENDED_LAMBDA__": b"__HIPCC__", b"__CUDACC_RELAXED_CONSTEXPR__": b"__HIPCC__",
    b"__CUDA_NO_HALF_OPERATORS__": b"__HIP_NO_HALF_OPERATORS__",
    b"__CUDA_NO_HALF_CONVERSIONS__": b"__HIP_NO_HALF_CONVERSIONS__",
}  # fmt: skip
"""Macros of nvcc's, and those that say the same of HIP's compilers."""
_ASKED = re.compile(rb"(?:\bdefined[ \t]*\(?[ \t]*|#[ \t]*ifn?def[ \t]+|#[ \t]*elifn?def[ \t]+)\Z")


class Architecture:
    """`__CUDA_ARCH__` in conditions and expressions."""

    name = "architecture"
    words = frozenset((ARCH,))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        apart = unit.apart
        done: list[tuple[int, int]] = []
        for each in unit.untaken:
            text = unit.data[each.start : each.end]
            yield Edit(each.start, each.end, each.value + b" /* " + text + b" */", self.name, each.why)
            message = f"AMD GPUs take the other branch of `{text.decode('utf-8', 'replace')}`: {each.why}"
            yield Problem(each.start, each.end, "M135", message, "", "note")
            done.append((each.start, each.end))
        needed = False
        for match in unit.occurrences(self.words):
            place = match.start()
            if place in apart or any(a <= place < b for a, b in done) or _mentions_amd(unit, place):
                continue
            if _ASKED.search(unit.code, max(0, place - 60), place) and not unit.options.keep_cuda:
                reason = "HIP says by this macro that it compiles for a device"
                yield Edit(place, match.end(), b"__HIP_DEVICE_COMPILE__", self.name, reason)
            elif not _OWN.search(unit.code, max(0, place - 40), place):
                reason = "answered as compute capability 8.0 would; HIP does not define __CUDA_ARCH__"
                yield Edit(place, match.end(), b"ANYWARP_CUDA_ARCH", self.name, reason)
                needed = True
        if needed:
            yield Need(HEADER, "it says what __CUDA_ARCH__ is for AMD GPUs")


_OWN = re.compile(rb"#[ \t]*(?:define|undef)[ \t]+\Z")


class Compiler:
    """`__CUDACC__` and its like."""

    name = "compiler"
    words = frozenset(MACROS)

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        apart = unit.apart
        for match in unit.occurrences(self.words):
            place, name = match.start(), match.group()
            if place in apart or _mentions_amd(unit, place):
                continue
            own = _OWN.search(unit.code, max(0, place - 40), place) is not None
            if not unit.options.keep_cuda:
                if not own or name.startswith(b"__CUDA_NO"):
                    yield Edit(place, match.end(), MACROS[name], self.name, "HIP's compilers define this one")
            elif not own:
                yield from self._both(unit, place, name)

    def _both(self, unit: Unit, place: int, name: bytes) -> Iterator[Outcome]:
        """Let a condition hold for either compiler."""
        line = unit.code.rfind(b"\n", 0, place) + 1
        end = place + len(name)
        reason = "HIP's compilers define the other one"
        both = b"defined(" + name + b") || defined(" + MACROS[name] + b")"
        plain = re.compile(rb"[ \t]*#[ \t]*(ifn?def)[ \t]+\Z").match(unit.code, line, place)
        if plain is not None:
            new = b"if " + (both if plain.group(1) == b"ifdef" else b"!(" + both + b")")
            yield Edit(plain.start(1), end, new, self.name, reason)
            return
        asked = re.compile(rb"\bdefined[ \t]*(\(?)[ \t]*\Z").search(unit.code, line, place)
        if asked is not None:
            last = unit.code.find(b")", end) + 1 if asked.group(1) else end
            yield Edit(asked.start(), last, b"(" + both + b")", self.name, reason)


def _mentions_amd(unit: Unit, place: int) -> bool:
    """Say whether the line asks for AMD's tools as well: its author has thought of both."""
    start = unit.code.rfind(b"\n", 0, place) + 1
    end = unit.code.find(b"\n", place)
    line = unit.code[start : len(unit.code) if end < 0 else end]
    return line.lstrip().startswith(b"#") and AMD.search(line) is not None


RULES = (Architecture(), Compiler())

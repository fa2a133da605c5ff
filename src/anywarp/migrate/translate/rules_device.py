"""Functions, types and attributes of CUDA's, most of them of the device, that HIP has under another name, or that a support header gives.

One table: what a name becomes, and which header it then needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from anywarp.migrate.translate.brackets import arguments, call
from anywarp.migrate.translate.edits import Edit, Need, Outcome, Problem
from anywarp.migrate.translate.scopes import is_anothers
from anywarp.migrate.translate.unit import Unit

CUDA, SIMD, WARP = b'"anywarp_cuda.h"', b'"anywarp_simd.h"', b'"anywarp_warp.h"'
GRAPHS = b'"anywarp_graphs.h"'


@dataclass(frozen=True)
class New:
    """What a name becomes, the header it needs (empty: none), and why."""

    text: bytes
    header: bytes
    reason: str


def _simd() -> Iterator[str]:
    plain = "add sub addus addss subus subss absdiffu absdiffs minu mins maxu maxs avgu avgs haddu abs absss neg negss sadu sads".split()
    compared = [
        f"{a}{b}" for a in ("cmp", "set") for b in ("eq", "ne", "geu", "gtu", "leu", "ltu", "ges", "gts", "les", "lts")
    ]
    for name in (*plain, *compared):
        yield from (f"v{name}2", f"v{name}4")
    yield from (f"{name}_{type}" for name in ("vimax3", "vimin3", "viaddmax", "viaddmin") for type in ("s32", "u32"))


_SAME = "HIP has it by this name"
FUNCTIONS: dict[bytes, New] = {
    **{f"__{n}".encode(): New(f"anywarp::{n}".encode(), SIMD, "HIP has no arithmetic on parts of a word") for n in _simd()},
    **{f"__{n}".encode(): New(f"anywarp::{n}".encode(), CUDA, "HIP has no dot products of bytes") for n in ("dp4a", "dp2a_lo", "dp2a_hi")},
    **{n.encode(): New(f"anywarp::{n}".encode(), CUDA, "HIP has no such function")
       for n in ("umin", "umax", "llmin", "llmax", "ullmin", "ullmax")},
    b"__nanosleep": New(b"anywarp::nanosleep", CUDA, "HIP has no such function"),
    b"__pipeline_memcpy_async": New(b"anywarp::pipeline_memcpy_async", CUDA, "a copy that is done at once"),
    b"__cvta_generic_to_shared": New(b"anywarp::shared_address", WARP, "HIP has no such function"),
    b"__isShared": New(b"__builtin_amdgcn_is_shared", b"", "the compiler's own"),
    b"__ldcv": New(b"anywarp::load_volatile", CUDA, "HIP has no such function"),
    **{f"__{n}".encode(): New(b"anywarp::load", CUDA, "where a value is cached is only a hint; HIP has these for halves alone")
       for n in ("ldcs", "ldcg", "ldca", "ldlu")},
    **{f"__{n}".encode(): New(b"anywarp::store", CUDA, "where a value is cached is only a hint") for n in ("stcg", "stcs", "stwb", "stwt")},
    b"__trap": New(b"__builtin_trap", b"", "the compiler's own"),
    b"__brkpt": New(b"__builtin_debugtrap", b"", "the compiler's own"),
    **{f"atomic{n}_block".encode(): New(f"atomic{n}".encode(), b"", "atomic for the device, and so for the block")
       for n in ("Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor")},
    **{n.encode(): New(b"__half", b"", _SAME) for n in ("nv_half", "__nv_half")},
    **{n.encode(): New(b"__half2", b"", _SAME) for n in ("nv_half2", "__nv_half2")},
    b"cudaGraphExecUpdateResultInfo": New(b"anywarp::GraphExecUpdateResultInfo", GRAPHS, "HIP gives two values instead of a struct"),
    b"cudaSharedmemCarveoutMaxShared": New(b"100", b"", "HIP's attribute takes a share in percent, as CUDA's constants are"),
    b"cudaSharedmemCarveoutMaxL1": New(b"0", b"", "HIP's attribute takes a share in percent, as CUDA's constants are"),
    b"__float2bfloat16_rn": New(b"__float2bfloat16", b"", "it rounds to nearest"),
    b"make_bfloat162": New(b"__halves2bfloat162", b"", _SAME),
    b"__builtin_align__": New(b"__align__", b"", _SAME),
}  # fmt: skip
"""Functions and types, and what they become."""
GONE: dict[bytes, str] = {
    b"__pipeline_commit": "the copies were done at once", b"__pipeline_wait_prior": "the copies were done at once",
}  # fmt: skip
"""Functions whose calls have nothing left to do."""


ATTRIBUTES: dict[bytes, str] = {b"__grid_constant__": "", b"__maxnreg__": "(n)"}
"""Attributes without a form in HIP, with their parameters."""


def macros(names: Iterable[str]) -> tuple[set[bytes], list[str]]:
    """Return the headers, and the lines of definitions, by which names of CUDA's stand for their answers where HIP compiles."""
    needed: set[bytes] = set()
    lines: list[str] = []
    for name in sorted(names):
        word = name.encode()
        if word in FUNCTIONS:
            new = FUNCTIONS[word]
            needed |= {new.header} - {b""}
            lines.append(f"#define {name} {new.text.decode()}")
        elif word in GONE:
            lines.append(f"#define {name}(...) ((void)0)")
        elif word in ATTRIBUTES:
            lines.append(f"#define {name}{ATTRIBUTES[word]}")
    return needed, lines


class DeviceFunctions:
    """Renames by the table."""

    name = "device-functions"
    words = frozenset((*FUNCTIONS, *GONE))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            return
        apart = unit.apart
        for match in unit.occurrences(self.words):
            name, place = match.group(), match.start()
            if place in apart or is_anothers(unit, place) or _defined(unit.code, match):
                continue
            if name in GONE:
                places = call(unit.code, match.end())
                if places is not None:
                    yield Edit(place, places[1] + 1, b"(void)0", self.name, GONE[name])
                continue
            new = FUNCTIONS[name]
            yield Edit(place, match.end(), new.text, self.name, new.reason)
            if new.header:
                yield Need(new.header, new.reason)


_DEFINES = re.compile(
    rb"(?:#[ \t]*define[ \t]+|\b(?:int|unsigned|void|float|__forceinline__|inline|auto|unsigned int)[ \t]+)\Z"
)


def _defined(code: bytes, match: re.Match[bytes]) -> bool:
    """Say whether a function of that name is the user's own."""
    if not _DEFINES.search(code, max(0, match.start() - 60), match.start()):
        return False
    line = code[code.rfind(b"\n", 0, match.start()) + 1 : match.start()].lstrip()
    if line.startswith(b"#"):
        return True
    places = call(code, match.end())
    return places is not None and code[places[1] + 1 : places[1] + 30].lstrip().startswith((b"{", b";"))


# --- calls that change their shape -------------------------------------------------------------------------------------------------


class Bfloat16Pairs:
    """Two floats to a pair of bfloat16."""

    name = "bfloat16-pairs"
    words = frozenset((b"__floats2bfloat162_rn", b"__float2bfloat162_rn"))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            return
        apart = unit.apart
        for group, match in enumerate(unit.occurrences(self.words), 1):
            places = call(unit.code, match.end())
            if places is None or match.start() in apart or is_anothers(unit, match.start()):
                continue
            both = match.group() == b"__floats2bfloat162_rn"
            if len(arguments(unit.code, *places)) != (2 if both else 1):
                continue
            name, opening, shut = (
                (b"__float22bfloat162_rn", b"make_float2(", b")")
                if both
                else (b"__bfloat162bfloat162", b"__float2bfloat16(", b")")
            )
            reason = "HIP has it for a vector"
            yield Edit(match.start(), match.end(), name, self.name, reason, group)
            yield Edit(places[0] + 1, places[0] + 1, opening, self.name, reason, group)
            yield Edit(places[1], places[1], shut, self.name, reason, group)


# --- attributes ----------------------------------------------------------------------------------------------------------------------


class Attributes:
    """Attributes of kernels and parameters that HIP lacks or reads otherwise."""

    name = "attributes"
    words = frozenset(
        (b"__launch_bounds__", b"__grid_constant__", b"__maxnreg__", b"__cluster_dims__", b"__block_size__")
    )

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            return
        apart = unit.apart
        for match in unit.occurrences(self.words):
            name, place = match.group(), match.start()
            if place in apart or _MACRO.search(unit.code, max(0, place - 40), place):
                continue
            places = call(unit.code, match.end())
            if name == b"__launch_bounds__":
                yield from self._bounds(unit, places)
            elif name == b"__grid_constant__":
                end = match.end() + (unit.code[match.end() : match.end() + 1] == b" ")
                yield Edit(place, end, b"", self.name, "parameters of kernels are constant on AMD GPUs anyway")
            elif name == b"__maxnreg__" and places is not None:
                end = places[1] + 1 + (unit.code[places[1] + 1 : places[1] + 2] == b" ")
                yield Edit(place, end, b"", self.name, "HIP has no limit of registers by number")
                yield Problem(
                    place,
                    match.end(),
                    "M141",
                    "__maxnreg__ is dropped: it limits registers, not results",
                    _TUNE,
                    "note",
                )
            elif places is not None:
                message = f"{name.decode()} asks for clusters of blocks, which AMD GPUs do not have"
                yield Problem(
                    place, places[1] + 1, "M140", message, "launch without clusters, and exchange through global memory"
                )

    def _bounds(self, unit: Unit, places: tuple[int, int] | None) -> Iterator[Outcome]:
        if places is None:
            return
        found = arguments(unit.code, *places)
        if len(found) == 3:
            reason = "the third argument is about clusters of blocks, which AMD GPUs do not have"
            yield Edit(found[1][1], found[2][1], b"", self.name, reason)


_MACRO = re.compile(rb"#[ \t]*(?:define|undef|ifn?def)[ \t]+\Z")
_TUNE = "look at the registers of the kernel after the move, and choose __launch_bounds__ for the card"


class Pragmas:
    """nvcc's own pragmas become comments; `#pragma unroll` is clang's as well."""

    name = "pragmas"
    words = frozenset((b"pragma",))
    _OURS = re.compile(
        rb"[ \t]*#[ \t]*pragma[ \t]+(?:nv_|hd_warning_disable|nvcc\b|diag_(?:suppress|default|error|warning)\b)"
    )

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            return
        apart = unit.apart
        for each in unit.directives:
            if each.word == b"pragma" and each.start not in apart and self._OURS.match(unit.code, each.start):
                at = unit.code.index(b"#", each.start)
                text = unit.data[at : each.end].rstrip()
                reason = "a pragma of nvcc's, which clang does not know"
                yield Edit(at, at + len(text), b"// " + text, self.name, reason)


class ImplicitHeaders:
    """nvcc's headers bring functions of the C library with them; HIP's do not."""

    name = "implicit-headers"
    _STRINGS = frozenset(
        b"memset memcpy memmove memcmp strlen strcmp strncmp strcpy strncpy strcat strstr strchr strrchr strtok".split()
    )
    _NUMBERS = frozenset((b"isfinite", b"isnan", b"isinf", b"signbit"))
    words = _STRINGS | _NUMBERS
    _CUDA = re.compile(rb"\bcuda[A-Z]|\b__(?:device|global)__\b")

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda or not self._CUDA.search(unit.code):
            return
        given = {include.name for include in unit.includes}
        if given.isdisjoint(("cstring", "string.h", "memory.h", "string")) and self._called(unit, self._STRINGS):
            yield Need(b"<cstring>", "cuda_runtime.h includes string.h, HIP's header does not")
        if given.isdisjoint(("math.h",)) and self._called(unit, self._NUMBERS):
            yield Need(b"<math.h>", "cuda_runtime.h includes math.h, HIP's header does not")

    def _called(self, unit: Unit, words: frozenset[bytes]) -> bool:
        present = words & unit.words
        return bool(present) and any(
            unit.code[match.end() : match.end() + 1] == b"("
            and match.start() not in unit.apart
            and not is_anothers(unit, match.start())
            for match in unit.occurrences(present)
        )


class MixedExtremes:
    """CUDA's `min` and `max` take a signed and an unsigned number; HIP's make them floating point."""

    name = "mixed-extremes"
    words = frozenset((b"min", b"max"))
    _UNSIGNED = re.compile(rb"\b(?:blockDim|threadIdx|blockIdx|gridDim)\b|\bsizeof\b|\b\d+[uU]\b")

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda or self._UNSIGNED.search(unit.code) is None:
            return
        for match in unit.occurrences(self.words):
            places = call(unit.code, match.end())
            if places is None or match.start() in unit.apart or is_anothers(unit, match.start()):
                continue
            found = arguments(unit.code, *places)
            unsigned = [self._UNSIGNED.search(unit.code, *each) is not None for each in found]
            if len(found) == 2 and unsigned[0] != unsigned[1]:
                yield Need(b'"anywarp_cuda.h"', "HIP has no min and max of a signed and an unsigned number")
                return


RULES = (DeviceFunctions(), Bfloat16Pairs(), Attributes(), Pragmas(), ImplicitHeaders(), MixedExtremes())

"""Includes of CUDA's headers become those of ROCm; a source without any gets HIP's own, as nvcc gives it CUDA's.

Several headers of CUDA may become one: a second include of it under the same conditions goes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator

from anywarp.migrate.translate import dual
from anywarp.migrate.translate.edits import Edit, Need, Outcome, Problem
from anywarp.migrate.translate.includes import Include
from anywarp.migrate.translate.unit import Unit

RUNTIME = "hip/hip_runtime.h"
NEEDS_RUNTIME = frozenset(("hip/hip_gl_interop.h",))
"""Headers of HIP that do not compile unless its runtime is included before."""
BY_HAND = frozenset(("cudnn.h", "cudnn_frontend.h", "nvml.h"))
"""Headers whose names are left as they are as a whole (see `rules_calls`)."""
_HAS_INCLUDE = re.compile(rb'__has_include(?:_next)?\s*\(\s*(?:<([^>\n]*)>|"([^"\n]*)")')
_IMPLICIT = re.compile(
    rb"\b(?:__global__|__device__|__host__|__constant__|__shared__|__managed__|threadIdx|blockIdx|cuda[A-Z]\w+)\b|<<<"
)


class Headers:
    """Rewrites the names of headers, and adds HIP's header where the compiler gave CUDA's unasked."""

    name = "headers"
    words = frozenset[bytes]()

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            cudas = [
                each
                for each in unit.includes
                if (target_of(unit, each.name, each.quoted) or ("", ""))[0] not in ("", each.name)
                or each.name in dual.GIVEN
            ]
            implicit = unit.path.suffix == ".cu" and _IMPLICIT.search(unit.code) is not None
            yield from dual.guarded(unit, [each for each in cudas if not _unseen(unit, each)], implicit and not cudas)
            return
        seen = dict[str, list[tuple[int, ...]]]()
        runtime = False
        for include in unit.includes:
            answer = target_of(unit, include.name, include.quoted)
            name = include.name if answer is None else answer[0]
            yield from self._one(unit, include, answer, seen)
            runtime |= name == RUNTIME and not include.directive.conditions
        if b"__has_include" in unit.words:
            yield from self._asked(unit)
        if not runtime and _is_bare(unit, seen):
            yield Need(b"<hip/hip_runtime.h>", "nvcc includes cuda_runtime.h by itself, HIP's compilers do not")

    def _one(
        self, unit: Unit, include: Include, answer: tuple[str, str] | None, seen: dict[str, list[tuple[int, ...]]]
    ) -> Iterator[Outcome]:
        conditions = include.directive.conditions
        if answer is None:
            renamed = _renamed(unit, include)
            if renamed is not None:
                yield Edit(include.start, include.end, renamed, self.name, "the file has another suffix now")
            seen.setdefault(include.name, []).append(conditions)
            return
        name, reason = answer
        if not name:
            hint = "take the include out, or guard it, when what it declares is replaced"
            message = f"ROCm {unit.target.rocm} has nothing like <{include.name}>: {reason}"
            yield Problem(include.start, include.end, "M110", message, hint)
            return
        if name == include.name:
            seen.setdefault(name, []).append(conditions)
            return
        earlier = seen.setdefault(name, [])
        if any(conditions[: len(each)] == each for each in earlier) and _alone(unit, include):
            end = min(include.directive.end + 1, len(unit.data))
            yield Edit(include.directive.start, end, b"", self.name, f"{name} is included already")
            return
        earlier.append(conditions)
        opens, closes = (b'"', b'"') if include.quoted else (b"<", b">")
        text = opens + name.encode() + closes
        if name in NEEDS_RUNTIME and not any(conditions[: len(each)] == each for each in seen.get(RUNTIME, ())):
            seen.setdefault(RUNTIME, []).append(conditions)
            line_end = b"\r\n#include " if b"\r\n" in unit.data else b"\n#include "
            text = opens + RUNTIME.encode() + closes + line_end + text
        yield Edit(include.start, include.end, text, self.name, f"{include.name} is {name} in ROCm")

    def _asked(self, unit: Unit) -> Iterator[Outcome]:
        for match in _HAS_INCLUDE.finditer(unit.data):
            if unit.code[match.start() : match.start() + 4] != b"__ha":
                continue  # in a comment or literal
            index = match.lastindex or 1
            answer = target_of(unit, match.group(index).decode("utf-8", "replace"), index == 2)
            if answer is not None and answer[0]:
                start, end = match.start(index) - 1, match.end(index) + 1
                if unit.data[start:end] != (new := b"<" + answer[0].encode() + b">"):
                    yield Edit(start, end, new, self.name, "the counterpart of the header in ROCm")


def _is_bare(unit: Unit, seen: Collection[str]) -> bool:
    """Say whether a file has CUDA's words without an include that could bring them: nvcc compiles `.cpp` with `-x cu`, too."""
    if unit.path.suffix == ".cu":
        return _IMPLICIT.search(unit.code) is not None
    if b"__global__" not in unit.words or any(name.startswith(("hip/", "cuda")) for name in seen):
        return False
    own = any(include.quoted and unit.is_local(include.name) for include in unit.includes)
    return not own or unit.path.suffix in (".cpp", ".cc", ".cxx")


def target_of(unit: Unit, name: str, quoted: bool) -> tuple[str, str] | None:
    """Return the name of the counterpart of a header (empty: there is none) and the reason; None for headers not CUDA's."""
    answer = _counterpart(unit, name)
    return None if answer is None or (quoted and unit.is_local(name)) else answer


def _counterpart(unit: Unit, name: str) -> tuple[str, str] | None:
    plain = posixpath.normpath(name)
    if plain in BY_HAND:
        return "", "ROCm's library for this is used in another way"
    row = unit.headers.get(plain)
    if row is None:
        above = [plain[: at + 1] for at, sign in enumerate(plain) if sign == "/"]
        row = next((unit.headers[prefix] for prefix in above if prefix in unit.headers), None)
    if row is None:
        return ("hipcub/hipcub.hpp", "") if plain.startswith("cub/") else None
    if row.name.endswith("/"):
        return (plain, "") if row.target else ("", row.reason)
    return row.target, row.reason


def _renamed(unit: Unit, include: Include) -> bytes | None:
    stem, suffix = posixpath.splitext(include.name)
    new = unit.options.renamed.get(suffix)
    if new is None or not unit.is_local(include.name):
        return None
    around = unit.data[include.start : include.start + 1], unit.data[include.end - 1 : include.end]
    return around[0] + (stem + new).encode() + around[1]


def _unseen(unit: Unit, include: Include) -> bool:
    return any(start <= include.start < end for start, end in unit.unseen)


def _alone(unit: Unit, include: Include) -> bool:
    """Say whether nothing else, no comment either, stands in the line."""
    return not unit.data[include.end : include.directive.end].strip()


RULES = (Headers(),)

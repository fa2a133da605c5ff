"""Names of CUDA become the names of their counterparts in ROCm, wherever they are CUDA's: the last rule, and the most frequent.

A name is left alone where it is somebody else's: a member, a name in another's name space, or the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from anywarp.catalogue.identifiers import Identifier, identifiers
from anywarp.migrate.translate.edits import Edit, Outcome, Problem
from anywarp.migrate.translate.rules_device import FUNCTIONS
from anywarp.migrate.translate.rules_versions import VERSIONS
from anywarp.migrate.translate.scopes import is_anothers, own_scopes
from anywarp.migrate.translate.unit import Unit

DECORATIONS = frozenset(
    b"CUDAAPI CUDART_CB CUDA_CB CUDARTAPI CUBLASAPI CUBLASWINAPI CUFFTAPI CURANDAPI CUSPARSEAPI CUSOLVERAPI".split()
)
"""Macros that decorate declarations of CUDA's: empty on Linux, and without a counterpart."""
PROPERTY = re.compile(rb"(?:MAJOR_VERSION|MINOR_VERSION|PATCH_LEVEL)\Z")
"""Constants of CUDA with everybody's names: theirs only where libraries are asked for their version."""

TYPEDEFS = frozenset(
    "hipExternalMemoryBufferDesc hipExternalMemoryHandleDesc hipExternalMemoryHandleType hipExternalMemoryMipmappedArrayDesc"
    " hipExternalSemaphoreHandleDesc hipExternalSemaphoreHandleType hipExternalSemaphoreSignalParams hipExternalSemaphoreWaitParams"
    " hipFunctionLaunchParams hipGraphicsResource hipLaunchAttribute hipLaunchParams hipLibraryOption".split()
)
"""Types of HIP whose tag has another name than the type (the headers of HIP 7.2)."""

_CUDAS = re.compile(
    r"_*(?:cu|CU|nv|NV|nccl|NCCL|pnccl|make_cu|roctx)|gesvdj|syevj|lib(?:rary|Format)|LIB_|pruneInfo|(?:csr|bsr)\w+Info|MA[JX]|MINOR|PATCH|__DRIVER_TYPES_H__"
)
_DEVICE = re.compile(r"__(?!local|float_simpl|\w*_internal)|h2?tanh|cu[A-Z]|cu(?:da|rand)|nv_")
_KEYWORD = re.compile(rb"\b(?:enum|struct|union)[ \t]+\Z")


class Names:
    """Rewrites functions, types, constants and macros by the catalogue, and tells of those without a counterpart."""

    name = "names"
    words = frozenset[bytes]()

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        known = interesting(unit.target.rocm)
        present = unit.words & known.keys()
        if not any(word.endswith(b"GetProperty") for word in unit.words):
            present = {word for word in present if not PROPERTY.match(word)}
        if not present:
            return
        matches = list(unit.occurrences(present))
        own = own_scopes(unit, matches)
        for match in matches:
            name, start = match.group(), match.start()
            if is_anothers(unit, start) or _is_own(unit, start, own.get(name, ())):
                continue
            row = known[name]
            if name in DECORATIONS:
                yield from self._decoration(unit, match)
            elif not row.target:
                yield self._absent(unit, match, row)
            elif not unit.options.keep_cuda:
                yield from self._renamed(unit, match, row)

    def _renamed(self, unit: Unit, match: re.Match[bytes], row: Identifier) -> Iterator[Outcome]:
        reason = f"{row.name} is {row.target} in ROCm"
        start = match.start()
        tag = row.target == "hip" + row.name[4:] and row.target not in TYPEDEFS
        if row.kind == "type" and not tag:  # `enum cudaError` is `hipError_t`
            before = _KEYWORD.search(unit.code, max(0, start - 16), start)
            start = start if before is None else before.start()
        yield Edit(start, match.end(), row.target.encode(), self.name, reason)

    def _absent(self, unit: Unit, match: re.Match[bytes], row: Identifier) -> Problem:
        hint = "see docs/coverage for what ROCm has; guard this part, or write it for HIP by hand"
        message = f"{row.name} has no counterpart in ROCm {unit.target.rocm}: {row.reason}"
        return Problem(match.start(), match.end(), "M111", message, hint)

    def _decoration(self, unit: Unit, match: re.Match[bytes]) -> Iterator[Outcome]:
        low = max(0, match.start() - 1000)
        line = unit.code[max(low, unit.code.rfind(b"\n", low, match.start()) + 1) : match.start()]
        if unit.options.keep_cuda or line.lstrip().startswith(b"#"):
            return  # whoever asks whether it is defined, or defines it, goes on to do so
        end = match.end() + (unit.code[match.end() : match.end() + 1] == b" ")
        if (
            unit.code[end : end + 1] not in (b"\n", b"\r", b"*", b"(", b")", b"&", b"_")
            and not unit.code[end : end + 1].isalnum()
        ):
            return  # not in a declaration
        yield Edit(match.start(), end, b"", self.name, "a decoration of CUDA's declarations, empty on Linux")


def _is_own(unit: Unit, place: int, scopes: Sequence[tuple[int, int]]) -> bool:
    """Say whether the name lies in a scope that has one of its own, and does not ask for the global one (`::name`)."""
    return any(low <= place < high for low, high in scopes) and unit.code[max(0, place - 2) : place] != b"::"


@cache
def interesting(rocm: str) -> Mapping[bytes, Identifier]:
    """Return the identifiers that are not the same in ROCm and that a source can only have from CUDA."""
    return {
        name.encode(): row
        for name, row in identifiers(rocm).items()
        if row.target != name
        and _is_cudas(name, row)
        and name.encode() not in FUNCTIONS
        and name.encode() not in VERSIONS
    }


def _is_cudas(name: str, row: Identifier) -> bool:
    if row.subject == "device" and not row.target:
        return _DEVICE.match(name) is not None
    return _CUDAS.match(name) is not None or bool(row.target and row.subject == "device")


RULES = (Names(),)

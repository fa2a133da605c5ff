"""Names made by pasting tokens, `cuda##name` in a macro, get the prefix of the counterparts, and the macro's uses are checked.

Most names of a library keep what follows the prefix; where a use in the same text does not, a person is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from anywarp.catalogue.identifiers import identifiers
from anywarp.migrate.translate.brackets import arguments, call
from anywarp.migrate.translate.edits import Edit, Outcome, Problem
from anywarp.migrate.translate.unit import Unit

PREFIXES = (
    (b"cublas", b"hipblas"), (b"cufft", b"hipfft"), (b"curand", b"hiprand"), (b"cusparse", b"hipsparse"), (b"cusolver", b"hipsolver"),
    (b"nvrtc", b"hiprtc"), (b"cuda", b"hip"), (b"CUBLAS_", b"HIPBLAS_"), (b"CUFFT_", b"HIPFFT_"), (b"CURAND_", b"HIPRAND_"),
    (b"CUSPARSE_", b"HIPSPARSE_"), (b"CUSOLVER_", b"HIPSOLVER_"), (b"CUDA_R_", b"HIP_R_"), (b"CUDA_C_", b"HIP_C_"),
)  # fmt: skip
PASTED = re.compile(rb"\b((?:cu|CU|nvrtc|NVRTC)\w*)(?=[ \t]*##)")
_PARAMETER = re.compile(rb"[ \t]*##[ \t]*(\w+)([ \t]*##)?")
_DEFINED = re.compile(rb"[ \t]+(\w+)\(([^)\n]*)\)")


class Pasting:
    """Rewrites the left side of `##`."""

    name = "pasting"
    words = frozenset[bytes]()

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda or b"##" not in unit.code:
            return
        for match in PASTED.finditer(unit.code):
            left = match.group(1)
            if not _is_prefix(left.decode(), unit.target.rocm):
                continue
            pair = next((each for each in PREFIXES if left.startswith(each[0])), None)
            if pair is None:
                hint = "write the names in full, or give the macro the whole name"
                message = f"`{left.decode()}##`: the names it makes have no common prefix in ROCm"
                yield Problem(match.start(), match.end(), "M115", message, hint)
                continue
            new = pair[1] + left[len(pair[0]) :]
            yield Edit(
                match.start(),
                match.end(),
                new,
                self.name,
                f"names with {left.decode()} begin with {new.decode()} in ROCm",
            )
            yield from self._uses(unit, match, left, new)

    def _uses(self, unit: Unit, match: re.Match[bytes], left: bytes, new: bytes) -> Iterator[Outcome]:
        """Yield a problem for each use of the macro whose name has another counterpart, where the use can be read."""
        line = _directive_start(unit.code, match.start())
        head = re.match(rb"[ \t]*#[ \t]*define", unit.code[line:])
        pasted = _PARAMETER.match(unit.code, match.end())
        defined = _DEFINED.match(unit.code, line + head.end()) if head is not None else None
        if defined is None or pasted is None or pasted.group(2):
            return
        parameters = [each.strip() for each in defined.group(2).split(b",")]
        if pasted.group(1) not in parameters:
            return
        index = parameters.index(pasted.group(1))
        for use in re.finditer(rb"\b" + defined.group(1) + rb"\b", unit.code):
            places = call(unit.code, use.end())
            given = arguments(unit.code, *places) if places is not None and use.start() != defined.start(1) else []
            if index < len(given):
                yield from self._use(unit, left, new, given[index])

    def _use(self, unit: Unit, left: bytes, new: bytes, at: tuple[int, int]) -> Iterator[Outcome]:
        text = unit.code[at[0] : at[1]]
        row = unit.names.get((left + text).decode("latin-1"))
        if row is not None and row.target != (new + text).decode("latin-1"):
            what = row.target or "without a counterpart: " + row.reason
            message = f"the macro makes {(new + text).decode('latin-1')} of this, and {row.name} is {what} in ROCm"
            yield Problem(*at, "M115", message, "write this one without the macro")


def _directive_start(code: bytes, place: int) -> int:
    """Return the start of the line of a directive that may go over several lines; no more than 16 KiB back."""
    low = max(0, place - (16 << 10))
    start = code.rfind(b"\n", low, place) + 1
    while start >= max(2, low) and code[max(0, start - 3) : start].rstrip(b"\r\n")[-1:] == b"\\":
        start = code.rfind(b"\n", low, start - 1) + 1
    return start


@cache
def _is_prefix(left: str, rocm: str) -> bool:
    """Say whether names of CUDA begin so."""
    return any(name.startswith(left) for name in identifiers(rocm))


RULES = (Pasting(),)

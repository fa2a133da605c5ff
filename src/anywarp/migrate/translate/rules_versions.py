"""Questions about CUDA's version are answered by the version whose functions HIP's are like, from a support header.

HIP's own version counts differently, so it cannot take the place of CUDA's in a comparison.
"""

from __future__ import annotations

from collections.abc import Iterator

from anywarp.migrate.translate.edits import Edit, Need, Outcome
from anywarp.migrate.translate.unit import Unit

_LIBRARIES = ("CUBLAS", "CUSPARSE", "CUFFT", "CURAND", "CUSOLVER")
_PARTS = ("VERSION", "VER_MAJOR", "VER_MINOR", "VER_PATCH")
VERSIONS = {
    b"CUDA_VERSION": b"ANYWARP_CUDA_VERSION",
    b"CUDART_VERSION": b"ANYWARP_CUDA_VERSION",
    b"__CUDACC_VER_MAJOR__": b"ANYWARP_CUDA_MAJOR",
    b"__CUDACC_VER_MINOR__": b"ANYWARP_CUDA_MINOR",
    b"__CUDACC_VER_BUILD__": b"ANYWARP_CUDA_BUILD",
    **{f"{a}_{b}".encode(): f"ANYWARP_{a}_{b}".encode() for a in _LIBRARIES for b in _PARTS},
}
"""Macros of CUDA's that hold versions, and those of the support header."""
HEADER = b'"anywarp_version.h"'


class Versions:
    """Renames the macros and has their header included."""

    name = "versions"
    words = frozenset(VERSIONS)

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            return
        for match in unit.occurrences(self.words):
            reason = "the version of CUDA whose functions HIP's are like"
            yield Edit(match.start(), match.end(), VERSIONS[match.group()], self.name, reason)
        yield Need(HEADER, "it says for which version of CUDA the text was written")


RULES = (Versions(),)

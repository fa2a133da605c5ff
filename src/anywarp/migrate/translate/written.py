"""The names and headers of CUDA that no table gives a counterpart, and for which the translator writes something all the same.

Whoever judges a source asks here, so that what is translated is not called lost.
"""

from __future__ import annotations

from functools import cache

from anywarp.migrate.translate.rules_arch import ARCH, MACROS
from anywarp.migrate.translate.rules_cub import CONSTANTS
from anywarp.migrate.translate.rules_device import FUNCTIONS, GONE, Bfloat16Pairs
from anywarp.migrate.translate.rules_foreign import Collectives, StandardLibrary
from anywarp.migrate.translate.rules_versions import VERSIONS
from anywarp.migrate.translate.rules_warps import RENAMED, SHUFFLES


@cache
def written() -> frozenset[str]:
    """Return the names of functions, types and macros, and of headers as an include gives them."""
    names = (
        *RENAMED,
        *SHUFFLES,
        *SHUFFLES.values(),
        *FUNCTIONS,
        *GONE,
        *MACROS,
        *CONSTANTS,
        *VERSIONS,
        *Bfloat16Pairs.words,
        ARCH,
    )
    headers = (*Collectives.HEADERS, "mma.h", *(f"cuda/std/{name}" for name in StandardLibrary.HEADERS))
    return frozenset((*(name.decode() for name in names), *headers))

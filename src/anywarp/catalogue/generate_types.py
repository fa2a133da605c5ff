"""Write the enumerations of libcuda that our C++ speaks of by name: native/cuda/cuda_values.h.

`python -m anywarp.catalogue.generate_values` prints it (scripts/docs keeps it current, a test holds it to that). The values are those of the
cuda.h that is made from NVIDIA's documentation; the page is kept in the tree because PyTorch's stand-in is compiled from it on users' machines.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

HEADER = Path(__file__).resolve().parents[1] / "toolchain/include/13/cuda.h"

SPOKEN_OF: Mapping[str, str] = {
    "CUresult": "int",
    "CUctx_flags": "unsigned",
    "CUstream_flags": "unsigned",
    "CUevent_flags": "unsigned",
    "CUmemorytype": "int",
    "CUdevice_attribute": "int",
    "CUdevice_P2PAttribute": "int",
    "CUfunction_attribute": "int",
    "CUjit_option": "int",
    "CUjitInputType": "int",
    "CUlaunchAttributeID": "int",
    "CUarray_format": "int",
    "CUgraphNodeType": "int",
    "CUatomicOperation": "int",
}
"""The enumerations, as cuda.h names their types, and what holds a value: flags are joined, which wants an unsigned type."""

_ENUM = re.compile(r"^typedef enum\s*\w*\s*\{([^}]*)\} (\w+);", re.M)
_VALUE = re.compile(r"(\w+) = (-?\w+)")
_HEAD = """// Made by anywarp/catalogue/generate_values.py; change what it reads instead.
#pragma once
"""


def enumerations(header: str) -> dict[str, list[tuple[str, int]]]:
    """Return the enumerators of each enumeration of a cuda.h, in its order."""
    return {
        name: [(word, int(value, 0)) for word, value in _VALUE.findall(body)] for body, name in _ENUM.findall(header)
    }


def text(header: str) -> str:
    """Return the C++ header; KeyError for an enumeration that `header` does not have."""
    known = enumerations(header)
    parts = [_HEAD]
    for name, holder in SPOKEN_OF.items():
        values = "".join(f"  {word} = {value},\n" for word, value in known[name])
        parts.append(f"enum {name} : {holder} {{\n{values}}};\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(text(HEADER.read_text(encoding="utf-8")))

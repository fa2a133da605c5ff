"""Write the types of libcuda's interface for our C++: native/cuda/cuda_types.h.

`python -m anywarp.catalogue.generate_types` prints it (scripts/docs keeps it current, a test holds it to that). Structures, handles, callbacks,
enumerations and constants are those of the cuda.h that is made from NVIDIA's documentation, without its functions, which we define. The page is
kept in the tree because PyTorch's stand-in is compiled from it on users' machines.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEADER = Path(__file__).resolve().parents[1] / "toolchain/include/13/cuda.h"

OF_PROGRAMS = frozenset({"CUDAAPI", "CUDA_CB", "CUDA_VERSION"})
"""Macros that say to the headers of other libraries that CUDA's own came before them."""

_CONSTANT = re.compile(r"^#define (\w+) (.+)$", re.M)
_TYPES = re.compile(r"(?<=^extern \"C\" \{\n#endif\n)(.*?)(?=^CUresult cu\w+\()", re.M | re.S)
_ENUM = re.compile(r"^typedef enum\s*\w*\s*\{([^}]*)\} (\w+);", re.M)
_VALUE = re.compile(r"(\w+) = (-?\w+)")
_HEAD = """// clang-format off
// Made by anywarp/catalogue/generate_types.py; change what it reads instead.
#pragma once

#include <stddef.h>
#include <stdint.h>

"""


def enumerations(header: str) -> dict[str, list[tuple[str, int]]]:
    """Return the enumerators of each enumeration of a cuda.h, in its order."""
    return {
        name: [(word, int(value, 0)) for word, value in _VALUE.findall(body)] for body, name in _ENUM.findall(header)
    }


def constants(header: str) -> list[tuple[str, str]]:
    """Return the macros of a cuda.h that stand for values, before the first type: name and text."""
    before = header.partition('extern "C"')[0]
    return [(name, text) for name, text in _CONSTANT.findall(before) if name not in OF_PROGRAMS]


def text(header: str) -> str:
    """Return the C++ header; ValueError for a cuda.h without types.

    What holds a value of an enumeration is said, so that a program may pass any number: flags, which are joined, are unsigned.
    """
    types = _TYPES.search(header)
    if not types:
        raise ValueError("a cuda.h without types before its functions")
    macros = "".join(f"#define {name} {value}\n" for name, value in constants(header))
    return f"{_HEAD}{macros}{_ENUM.sub(_held, types.group(1))}"


def _held(found: re.Match[str]) -> str:
    body, name = found.groups()
    joined = name.lower().endswith("flags") and "= -" not in body
    return f"enum {name} : {'unsigned' if joined else 'int'} {{{body}}};"


if __name__ == "__main__":
    sys.stdout.write(text(HEADER.read_text(encoding="utf-8")))

"""LLVM's assembly to bitcode, for a library that other compilers link."""

from __future__ import annotations

import llvmlite.binding as llvm


def assemble(text: str) -> bytes:
    """Return the bitcode of a module, checked. ValueError, in LLVM's words, for what is none."""
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    return module.as_bitcode()

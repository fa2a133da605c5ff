"""LLVM's assembly to bitcode, for a library that other compilers link."""

from __future__ import annotations

from typing import Any

import llvmlite.binding

llvm: Any = llvmlite.binding  # it has no types

_INTRINSIC, _HELD = "llvm.", "held.llvm."


def assemble(text: str) -> bytes:
    """Return the bitcode of a module, checked. ValueError, in LLVM's words, for what is none.

    Intrinsics are written without attributes: every reader gives them its own, and older ones do not know the newest.
    """
    try:
        module = llvm.parse_assembly(text.replace(f"@{_INTRINSIC}", f"@{_HELD}"))
        for function in module.functions:
            if function.name.startswith(_HELD):
                function.name = _INTRINSIC + function.name.removeprefix(_HELD)
        content = module.as_bitcode()
        llvm.parse_bitcode(content).verify()
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    return content

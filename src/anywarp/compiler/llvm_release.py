"""Which releases of LLVM we write code for."""

from __future__ import annotations

from typing import Any

import llvmlite
import llvmlite.binding

from anywarp.compiler import codes

llvm: Any = llvmlite.binding  # it has no types

OLDEST = 22
"""Our text uses what LLVM 22 brought (the alignment of masked accesses is an attribute of their pointer). llvmlite has it since 0.48."""


def require() -> None:
    """Raise an AnywarpError (C018) where llvmlite's LLVM is older than what we write for."""
    have = ".".join(map(str, llvm.llvm_version_info))
    if llvm.llvm_version_info[0] < OLDEST:
        package: Any = llvmlite
        raise codes.problem(
            codes.OLD_LLVM,
            f"llvmlite {package.__version__} brings LLVM {have}; kernels are compiled by LLVM {OLDEST} or newer",
            help='python -m pip install --upgrade "llvmlite>=0.48"',
        )

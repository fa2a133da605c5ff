"""Subnormal numbers of half precision, which --ftz=true leaves alone: it speaks of f32.

NVIDIA's cuda_fp16.h writes `fma.rn.f16x2` whatever the options say; LLVM writes `.ftz` into every form that has one. What stands in a
program's own assembly stays. The conversion `cvt.ftz.f32.f16` has nothing to flush: each f16 is zero or a normal f32.
"""

from __future__ import annotations

import re

_FLUSHED = re.compile(
    r"// begin inline asm.*?// end inline asm|\.ftz(?=\.f16)|(?<=\bcvt)\.ftz(?=\.f32\.f16\b)", re.DOTALL
)


def kept(ptx: str) -> str:
    """Return the module with f16 operations of the compiler's making that compute with subnormal numbers."""
    return _FLUSHED.sub(lambda match: match[0] if match[0].startswith("//") else "", ptx)

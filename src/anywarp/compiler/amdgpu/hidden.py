"""What a launch tells a kernel beside its parameters: the structure `AwHipHidden`.

It lies behind CUDA's parameter buffer, at the next multiple of 16.
"""

from __future__ import annotations

from anywarp.compiler.abi import HIDDEN

AwHipHidden = HIDDEN.ctype
"""One per launch; kernels only read it."""
ALIGN = 16
SIZE = HIDDEN.size


def hidden_start(param_bytes: int) -> int:
    """Return where the structure lies behind a parameter buffer of that many bytes."""
    return -(-param_bytes // ALIGN) * ALIGN


def argument_bytes(param_bytes: int) -> int:
    """Return the size of the whole argument buffer."""
    return hidden_start(param_bytes) + SIZE


def hidden_offset(param_bytes: int, field: str) -> int:
    """Return the offset of a field in the argument buffer; "grid.y" is one of three words."""
    return hidden_start(param_bytes) + HIDDEN.offset(field)

"""What a launch tells a kernel beside its parameters: the structure of native/core/hip_abi.h, byte for byte.

It lies behind CUDA's parameter buffer, at the next multiple of 16.
"""

from __future__ import annotations

import ctypes


class AwHipHidden(ctypes.Structure):
    """One per launch; kernels only read it."""

    _fields_ = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("dynamic_shared", ctypes.c_uint32),
        ("shared_total", ctypes.c_uint32),
        ("module_data", ctypes.c_uint64),
        ("services", ctypes.c_uint64),
        ("grid_id", ctypes.c_uint64),
        ("grid_workspace", ctypes.c_uint64),
        ("first_block", ctypes.c_uint32 * 3),
        ("module_data_bytes", ctypes.c_uint32),
    ]


ALIGN = 16
SIZE = ctypes.sizeof(AwHipHidden)
_AXES = {"x": 0, "y": 4, "z": 8}


def hidden_start(param_bytes: int) -> int:
    """Return where the structure lies behind a parameter buffer of that many bytes."""
    return -(-param_bytes // ALIGN) * ALIGN


def argument_bytes(param_bytes: int) -> int:
    """Return the size of the whole argument buffer."""
    return hidden_start(param_bytes) + SIZE


def hidden_offset(param_bytes: int, field: str) -> int:
    """Return the offset of a field in the argument buffer; "grid.y" is one of three words."""
    name, _, axis = field.partition(".")
    return hidden_start(param_bytes) + getattr(AwHipHidden, name).offset + _AXES.get(axis, 0)

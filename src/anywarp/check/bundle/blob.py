"""One tensor as a safetensors file (format 0.x: 8 bytes of length, a JSON header, the values, little-endian).

The package safetensors is not asked: it need not be in the environment of the program that is recorded. Tests hold this against it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from anywarp.check.bundle import limits
from anywarp.check.bundle.documents import parse
from anywarp.check.bundle.problems import damaged, excessive

NAME = "value"

SIZES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1, "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint64": 8, "uint32": 4, "uint16": 2, "uint8": 1, "bool": 1,
    "complex64": 8, "complex128": 16,
}  # fmt: skip
"""Bytes per value of each dtype that an entry can name."""

_THEIRS = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
    "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
"""What safetensors calls them; the others are stored as bytes, with the size of a value as one more dimension."""


def _described(dtype: str, shape: Sequence[int]) -> tuple[str, list[int]]:
    return (_THEIRS[dtype], list(shape)) if dtype in _THEIRS else ("U8", [*shape, SIZES[dtype]])


def size_of(dtype: str, shape: Sequence[int]) -> int:
    """Return the bytes of a tensor's values."""
    count = SIZES[dtype]
    for extent in shape:
        count *= extent
    return count


def head(dtype: str, shape: Sequence[int]) -> bytes:
    """Return what comes before the values in the file of a tensor."""
    theirs, extents = _described(dtype, shape)
    header = {NAME: {"dtype": theirs, "shape": extents, "data_offsets": [0, size_of(dtype, shape)]}}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # values at a multiple of 8, as safetensors has it
    return len(text).to_bytes(8, "little") + text


def values(content: bytes, dtype: str, shape: Sequence[int], where: str) -> memoryview:
    """Return the bytes of the values in a file that must hold this very tensor; AnywarpError: V002, V003."""
    length = int.from_bytes(content[:8], "little")
    if length > limits.HEADER_BYTES:
        raise excessive(where, f"it claims a header of {length:,} bytes")
    if len(content) < 8 + length:
        raise damaged(where, "it is cut off")
    header = parse(content[8 : 8 + length], where)
    theirs, extents = _described(dtype, shape)
    expected = {"dtype": theirs, "shape": extents, "data_offsets": [0, size_of(dtype, shape)]}
    if header.get(NAME) != expected or set(header) - {NAME, "__metadata__"}:
        raise damaged(where, "it holds another tensor than its entry says")
    if len(content) != 8 + length + size_of(dtype, shape):
        raise damaged(where, "its length is not that of its tensor")
    return memoryview(content)[8 + length :]

"""A recording's values as arrays that hold them exactly: 16- and 8-bit floats widened to float32."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anywarp.check.bundle import Entry
from anywarp.numerics import formats

Array = NDArray[Any]


class Readable(Protocol):
    """What gives an entry's bytes."""

    def read(self, entry: Entry) -> memoryview:
        """Return them, little-endian, contiguous."""
        ...


def array(bundle: Readable, entry: Entry) -> Array:
    """Return an entry's values; AnywarpError (V002, V003) where the recording is damaged."""
    content = bundle.read(entry)
    return np.reshape(flat(content, entry.dtype), entry.shape)


def flat(content: memoryview, dtype: str) -> Array:
    """Return the values in the bytes of a dtype, in one dimension."""
    if dtype == "bfloat16":
        bits: Array = np.frombuffer(content, np.uint16).astype(np.uint32) << 16
        return np.frombuffer(bits.tobytes(), np.float32)
    if dtype == "float8_e8m0fnu":
        raw = np.frombuffer(content, np.uint8).astype(np.float64)
        return np.where(raw == 255, np.nan, np.exp2(raw - 127))
    if dtype.startswith("float8"):
        return formats.codes(dtype)[np.frombuffer(content, np.uint8)]
    found: Array = np.frombuffer(content, np.dtype(dtype))
    return found.astype(np.float32) if dtype == "float16" else found

"""A recording's values as arrays that hold them exactly: 16- and 8-bit floats widened to float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.bundle import Bundle, Entry
from anywarp.numerics import formats

Array = NDArray[Any]


def array(bundle: Bundle, entry: Entry) -> Array:
    """Return an entry's values; AnywarpError (V002, V003) where the recording is damaged."""
    content = bundle.read(entry)
    if entry.dtype == "bfloat16":
        bits = np.frombuffer(content, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(entry.shape)
    if entry.dtype == "float8_e8m0fnu":
        raw = np.frombuffer(content, np.uint8).astype(np.float64)
        return np.where(raw == 255, np.nan, np.exp2(raw - 127)).reshape(entry.shape)
    if entry.dtype.startswith("float8"):
        return formats.codes(entry.dtype)[np.frombuffer(content, np.uint8)].reshape(entry.shape)
    found = np.frombuffer(content, np.dtype(entry.dtype)).reshape(entry.shape)
    return found.astype(np.float32) if entry.dtype == "float16" else found

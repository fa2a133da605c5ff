"""Names of torch._C about graphs."""

# pyright: basic
from __future__ import annotations

import ctypes
from typing import Any


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    return {}
